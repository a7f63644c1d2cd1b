// SPDX-License-Identifier: GPL-2.0
#include "connections.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "../netlink.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// TCP_ESTABLISHED; netinet/tcp.h and linux/tcp.h do not go together.
constexpr unsigned kEstablished = 1;

std::string end_text(unsigned family, const __be32 *address, __be16 port)
{
	constexpr char kMapped[] = "::ffff:";
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, address, text, sizeof(text));
	std::string host = text;
	// IPv4, on a socket of IPv6.
	if (host.starts_with(kMapped) && host.find('.') != host.npos)
		host.erase(0, std::strlen(kMapped));
	else if (family == AF_INET6)
		host = "[" + host + "]";
	return host + ":" + std::to_string(ntohs(port));
}

void add_info(Json &json, const nlattr *attribute)
{
	tcp_info info = {};

	// Older kernels tell less of it.
	std::memcpy(&info, mnl_attr_get_payload(attribute),
		    std::min<std::size_t>(sizeof(info), mnl_attr_get_payload_len(attribute)));
	json["rtt_us"] = info.tcpi_rtt;
	// ~0: none was measured
	json["min_rtt_us"] = info.tcpi_min_rtt == ~0U ? Json() : Json(info.tcpi_min_rtt);
	json["cwnd_segs"] = info.tcpi_snd_cwnd;
	json["retransmits"] = info.tcpi_total_retrans;
	json["bytes_acked"] = std::uint64_t(info.tcpi_bytes_acked);
	json["bytes_received"] = std::uint64_t(info.tcpi_bytes_received);
	// ~0: not paced
	json["pacing_bps"] = info.tcpi_pacing_rate == ~0ULL ? Json() : Json(8 * info.tcpi_pacing_rate);
	json["delivery_bps"] = 8 * info.tcpi_delivery_rate;
}

Json read_connection(const nlmsghdr *message)
{
	auto *diag = static_cast<const inet_diag_msg *>(mnl_nlmsg_get_payload(message));
	Json json = {{"local", end_text(diag->idiag_family, diag->id.idiag_src, diag->id.idiag_sport)},
		     {"remote", end_text(diag->idiag_family, diag->id.idiag_dst, diag->id.idiag_dport)},
		     {"congctl", ""}};

	for (const nlattr *attribute : attributes(message, sizeof(*diag))) {
		if (mnl_attr_get_type(attribute) == INET_DIAG_CONG)
			json["congctl"] = mnl_attr_get_str(attribute);
		if (mnl_attr_get_type(attribute) == INET_DIAG_INFO)
			add_info(json, attribute);
	}
	return json;
}

// It goes nowhere.
bool is_own(const Json &connection)
{
	std::string remote = connection.at("remote").get<std::string>();

	return remote.starts_with("127.") || remote.starts_with("[::1]");
}

void add_family(Netlink &netlink, unsigned char family, std::vector<Json> &found)
{
	std::vector<char> room(MNL_SOCKET_BUFFER_SIZE);
	nlmsghdr *message = mnl_nlmsg_put_header(room.data());

	message->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	auto *ask = static_cast<inet_diag_req_v2 *>(mnl_nlmsg_put_extra_header(message, sizeof(inet_diag_req_v2)));
	ask->sdiag_family = family;
	ask->sdiag_protocol = IPPROTO_TCP;
	ask->idiag_states = 1 << kEstablished;
	ask->idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
	netlink.talk(message, [&](const nlmsghdr *answer) {
		Json connection = read_connection(answer);

		if (!is_own(connection))
			found.push_back(std::move(connection));
	});
}

std::vector<std::string> words_of(const std::string &line)
{
	std::istringstream words(line);

	return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

std::vector<Json> tcp_connections()
{
	Netlink netlink(NETLINK_SOCK_DIAG);
	std::vector<Json> found;

	add_family(netlink, AF_INET, found);
	add_family(netlink, AF_INET6, found);
	return found;
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

std::uint64_t tcp_counter(const std::string &text, const std::string &group, const std::string &name)
{
	std::istringstream lines(text);
	std::vector<std::string> names;

	for (std::string line; std::getline(lines, line);) {
		if (!line.starts_with(group + ": "))
			continue;
		std::vector<std::string> words = words_of(line);
		if (names.empty()) {
			names = words;
			continue;
		}
		auto found = std::find(names.begin(), names.end(), name);
		std::size_t at = static_cast<std::size_t>(found - names.begin());
		return at < words.size() ? std::strtoull(words[at].c_str(), nullptr, 10) : 0;
	}
	return 0;
}

}  // namespace turnpike
