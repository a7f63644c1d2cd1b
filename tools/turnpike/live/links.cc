// SPDX-License-Identifier: GPL-2.0
#include "links.h"

#include <algorithm>
#include <cstring>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "../netlink.h"

namespace turnpike {
namespace {

void read_stats(const nlattr *attribute, Link &link)
{
	auto stats = struct_of<rtnl_link_stats64>(attribute);

	link.sent_bytes = stats.tx_bytes;
	link.received_bytes = stats.rx_bytes;
}

Link read_link(const nlmsghdr *message, const ifinfomsg &info)
{
	Link link;

	link.index = static_cast<unsigned>(info.ifi_index);
	link.loopback = info.ifi_flags & IFF_LOOPBACK;
	for (const nlattr *attribute : attributes(message, sizeof(info))) {
		if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
			link.name = mnl_attr_get_str(attribute);
		if (mnl_attr_get_type(attribute) == IFLA_STATS64)
			read_stats(attribute, link);
	}
	return link;
}

}  // namespace

std::vector<Link> links()
{
	std::vector<Link> found;

	Netlink(NETLINK_ROUTE).dump(RTM_GETLINK, ifinfomsg{}, [&](const nlmsghdr *answer) {
		auto *info = static_cast<const ifinfomsg *>(mnl_nlmsg_get_payload(answer));

		if (answer->nlmsg_type == RTM_NEWLINK && info->ifi_flags & IFF_UP)
			found.push_back(read_link(answer, *info));
	});
	return found;
}

}  // namespace turnpike
