// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <unistd.h>

#include <array>
#include <sstream>

namespace vload
{

namespace
{

struct Shown {
	const char *kernel_name;
	const char *name;
};

constexpr Shown shown[] = {
	{"OutSegs", "segments_out"},	       {"RetransSegs", "segments_retransmitted"},
	{"TCPTimeouts", "timeouts"},	       {"TCPSpuriousRTOs", "spurious_timeouts"},
	{"TCPLossProbes", "loss_probes"},      {"TCPFastRetrans", "fast_retransmits"},
	{"TCPDSACKRecv", "dsacks"},
};

std::string read_file(int fd)
{
	std::array<char, 1 << 14> chunk;
	std::string text;
	ssize_t count;

	while ((count = read(fd, chunk.data(), chunk.size())) > 0)
		text.append(chunk.data(), static_cast<size_t>(count));
	return text;
}

} // namespace

std::map<std::string, uint64_t> counters_parse(std::istream &in)
{
	std::map<std::string, uint64_t> counters;
	std::string names_line, values_line;

	while (std::getline(in, names_line) && std::getline(in, values_line)) {
		std::istringstream names(names_line), values(values_line);
		std::string prefix, name, value;
		names >> prefix;
		values >> prefix;
		while (names >> name && values >> value)
			// A few are signed (MaxConn -1): none that we show.
			counters[name] = std::strtoull(value.c_str(), nullptr, 10);
	}
	return counters;
}

std::vector<HostCounters::Counters> HostCounters::read_all()
{
	std::vector<Counters> all(network_.host_count());

	for (HostIndex host = 0; host < all.size(); host++) {
		for (const char *path : {"/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"}) {
			int fd = network_.open_in_host(host, path);
			if (fd < 0)
				continue;
			std::istringstream text(read_file(fd));
			close(fd);
			all[host].merge(counters_parse(text));
		}
	}
	return all;
}

nlohmann::ordered_json HostCounters::result() const
{
	auto hosts = nlohmann::ordered_json::object();

	for (HostIndex host = 0; host < network_.host_count(); host++) {
		nlohmann::ordered_json json;
		for (const Shown &counter : shown) {
			auto first = first_[host].find(counter.kernel_name);
			auto last = last_[host].find(counter.kernel_name);
			if (first == first_[host].end() || last == last_[host].end())
				json[counter.name] = nullptr;
			else
				json[counter.name] = last->second - first->second;
		}
		hosts[network_.host_name(host)] = std::move(json);
	}
	return hosts;
}

} // namespace vload
