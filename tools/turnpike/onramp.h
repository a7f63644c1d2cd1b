// SPDX-License-Identifier: GPL-2.0
//
// What `turnpike onramp' knows: keys, addresses and times.
#ifndef TURNPIKE_TOOLS_ONRAMP_H
#define TURNPIKE_TOOLS_ONRAMP_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "include/uapi/turnpike.h"

namespace turnpike {

using OnrampKey = std::array<std::uint8_t, 16>;
using OnrampAddress = std::array<std::uint8_t, 16>;

// 32 hexadecimal digits, blanks around them left out.
OnrampKey onramp_key(const std::string &text);

// One that nobody knows, as text.
std::string onramp_new_key();

// Keys of a file, a line each, two at most: "ID KEY", or a KEY alone, whose ID is 1. The first is
// to sign. Empty lines and what begins with # are left out. Refuses a file that others can read.
struct OnrampNumberedKey {
	unsigned id;
	OnrampKey key;
};

std::vector<OnrampNumberedKey> onramp_key_file(const std::string &path);

// Writes a new key to a file that is not there yet, which nobody else can read.
void onramp_write_new_key(const std::string &path);

// 16 bytes; IPv4 is mapped into IPv6, and shown as what it is.
std::string onramp_address_text(const void *address);

// The other way round: an address of a host, no name.
OnrampAddress onramp_address(const std::string &text);

// A network, "10.0.0.0/8", or a host, as the kernel has it; no bits beyond the prefix.
onramp_ask onramp_prefix(const std::string &text);
std::string onramp_prefix_text(const onramp_ask &prefix);

// Nanoseconds; a number without unit, or of ns, us, ms or s.
std::int64_t onramp_time_ns(const std::string &text);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ONRAMP_H
