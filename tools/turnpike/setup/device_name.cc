// SPDX-License-Identifier: GPL-2.0
#include "device_name.h"

#include <vector>

#include <linux/rtnetlink.h>

#include "../command.h"
#include "../netlink.h"

namespace turnpike {

std::string device_name(const std::string &name)
{
	std::vector<char> room(MNL_SOCKET_BUFFER_SIZE);
	nlmsghdr *message = mnl_nlmsg_put_header(room.data());
	std::string found = name;

	// The kernel takes none that is longer (ALTIFNAMSIZ).
	if (name.empty() || name.size() >= 128)
		return name;
	message->nlmsg_type = RTM_GETLINK;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	mnl_nlmsg_put_extra_header(message, sizeof(ifinfomsg));
	mnl_attr_put_strz(message, IFLA_ALT_IFNAME, name.c_str());
	try {
		Netlink(NETLINK_ROUTE).talk(message, [&](const nlmsghdr *answer) {
			for (const nlattr *attribute : attributes(answer, sizeof(ifinfomsg)))
				if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
					found = mnl_attr_get_str(attribute);
		});
	} catch (const Error &) {
		// No device.
	}
	return found;
}

}  // namespace turnpike
