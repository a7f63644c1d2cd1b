// SPDX-License-Identifier: GPL-2.0
#include "listen_address.h"

#include <arpa/inet.h>

#include "../command.h"

namespace turnpike {
namespace {

constexpr char kWanted[] = " is no address and port, as 127.0.0.1:9733 or [::1]:9733";

bool is_port(const std::string &text)
{
	return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos &&
	       std::stoul(text) <= 65535;
}

bool is_loopback(const in_addr &v4)
{
	return ntohl(v4.s_addr) >> 24 == 127;
}

}  // namespace

std::string listen_address(const std::string &text, bool anywhere)
{
	std::size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
	bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']', loopback;
	in6_addr v6;
	in_addr v4;

	if (!host.size() || !is_port(text.substr(colon + 1)))
		throw Error("'" + text + "'" + kWanted);
	if (brackets && inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1)
		loopback = IN6_IS_ADDR_LOOPBACK(&v6);
	else if (!brackets && inet_pton(AF_INET, host.c_str(), &v4) == 1)
		loopback = is_loopback(v4);
	else
		throw Error("'" + text + "'" + kWanted);
	if (!loopback && !anywhere)
		throw Error(text + " is no address of this host's own loopback: whoever reaches it reads names of devices and "
			    "namespaces, and has this host work; --anywhere if that is meant");
	return text;
}

}  // namespace turnpike
