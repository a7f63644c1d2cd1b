// SPDX-License-Identifier: GPL-2.0
#include "sockets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "../command.h"

namespace turnpike {
namespace {

constexpr std::size_t kAnswerBytes = 65536;
// TCP_ESTABLISHED; netinet/tcp.h and linux/tcp.h do not go together.
constexpr unsigned kEstablished = 1;

std::string address(unsigned char family, const __be32 *words)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, words, text, sizeof(text));
	return text;
}

void read_info(const nlattr *attribute, Socket &socket)
{
	struct tcp_info info = {};

	// Older kernels tell less of it.
	std::memcpy(&info, mnl_attr_get_payload(attribute),
		    std::min<std::size_t>(sizeof(info), mnl_attr_get_payload_len(attribute)));
	socket.rtt_us = info.tcpi_rtt;
	socket.min_rtt_us = info.tcpi_min_rtt;
	socket.pacing_bytes_s = info.tcpi_pacing_rate;
	socket.sent_bytes = info.tcpi_bytes_sent;
	socket.retransmits = info.tcpi_total_retrans;
	socket.has_ecn = info.tcpi_options & TCPI_OPT_ECN;
}

int read_socket(const nlmsghdr *message, void *into)
{
	auto *found = static_cast<std::vector<Socket> *>(into);
	auto *diag = static_cast<const inet_diag_msg *>(mnl_nlmsg_get_payload(message));
	auto *at = static_cast<const nlattr *>(mnl_nlmsg_get_payload_offset(message, sizeof(*diag)));
	auto *end = static_cast<const char *>(mnl_nlmsg_get_payload_tail(message));
	Socket socket;

	socket.local = address(diag->idiag_family, diag->id.idiag_src);
	socket.remote = address(diag->idiag_family, diag->id.idiag_dst);
	socket.local_port = ntohs(diag->id.idiag_sport);
	socket.remote_port = ntohs(diag->id.idiag_dport);
	for (; mnl_attr_ok(at, static_cast<int>(end - reinterpret_cast<const char *>(at))); at = mnl_attr_next(at)) {
		if (mnl_attr_get_type(at) == INET_DIAG_CONG)
			socket.congctl = mnl_attr_get_str(at);
		if (mnl_attr_get_type(at) == INET_DIAG_INFO)
			read_info(at, socket);
	}
	found->push_back(socket);
	return MNL_CB_OK;
}

void add_family(mnl_socket *netlink, unsigned char family, std::vector<Socket> &found)
{
	std::vector<char> room(kAnswerBytes);
	nlmsghdr *message = mnl_nlmsg_put_header(room.data());
	int status = MNL_CB_OK;

	message->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = family;
	auto *ask = static_cast<inet_diag_req_v2 *>(mnl_nlmsg_put_extra_header(message, sizeof(inet_diag_req_v2)));
	ask->sdiag_family = family;
	ask->sdiag_protocol = IPPROTO_TCP;
	ask->idiag_states = 1 << kEstablished;
	ask->idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
	if (mnl_socket_sendto(netlink, message, message->nlmsg_len) < 0)
		throw Error(std::string("cannot list connections: ") + std::strerror(errno));
	while (status == MNL_CB_OK) {
		ssize_t got = mnl_socket_recvfrom(netlink, room.data(), room.size());

		if (got >= 0)
			status = mnl_cb_run(room.data(), static_cast<size_t>(got), family,
					    mnl_socket_get_portid(netlink), read_socket, &found);
		if (got < 0 || status < 0)
			throw Error(std::string("cannot list connections: ") + std::strerror(errno));
	}
}

}  // namespace

std::vector<Socket> tcp_sockets()
{
	std::unique_ptr<mnl_socket, int (*)(mnl_socket *)> netlink(mnl_socket_open(NETLINK_SOCK_DIAG), mnl_socket_close);
	std::vector<Socket> found;

	if (!netlink || mnl_socket_bind(netlink.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		throw Error(std::string("netlink: ") + std::strerror(errno));
	add_family(netlink.get(), AF_INET, found);
	add_family(netlink.get(), AF_INET6, found);
	return found;
}

}  // namespace turnpike
