// SPDX-License-Identifier: GPL-2.0
#include "qdiscs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "../command.h"
#include "../onramp_flows.h"

namespace turnpike {
namespace {

using Each = std::function<void(const nlmsghdr *)>;

constexpr std::size_t kAnswerBytes = 65536;

int pass(const nlmsghdr *message, void *data)
{
	(*static_cast<const Each *>(data))(message);
	return MNL_CB_OK;
}

[[noreturn]] void fail(const std::string &what)
{
	throw Error(what + ": " + std::strerror(errno));
}

// Sends one message and hands out what answers it.
void exchange(nlmsghdr *message, const Each &each, const std::string &what)
{
	std::unique_ptr<mnl_socket, int (*)(mnl_socket *)> socket(mnl_socket_open(NETLINK_ROUTE), mnl_socket_close);
	std::vector<char> room(kAnswerBytes);
	int status = MNL_CB_OK;

	if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		fail("netlink");
	message->nlmsg_seq = 1;
	if (mnl_socket_sendto(socket.get(), message, message->nlmsg_len) < 0)
		fail(what);
	while (status == MNL_CB_OK) {
		ssize_t got = mnl_socket_recvfrom(socket.get(), room.data(), room.size());

		if (got < 0)
			fail(what);
		status = mnl_cb_run(room.data(), static_cast<size_t>(got), 1, mnl_socket_get_portid(socket.get()),
				    pass, const_cast<Each *>(&each));
		if (status < 0)
			fail(what);
	}
}

std::string bytes_of(const nlattr *attribute)
{
	return std::string(static_cast<const char *>(mnl_attr_get_payload(attribute)),
			   mnl_attr_get_payload_len(attribute));
}

template <typename Struct> Struct struct_of(const nlattr *attribute)
{
	Struct value = {};

	std::memcpy(&value, mnl_attr_get_payload(attribute),
		    std::min<std::size_t>(sizeof(value), mnl_attr_get_payload_len(attribute)));
	return value;
}

template <typename Function> void each_attribute(const nlattr *at, const char *end, Function function)
{
	while (mnl_attr_ok(at, static_cast<int>(end - reinterpret_cast<const char *>(at)))) {
		function(at);
		at = mnl_attr_next(at);
	}
}

void read_stats(const nlattr *nest, Qdisc &qdisc)
{
	auto *begin = static_cast<const nlattr *>(mnl_attr_get_payload(nest));
	auto *end = reinterpret_cast<const char *>(begin) + mnl_attr_get_payload_len(nest);

	each_attribute(begin, end, [&](const nlattr *attribute) {
		switch (mnl_attr_get_type(attribute)) {
		case TCA_STATS_APP:
			qdisc.app = bytes_of(attribute);
			break;
		case TCA_STATS_BASIC: {
			auto basic = struct_of<gnet_stats_basic>(attribute);
			qdisc.bytes = basic.bytes;
			qdisc.packets = basic.packets;
			break;
		}
		case TCA_STATS_QUEUE: {
			auto queue = struct_of<gnet_stats_queue>(attribute);
			qdisc.drops = queue.drops;
			qdisc.queued = queue.qlen;
			break;
		}
		}
	});
}

Qdisc read_qdisc(const nlmsghdr *message)
{
	auto *tcm = static_cast<const tcmsg *>(mnl_nlmsg_get_payload(message));
	auto *begin = static_cast<const nlattr *>(mnl_nlmsg_get_payload_offset(message, sizeof(*tcm)));
	char name[IF_NAMESIZE] = "";
	Qdisc qdisc;

	qdisc.ifindex = static_cast<unsigned>(tcm->tcm_ifindex);
	qdisc.handle = tcm->tcm_handle;
	qdisc.parent = tcm->tcm_parent;
	qdisc.device = if_indextoname(qdisc.ifindex, name) ? name : "";
	each_attribute(begin, static_cast<const char *>(mnl_nlmsg_get_payload_tail(message)),
		       [&](const nlattr *attribute) {
		switch (mnl_attr_get_type(attribute)) {
		case TCA_KIND:
			qdisc.kind = mnl_attr_get_str(attribute);
			break;
		case TCA_OPTIONS:
			qdisc.options = bytes_of(attribute);
			break;
		case TCA_STATS2:
			read_stats(attribute, qdisc);
			break;
		}
	});
	return qdisc;
}

}  // namespace

std::vector<Qdisc> qdiscs()
{
	std::vector<char> room(MNL_SOCKET_BUFFER_SIZE);
	std::vector<Qdisc> found;
	nlmsghdr *message = mnl_nlmsg_put_header(room.data());

	message->nlmsg_type = RTM_GETQDISC;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(message, sizeof(tcmsg));
	exchange(message, [&](const nlmsghdr *answer) {
		if (answer->nlmsg_type == RTM_NEWQDISC)
			found.push_back(read_qdisc(answer));
	}, "cannot list queueing disciplines");
	// A device that went meanwhile has no name.
	std::erase_if(found, [](const Qdisc &qdisc) { return qdisc.device.empty(); });
	return found;
}

void restore_qdisc(const Qdisc &qdisc)
{
	std::vector<char> room(MNL_SOCKET_BUFFER_SIZE + qdisc.options.size());
	nlmsghdr *message = mnl_nlmsg_put_header(room.data());

	message->nlmsg_type = RTM_NEWQDISC;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
	auto *tcm = static_cast<tcmsg *>(mnl_nlmsg_put_extra_header(message, sizeof(tcmsg)));
	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = static_cast<int>(if_nametoindex(qdisc.device.c_str()));
	tcm->tcm_handle = qdisc.handle;
	tcm->tcm_parent = qdisc.parent;
	if (!tcm->tcm_ifindex)
		throw Error("no device " + qdisc.device);
	mnl_attr_put_strz(message, TCA_KIND, qdisc.kind.c_str());
	if (!qdisc.options.empty())
		mnl_attr_put(message, TCA_OPTIONS, qdisc.options.size(), qdisc.options.data());
	exchange(message, [](const nlmsghdr *) {}, "cannot put " + qdisc.kind + " back on " + qdisc.device);
}

std::vector<std::string> place_words(std::uint32_t parent)
{
	if (parent == TC_H_ROOT)
		return {"root"};
	return {"parent", onramp_handle_text(parent)};
}

}  // namespace turnpike
