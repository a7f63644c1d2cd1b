// SPDX-License-Identifier: GPL-2.0
#include "onramp.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <arpa/inet.h>

#include "command.h"

namespace turnpike {
namespace {

int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

}  // namespace

OnrampKey onramp_key(const std::string &text)
{
	std::size_t first = text.find_first_not_of(" \t\r\n");
	std::size_t last = text.find_last_not_of(" \t\r\n");
	OnrampKey key{};

	if (first == std::string::npos || last - first + 1 != 2 * key.size())
		throw Error("a key has 32 hexadecimal digits");
	for (std::size_t i = 0; i < 2 * key.size(); i++) {
		int value = digit(text[first + i]);
		if (value < 0)
			throw Error("a key has 32 hexadecimal digits and nothing else");
		key[i / 2] = static_cast<std::uint8_t>(key[i / 2] << 4 | value);
	}
	return key;
}

std::string onramp_address_text(const void *address)
{
	auto *six = static_cast<const in6_addr *>(address);
	char text[INET6_ADDRSTRLEN] = "?";

	if (IN6_IS_ADDR_V4MAPPED(six))
		inet_ntop(AF_INET, six->s6_addr + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, six, text, sizeof(text));
	return text;
}

OnrampAddress onramp_address(const std::string &text)
{
	OnrampAddress address{};

	if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1)
		return address;
	if (inet_pton(AF_INET, text.c_str(), address.data() + 12) != 1)
		throw Error("'" + text + "' is no IPv4 or IPv6 address");
	std::fill(address.begin() + 10, address.begin() + 12, 0xff);
	return address;
}

std::int64_t onramp_time_ns(const std::string &text)
{
	static const std::map<std::string, std::int64_t> units = {
		{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	std::int64_t value = 0, ns = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	auto unit = units.find(std::string(end, text.data() + text.size()));

	if (error != std::errc() || unit == units.end())
		throw Error("'" + text + "' is no time: a whole number, and ns, us, ms or s if it is "
			    "not nanoseconds");
	if (__builtin_mul_overflow(value, unit->second, &ns))
		throw Error("'" + text + "' is too long a time");
	return ns;
}

}  // namespace turnpike
