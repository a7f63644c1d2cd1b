// SPDX-License-Identifier: GPL-2.0
//
// A generic netlink family of the kernel, for commands that talk to a module.
#ifndef TURNPIKE_TOOLS_GENL_H
#define TURNPIKE_TOOLS_GENL_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"

struct mnl_socket;
struct nlattr;
struct nlmsghdr;

namespace turnpike {

// Attributes of a message or nest, by type; valid while the message is. What a module of another
// version leaves out, or gives in another size, is an Error.
class Attributes : public std::map<unsigned, const nlattr *> {
public:
	const nlattr *at(unsigned type) const;
};

Attributes parse_nest(const nlattr *nest);

// All throw Error if there is less in it.
std::uint8_t attribute_u8(const nlattr *attribute);
std::uint16_t attribute_u16(const nlattr *attribute);
std::uint32_t attribute_u32(const nlattr *attribute);
std::uint64_t attribute_u64(const nlattr *attribute);
const void *attribute_bytes(const nlattr *attribute, std::size_t bytes);

// Up to its first 0.
std::string attribute_text(const nlattr *attribute);

// The kernel refused, for a reason that has this number of errno.
class KernelError : public Error {
public:
	KernelError(const std::string &what, int number) : Error(what), number_(number) {}
	int number() const { return number_; }

private:
	int number_;
};

class Genl {
public:
	using Fill = std::function<void(nlmsghdr *)>;
	using Reader = std::function<void(const Attributes &)>;

	// Throws Error, saying `missing', if the kernel has no such family.
	Genl(const char *family, std::uint8_t version, const std::string &missing);
	~Genl();
	Genl(const Genl &) = delete;
	Genl &operator=(const Genl &) = delete;

	// Sends a command and hands every message that answers it to `read'; throws
	// Error with the kernel's own words where it has some.
	void call(std::uint8_t command, const Fill &fill, const Reader &read,
		  bool dump = false);

private:
	std::uint16_t family_id(const char *family, const std::string &missing);
	void exchange(nlmsghdr *message, const Reader &read);

	mnl_socket *socket_;
	std::uint32_t sequence_ = 0;
	std::uint16_t id_ = 0;
	std::uint8_t version_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_GENL_H
