// SPDX-License-Identifier: GPL-2.0
//
// Netlink that is not generic: routes, queueing disciplines, sockets. genl.h has the modules' own.
#ifndef TURNPIKE_TOOLS_NETLINK_H
#define TURNPIKE_TOOLS_NETLINK_H

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <libmnl/libmnl.h>

namespace turnpike {

// A socket, and one request after the other. All throw Error with the kernel's reason.
class Netlink {
public:
	using Each = std::function<void(const nlmsghdr *)>;

	// protocol: NETLINK_ROUTE, NETLINK_SOCK_DIAG
	explicit Netlink(int protocol);

	// Sends a message, and passes its answers on until the last.
	void talk(nlmsghdr *message, const Each &each);

	// Asks for all of a type; header: what the message begins with.
	template <typename Header> void dump(unsigned short type, const Header &header, const Each &each)
	{
		dump(type, &header, sizeof(header), each);
	}

private:
	void dump(unsigned short type, const void *header, std::size_t bytes, const Each &each);

	std::unique_ptr<mnl_socket, int (*)(mnl_socket *)> socket_;
	unsigned sequence_ = 0;
};

// Attributes behind a message's own header of so many bytes, and within a nest; valid while the message is. libmnl's
// macros for this are C.
std::vector<const nlattr *> attributes(const nlmsghdr *message, std::size_t header_bytes);
std::vector<const nlattr *> nested(const nlattr *nest);

// And in a nest's payload that was kept.
std::vector<const nlattr *> attributes(const std::string &payload);

// An attribute that is a struct; zeroes where an older kernel tells less of it.
template <typename Struct> Struct struct_of(const nlattr *attribute)
{
	Struct value = {};

	std::memcpy(&value, mnl_attr_get_payload(attribute),
		    std::min<std::size_t>(sizeof(value), mnl_attr_get_payload_len(attribute)));
	return value;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_NETLINK_H
