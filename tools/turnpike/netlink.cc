// SPDX-License-Identifier: GPL-2.0
#include "netlink.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "command.h"

namespace turnpike {
namespace {

// A dump's messages come in pages, which grow with the reader's room.
constexpr std::size_t kAnswerBytes = 65536;

[[noreturn]] void fail()
{
	throw Error(std::string("the kernel says: ") + std::strerror(errno));
}

int pass(const nlmsghdr *answer, void *each)
{
	(*static_cast<const Netlink::Each *>(each))(answer);
	return MNL_CB_OK;
}

std::vector<const nlattr *> between(const void *begin, const void *end)
{
	const char *at = static_cast<const char *>(begin);
	const char *stop = static_cast<const char *>(end);
	std::vector<const nlattr *> found;

	while (mnl_attr_ok(reinterpret_cast<const nlattr *>(at), static_cast<int>(stop - at))) {
		found.push_back(reinterpret_cast<const nlattr *>(at));
		at = reinterpret_cast<const char *>(mnl_attr_next(found.back()));
	}
	return found;
}

}  // namespace

Netlink::Netlink(int protocol) : socket_(mnl_socket_open(protocol), mnl_socket_close)
{
	if (!socket_ || mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		throw Error(std::string("netlink: ") + std::strerror(errno));
}

void Netlink::talk(nlmsghdr *message, const Each &each)
{
	std::vector<char> room(kAnswerBytes);
	unsigned port = mnl_socket_get_portid(socket_.get());
	int status = MNL_CB_OK;

	message->nlmsg_seq = ++sequence_;
	if (mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0)
		fail();
	while (status == MNL_CB_OK) {
		ssize_t got = mnl_socket_recvfrom(socket_.get(), room.data(), room.size());

		if (got < 0)
			fail();
		status = mnl_cb_run(room.data(), static_cast<size_t>(got), sequence_, port, pass,
				    const_cast<Each *>(&each));
		if (status < 0)
			fail();
	}
}

void Netlink::dump(unsigned short type, const void *header, std::size_t bytes, const Each &each)
{
	std::vector<char> room(MNL_SOCKET_BUFFER_SIZE);
	nlmsghdr *message = mnl_nlmsg_put_header(room.data());

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	std::memcpy(mnl_nlmsg_put_extra_header(message, bytes), header, bytes);
	talk(message, each);
}

std::vector<const nlattr *> attributes(const nlmsghdr *message, std::size_t header_bytes)
{
	return between(mnl_nlmsg_get_payload_offset(message, header_bytes), mnl_nlmsg_get_payload_tail(message));
}

std::vector<const nlattr *> nested(const nlattr *nest)
{
	const char *begin = static_cast<const char *>(mnl_attr_get_payload(nest));

	return between(begin, begin + mnl_attr_get_payload_len(nest));
}

std::vector<const nlattr *> attributes(const std::string &payload)
{
	return between(payload.data(), payload.data() + payload.size());
}

}  // namespace turnpike
