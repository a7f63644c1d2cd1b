// SPDX-License-Identifier: GPL-2.0
#include "routes.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include <netinet/in.h>

#include "../command.h"

namespace turnpike {
namespace {

// Shown of a route, and not taken.
const std::set<std::string> kFlags = {"linkdown", "dead", "pervasive", "offload", "trap", "notify",
				      "rt_offload", "rt_trap", "offload_failed", "\\"};
// With a word behind them.
const std::set<std::string> kPairs = {"pref", "error", "used", "users", "age"};
// The kernel's number of microsecond timestamps, as an ip that has no name for it shows it.
constexpr unsigned kUsecFeature = 1 << 4;

// Types other than unicast stand first.
bool leads_somewhere(const std::string &first)
{
	return first == "default" || first.find_first_of(".:/") != std::string::npos;
}

bool is_usec(const std::string &feature)
{
	if (feature == "tcp_usec_ts")
		return true;
	return feature.starts_with("0x") && (std::stoul(feature, nullptr, 16) & kUsecFeature);
}

onramp_ask prefix_of(const std::string &destination, bool v6)
{
	if (destination == "default")
		return onramp_prefix(v6 ? "::/0" : "0.0.0.0/0");
	return onramp_prefix(destination);
}

Route parse_line(const std::string &line, bool v6)
{
	std::istringstream words(line);
	Route route = {v6, {}, {}, {}, false, false};

	for (std::string word; words >> word;) {
		std::string next;

		if (kFlags.count(word))
			continue;
		if (kPairs.count(word)) {
			words >> next;
		} else if (word == "expires") {
			words >> next;
			route.expires = true;
		} else if (word == "features") {
			words >> next;
			route.usec = route.usec || is_usec(next);
			if (!is_usec(next))
				route.words.insert(route.words.end(), {word, next});
		} else {
			route.words.push_back(word);
		}
	}
	route.congctl = route.value("congctl");
	return route;
}

}  // namespace

std::string Route::value(const std::string &name) const
{
	auto found = std::find(words.begin(), words.end(), name);

	return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

std::vector<Route> parse_routes(const std::string &text, bool v6)
{
	std::istringstream lines(text);
	std::vector<Route> routes;

	for (std::string line; std::getline(lines, line);) {
		Route route = parse_line(line, v6);

		if (route.words.empty() || !leads_somewhere(route.destination()))
			continue;
		route.prefix = prefix_of(route.destination(), v6);
		routes.push_back(route);
	}
	return routes;
}

bool is_inside(const onramp_ask &inner, const onramp_ask &outer)
{
	unsigned bytes = outer.bits / 8, bits = outer.bits % 8;

	if (inner.bits < outer.bits || std::memcmp(inner.address, outer.address, bytes))
		return false;
	return !bits || !((inner.address[bytes] ^ outer.address[bytes]) >> (8 - bits));
}

Words with_congctl(const Words &words, const std::string &congctl)
{
	Words changed = words;
	auto found = std::find(changed.begin(), changed.end(), "congctl");

	if (found != changed.end())
		changed.erase(found, std::min(found + 2, changed.end()));
	if (!congctl.empty()) {
		// Hops come last.
		auto hops = std::find(changed.begin(), changed.end(), "nexthop");
		changed.insert(hops, {"congctl", congctl});
	}
	return changed;
}

// Is it one of IPv6? IPv4 is mapped into it.
static bool is_v6(const onramp_ask &prefix)
{
	return prefix.bits < 96 || !IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr *>(prefix.address));
}

// One route that leads to a prefix, and is of an administrator.
static Route narrowed(const Route &wide, const onramp_ask &prefix)
{
	static const std::set<std::string> kept = {"via", "inet6", "dev", "src", "onlink", "nexthop", "weight", "mtu"};
	Route route = {wide.v6, prefix, {onramp_prefix_text(prefix), "proto", "static"}, {}, false, false};

	for (size_t i = 1; i < wide.words.size(); i++) {
		const std::string &word = wide.words[i];

		if (!kept.count(word))
			continue;
		route.words.push_back(word);
		if (word == "onlink" || word == "nexthop")
			continue;
		if (i + 1 < wide.words.size())
			route.words.push_back(wide.words[++i]);
	}
	return route;
}

std::vector<RouteFor> routes_for(const std::vector<Route> &routes, const onramp_ask &prefix,
				 const std::string &device)
{
	std::vector<RouteFor> found;
	const Route *wide = nullptr;
	bool exact = false;

	for (const Route &route : routes) {
		bool ours = device.empty() || route.device() == device;

		if (route.v6 != is_v6(prefix))
			continue;
		if (is_inside(route.prefix, prefix)) {
			exact = exact || route.prefix.bits == prefix.bits;
			if (ours)
				found.push_back({route, false});
		} else if (is_inside(prefix, route.prefix) && (!wide || route.prefix.bits > wide->prefix.bits)) {
			// Of equal ones the first has the least metric.
			wide = &route;
		}
	}
	if (!exact && wide && (device.empty() || wide->device() == device))
		found.push_back({narrowed(*wide, prefix), true});
	return found;
}

}  // namespace turnpike
