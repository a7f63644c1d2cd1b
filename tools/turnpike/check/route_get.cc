// SPDX-License-Identifier: GPL-2.0
#include "route_get.h"

#include <nlohmann/json.hpp>

#include "../command.h"
#include "../process.h"

namespace turnpike {
namespace {

bool is_link_local(const Address &address)
{
	return address.storage.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6 *>(&address.storage)->sin6_addr);
}

}  // namespace

std::string device_of_route(const std::string &json, const std::string &host)
{
	nlohmann::json routes = nlohmann::json::parse(json, nullptr, false);

	if (!routes.is_array() || routes.empty() || !routes[0].contains("dev"))
		throw Error("no route leads to " + host);
	if (routes[0].value("type", "") == "local")
		throw Error(host + " is this host itself");
	return routes[0]["dev"].get<std::string>();
}

std::string device_to(const Address &peer)
{
	std::string host = host_text(peer);

	if (is_link_local(peer))
		throw Error(host + " is an address of the link alone, whose routes no profile changes");
	return device_of_route(output_of({"ip", "-j", "route", "get", host}), host);
}

}  // namespace turnpike
