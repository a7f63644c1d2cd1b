// SPDX-License-Identifier: GPL-2.0
#include "sockets.h"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "../netlink.h"
#include "../onramp.h"

namespace turnpike {
namespace {

void read_info(const nlattr *attribute, Socket &socket)
{
	auto info = struct_of<tcp_info>(attribute);

	socket.rtt_us = info.tcpi_rtt;
	socket.retransmits = info.tcpi_total_retrans;
	socket.bytes_acked = info.tcpi_bytes_acked;
	socket.bytes_sent = info.tcpi_bytes_sent;
	socket.bytes_received = info.tcpi_bytes_received;
	if (info.tcpi_min_rtt != ~0U)
		socket.min_rtt_us = info.tcpi_min_rtt;
	socket.cwnd_segs = info.tcpi_snd_cwnd;
	if (info.tcpi_pacing_rate != ~0ULL)
		socket.pacing_bytes = info.tcpi_pacing_rate;
	socket.delivery_bytes = info.tcpi_delivery_rate;
}

void read_id(const inet_diag_msg &diag, Socket &socket)
{
	bool four = diag.idiag_family == AF_INET;

	socket.cookie = diag.id.idiag_cookie[0] | static_cast<std::uint64_t>(diag.id.idiag_cookie[1]) << 32;
	socket.ends.local = mapped_address(diag.id.idiag_src, four);
	socket.ends.remote = mapped_address(diag.id.idiag_dst, four);
	socket.ends.local_port = ntohs(diag.id.idiag_sport);
	socket.ends.remote_port = ntohs(diag.id.idiag_dport);
}

// timely has its rate in the fields of BBR.
void read_rate(const nlattr *attribute, Socket &socket)
{
	auto info = struct_of<tcp_bbr_info>(attribute);

	socket.rate_bytes = std::uint64_t(info.bbr_bw_hi) << 32 | info.bbr_bw_lo;
}

Socket read_socket(const nlmsghdr *message)
{
	auto *diag = static_cast<const inet_diag_msg *>(mnl_nlmsg_get_payload(message));
	Socket socket;

	socket.state = diag->idiag_state;
	read_id(*diag, socket);
	for (const nlattr *attribute : attributes(message, sizeof(*diag))) {
		if (mnl_attr_get_type(attribute) == INET_DIAG_CONG)
			socket.congctl = mnl_attr_get_str(attribute);
		if (mnl_attr_get_type(attribute) == INET_DIAG_INFO)
			read_info(attribute, socket);
		if (mnl_attr_get_type(attribute) == INET_DIAG_BBRINFO)
			read_rate(attribute, socket);
	}
	return socket;
}

void add_family(Netlink &netlink, unsigned char family, std::uint32_t states, std::vector<Socket> &found)
{
	inet_diag_req_v2 ask = {};

	ask.sdiag_family = family;
	ask.sdiag_protocol = IPPROTO_TCP;
	ask.idiag_states = states;
	ask.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) |
			// has no room for BBR's own, which comes with it
			1 << (INET_DIAG_VEGASINFO - 1);
	netlink.dump(SOCK_DIAG_BY_FAMILY, ask, [&](const nlmsghdr *answer) { found.push_back(read_socket(answer)); });
}

}  // namespace

std::array<std::uint8_t, 16> mapped_address(const void *address, bool four)
{
	std::array<std::uint8_t, 16> sixteen = {};

	if (four)
		sixteen[10] = sixteen[11] = 0xff;
	std::memcpy(sixteen.data() + (four ? 12 : 0), address, four ? 4 : 16);
	return sixteen;
}

std::string end_text(const std::array<std::uint8_t, 16> &address, std::optional<unsigned> port)
{
	std::string text = onramp_address_text(address.data());

	if (!port)
		return text;
	if (text.find(':') != std::string::npos)
		text = "[" + text + "]";
	return text + ":" + std::to_string(*port);
}

std::vector<Socket> tcp_sockets(std::uint32_t states)
{
	Netlink netlink(NETLINK_SOCK_DIAG);
	std::vector<Socket> found;

	add_family(netlink, AF_INET, states, found);
	add_family(netlink, AF_INET6, states, found);
	return found;
}

}  // namespace turnpike
