// SPDX-License-Identifier: GPL-2.0
#include "connections.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <netinet/in.h>

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

bool goes_nowhere(const Socket &socket)
{
	in6_addr remote;

	std::memcpy(&remote, socket.ends.remote.data(), sizeof(remote));
	return IN6_IS_ADDR_LOOPBACK(&remote) || (IN6_IS_ADDR_V4MAPPED(&remote) && remote.s6_addr[12] == 127);
}

// What the kernel tells in microseconds.
std::uint64_t ns_of(std::uint32_t us)
{
	return 1000 * static_cast<std::uint64_t>(us);
}

}  // namespace

Json connection_json(const Socket &socket)
{
	Json json = {{"local", end_text(socket.ends.local, socket.ends.local_port)},
		     {"remote", end_text(socket.ends.remote, socket.ends.remote_port)},
		     {"congctl", socket.congctl}, {"rtt_ns", ns_of(socket.rtt_us)}, {"min_rtt_ns", nullptr},
		     {"cwnd_segs", socket.cwnd_segs}, {"retransmits", socket.retransmits},
		     {"bytes_acked", socket.bytes_acked}, {"bytes_received", socket.bytes_received},
		     {"pacing_bps", nullptr}, {"delivery_bps", 8 * socket.delivery_bytes}};

	if (socket.min_rtt_us)
		json["min_rtt_ns"] = ns_of(*socket.min_rtt_us);
	if (socket.pacing_bytes)
		json["pacing_bps"] = 8 * *socket.pacing_bytes;
	return json;
}

std::vector<Json> connections_json(const std::vector<Socket> &sockets)
{
	std::vector<Json> list;

	for (const Socket &socket : sockets)
		if (!goes_nowhere(socket))
			list.push_back(connection_json(socket));
	return list;
}

Kept keep_largest(std::vector<Json> list, const char *by, std::size_t most)
{
	Kept kept;

	if (list.size() > most) {
		auto larger = [by](const Json &a, const Json &b) {
			return a.value(by, std::uint64_t(0)) > b.value(by, std::uint64_t(0));
		};
		kept.left_out = list.size() - most;
		std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(most), list.end(), larger);
		list.resize(most);
	}
	for (Json &one : list)
		kept.list.push_back(std::move(one));
	return kept;
}

}  // namespace turnpike
