// SPDX-License-Identifier: GPL-2.0
#include "qdiscs.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "../command.h"
#include "../netlink.h"
#include "../onramp_flows.h"
#include "include/uapi/turnpike.h"

namespace turnpike {
namespace {

std::string bytes_of(const nlattr *attribute)
{
	return std::string(static_cast<const char *>(mnl_attr_get_payload(attribute)),
			   mnl_attr_get_payload_len(attribute));
}

void read_stats(const nlattr *nest, Qdisc &qdisc)
{
	for (const nlattr *attribute : nested(nest)) {
		switch (mnl_attr_get_type(attribute)) {
		case TCA_STATS_APP:
			qdisc.app = bytes_of(attribute);
			break;
		case TCA_STATS_BASIC:
			qdisc.packets = struct_of<gnet_stats_basic>(attribute).packets;
			break;
		case TCA_STATS_QUEUE:
			qdisc.drops = struct_of<gnet_stats_queue>(attribute).drops;
			break;
		}
	}
}

Qdisc read_qdisc(const nlmsghdr *message)
{
	auto *tcm = static_cast<const tcmsg *>(mnl_nlmsg_get_payload(message));
	char name[IF_NAMESIZE] = "";
	Qdisc qdisc;

	qdisc.handle = tcm->tcm_handle;
	qdisc.parent = tcm->tcm_parent;
	qdisc.device = if_indextoname(static_cast<unsigned>(tcm->tcm_ifindex), name) ? name : "";
	for (const nlattr *attribute : attributes(message, sizeof(*tcm))) {
		switch (mnl_attr_get_type(attribute)) {
		case TCA_KIND:
			qdisc.kind = mnl_attr_get_str(attribute);
			break;
		case TCA_OPTIONS:
			qdisc.options = bytes_of(attribute);
			break;
		case TCA_STAB:
			qdisc.stab = true;
			break;
		case TCA_STATS2:
			read_stats(attribute, qdisc);
			break;
		}
	}
	return qdisc;
}

}  // namespace

std::vector<Qdisc> qdiscs()
{
	std::vector<Qdisc> found;

	Netlink(NETLINK_ROUTE).dump(RTM_GETQDISC, tcmsg{}, [&](const nlmsghdr *answer) {
		if (answer->nlmsg_type == RTM_NEWQDISC)
			found.push_back(read_qdisc(answer));
	});
	// A device that went meanwhile has no name.
	std::erase_if(found, [](const Qdisc &qdisc) { return qdisc.device.empty(); });
	return found;
}

OnrampOptions onramp_options(const Qdisc &onramp)
{
	OnrampOptions options;

	for (const nlattr *attribute : attributes(onramp.options)) {
		switch (mnl_attr_get_type(attribute)) {
		case TCA_ONRAMP_THRESHOLD:
			options.threshold_ns = struct_of<std::uint32_t>(attribute);
			break;
		case TCA_ONRAMP_PAUSE_MAX:
			options.pause_max_us = struct_of<std::uint32_t>(attribute);
			break;
		case TCA_ONRAMP_LINE_RATE:
			options.line_rate_bps = 8 * struct_of<std::uint64_t>(attribute);
			break;
		}
	}
	return options;
}

std::vector<std::string> filters_of(const Qdisc &qdisc)
{
	std::set<std::string> found;
	tcmsg ask = {};

	if (!qdisc.handle && qdisc.parent != TC_H_ROOT)
		return {};
	ask.tcm_ifindex = static_cast<int>(if_nametoindex(qdisc.device.c_str()));
	// 0 is the root's, which may have no number.
	ask.tcm_parent = qdisc.handle;
	Netlink(NETLINK_ROUTE).dump(RTM_GETTFILTER, ask, [&](const nlmsghdr *answer) {
		auto *tcm = static_cast<const tcmsg *>(mnl_nlmsg_get_payload(answer));

		// Tables of u32 are filters of their own for the kernel.
		for (const nlattr *attribute : attributes(answer, sizeof(*tcm)))
			if (mnl_attr_get_type(attribute) == TCA_KIND)
				found.insert("pref " + std::to_string(TC_H_MAJ(tcm->tcm_info) >> 16) + " " +
					     mnl_attr_get_str(attribute));
	});
	return {found.begin(), found.end()};
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
	Netlink(NETLINK_ROUTE).talk(message, [](const nlmsghdr *) {});
}

std::vector<std::string> place_words(std::uint32_t parent)
{
	if (parent == TC_H_ROOT)
		return {"root"};
	return {"parent", onramp_handle_text(parent)};
}

}  // namespace turnpike
