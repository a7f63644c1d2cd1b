// SPDX-License-Identifier: GPL-2.0
#include "genl.h"

#include <cerrno>
#include <cstring>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace turnpike {
namespace {

// Longer than any request, of which sixteen rules of TLT with paths of cgroups are the
// longest; a dump's messages come in pages of their own.
constexpr std::size_t kRequestBytes = 16384;
constexpr std::size_t kAnswerBytes = 65536;

constexpr char kAnotherVersion[] = ": it is of another version than this command (turnpike version)";

// Of the machine's byte order, and not aligned to its size.
template <typename Number> Number number(const nlattr *attribute)
{
	Number value;

	std::memcpy(&value, attribute_bytes(attribute, sizeof(value)), sizeof(value));
	return value;
}

int collect(const nlattr *attribute, void *into)
{
	(*static_cast<Attributes *>(into))[mnl_attr_get_type(attribute)] =
		attribute;
	return MNL_CB_OK;
}

std::string system_error(const std::string &what, int number)
{
	return what + ": " + std::strerror(number);
}

// The sentence that the kernel gives as the reason, if any (extended ACK).
std::string kernel_message(const nlmsghdr *message)
{
	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
		return {};
	auto *error = static_cast<const nlmsgerr *>(
		mnl_nlmsg_get_payload(message));
	std::size_t offset = sizeof(*error);
	Attributes attributes;

	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		offset += mnl_nlmsg_get_payload_len(&error->msg);
	mnl_attr_parse(message, offset, collect, &attributes);
	auto found = attributes.find(NLMSGERR_ATTR_MSG);
	return found == attributes.end() ? std::string()
					 : attribute_text(found->second);
}

nlmsghdr *begin(char *room, std::uint16_t type, std::uint16_t flags,
		std::uint32_t sequence, std::uint8_t command, std::uint8_t version)
{
	nlmsghdr *message = mnl_nlmsg_put_header(room);
	auto *header = static_cast<genlmsghdr *>(
		mnl_nlmsg_put_extra_header(message, sizeof(genlmsghdr)));

	message->nlmsg_type = type;
	message->nlmsg_flags = flags;
	message->nlmsg_seq = sequence;
	header->cmd = command;
	header->version = version;
	return message;
}

}  // namespace

const nlattr *Attributes::at(unsigned type) const
{
	auto found = find(type);

	if (found == end())
		throw Error("the kernel module leaves out attribute " + std::to_string(type) + kAnotherVersion);
	return found->second;
}

std::uint8_t attribute_u8(const nlattr *attribute)
{
	return number<std::uint8_t>(attribute);
}

std::uint16_t attribute_u16(const nlattr *attribute)
{
	return number<std::uint16_t>(attribute);
}

std::uint32_t attribute_u32(const nlattr *attribute)
{
	return number<std::uint32_t>(attribute);
}

std::uint64_t attribute_u64(const nlattr *attribute)
{
	return number<std::uint64_t>(attribute);
}

const void *attribute_bytes(const nlattr *attribute, std::size_t bytes)
{
	if (mnl_attr_get_payload_len(attribute) < bytes)
		throw Error("the kernel module gives attribute " +
			    std::to_string(mnl_attr_get_type(attribute)) + " " +
			    std::to_string(mnl_attr_get_payload_len(attribute)) + " bytes instead of " +
			    std::to_string(bytes) + kAnotherVersion);
	return mnl_attr_get_payload(attribute);
}

std::string attribute_text(const nlattr *attribute)
{
	auto *text = static_cast<const char *>(mnl_attr_get_payload(attribute));

	return std::string(text, strnlen(text, mnl_attr_get_payload_len(attribute)));
}

Attributes parse_nest(const nlattr *nest)
{
	Attributes attributes;

	mnl_attr_parse_nested(nest, collect, &attributes);
	return attributes;
}

Genl::Genl(const char *family, std::uint8_t version, const std::string &missing)
	: socket_(mnl_socket_open(NETLINK_GENERIC)), version_(version)
{
	int on = 1;

	if (!socket_)
		throw Error(system_error("cannot open a netlink socket", errno));
	if (mnl_socket_bind(socket_, 0, MNL_SOCKET_AUTOPID) < 0)
		throw Error(system_error("cannot bind a netlink socket", errno));
	// Errors shall come with the kernel's reason; old kernels have none.
	mnl_socket_setsockopt(socket_, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(socket_, NETLINK_CAP_ACK, &on, sizeof(on));
	id_ = family_id(family, missing);
}

Genl::~Genl()
{
	if (socket_)
		mnl_socket_close(socket_);
}

// Of all families: the kernel loads the module of one that is asked for by name, and a look changes nothing.
std::uint16_t Genl::family_id(const char *family, const std::string &missing)
{
	char room[kRequestBytes];
	std::uint16_t id = 0;
	nlmsghdr *message = begin(room, GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_DUMP,
				  ++sequence_, CTRL_CMD_GETFAMILY, 1);

	try {
		exchange(message, [&id, family](const Attributes &attributes) {
			if (attribute_text(attributes.at(CTRL_ATTR_FAMILY_NAME)) == family)
				id = attribute_u16(attributes.at(CTRL_ATTR_FAMILY_ID));
		});
	} catch (const Error &) {
		throw Error(missing);
	}
	if (!id)
		throw Error(missing);
	return id;
}

void Genl::call(std::uint8_t command, const Fill &fill, const Reader &read,
		bool dump)
{
	char room[kRequestBytes];
	nlmsghdr *message = begin(room, id_,
				  NLM_F_REQUEST | (dump ? NLM_F_DUMP : NLM_F_ACK),
				  ++sequence_, command, version_);

	if (fill)
		fill(message);
	exchange(message, read);
}

// Until the kernel's ACK, its error, or the end of a dump.
void Genl::exchange(nlmsghdr *message, const Reader &read)
{
	std::vector<char> room(kAnswerBytes);

	if (mnl_socket_sendto(socket_, message, message->nlmsg_len) < 0)
		throw Error(system_error("cannot send to the kernel", errno));
	for (;;) {
		ssize_t got = mnl_socket_recvfrom(socket_, room.data(), room.size());
		if (got < 0)
			throw Error(system_error("no answer of the kernel", errno));
		int left = static_cast<int>(got);
		auto *answer = reinterpret_cast<nlmsghdr *>(room.data());
		for (; mnl_nlmsg_ok(answer, left);
		     answer = mnl_nlmsg_next(answer, &left)) {
			if (answer->nlmsg_type == NLMSG_DONE)
				return;
			if (answer->nlmsg_type == NLMSG_ERROR) {
				auto *error = static_cast<nlmsgerr *>(
					mnl_nlmsg_get_payload(answer));
				std::string why = kernel_message(answer);
				if (!error->error)
					return;
				if (why.empty())
					why = std::strerror(-error->error);
				if (error->error == -EPERM)
					why += ": needs CAP_NET_ADMIN in this network namespace, as root has";
				throw KernelError(why, -error->error);
			}
			Attributes attributes;
			mnl_attr_parse(answer, sizeof(genlmsghdr), collect,
				       &attributes);
			if (read)
				read(attributes);
		}
	}
}

}  // namespace turnpike
