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
const std::set<std::string> kFlags = {"linkdown", "dead", "offload", "trap", "rt_offload", "rt_trap", "\\"};
// What `ip route change' makes again as it was; each has one word behind it.
const std::set<std::string> kSimple = {"via", "dev", "proto", "scope", "src", "metric", "congctl"};
// Types of routes that lead nowhere stand first.
const std::set<std::string> kDrops = {"blackhole", "unreachable", "prohibit", "throw"};
// The kernel's number of microsecond timestamps, as an ip that has no name for it shows it.
constexpr char kUsecFeature[] = "0x10";
// The kernel's metric of IPv6's routes that name none.
constexpr char kMetric6[] = "1024";

bool is_usec(const std::string &feature)
{
	return feature == "tcp_usec_ts" || feature == kUsecFeature;
}

constexpr char kAll[] = "default";

onramp_ask prefix_of(const std::string &destination, bool v6)
{
	if (destination == kAll)
		return onramp_prefix(v6 ? "::/0" : "0.0.0.0/0");
	return onramp_prefix(destination);
}

// One name for each: ip prints no /32 of a host's address and no 0.0.0.0/0, and takes both.
std::string destination_text(const onramp_ask &prefix, bool v6)
{
	return prefix.bits == (v6 ? 0 : 96) ? kAll : onramp_prefix_text(prefix);
}

void make_special(Route &route, const std::string &why)
{
	if (route.special.empty())
		route.special = why;
}

// One word and that behind it.
void take_pair(Route &route, const std::string &name, const std::string &value)
{
	if (name == "features" && is_usec(value))
		route.usec = true;
	else if (name == "pref" && value == "medium")
		return;
	else if (!kSimple.count(name) || value.empty() || value == "lock" || value == "inet6")
		make_special(route, "has '" + name + "'");
	else
		route.words.insert(route.words.end(), {name, value});
	if (name == "proto" && value == "ra")
		make_special(route, "was told by a router");
}

Route parse_line(const std::string &line, bool v6)
{
	std::istringstream words(line);
	Route route = {v6, {}, {}, {}, false, {}, true};
	std::string word, value;

	words >> word;
	if (kDrops.count(word)) {
		route.leads = false;
		words >> word;
	}
	route.words.push_back(word);
	while (words >> word) {
		if (kFlags.count(word))
			continue;
		// These have no word behind them.
		if (word == "nexthop" || word == "onlink") {
			make_special(route, "has '" + word + "'");
			continue;
		}
		value.clear();
		words >> value;
		if (word == "rto_min" && value == "lock")
			words >> value;
		if (word == "rto_min")
			route.rto_min = value;
		take_pair(route, word, value);
	}
	route.congctl = route.value("congctl");
	return route;
}

bool is_a_destination(const std::string &word)
{
	return word == "default" || word.find_first_of(".:") != std::string::npos;
}

// Addresses of the link alone; each device has them.
bool is_link_local(const onramp_ask &prefix)
{
	return prefix.bits >= 10 && prefix.address[0] == 0xfe && (prefix.address[1] & 0xc0) == 0x80;
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
		if (line.find_first_not_of(" \t") == std::string::npos)
			continue;
		Route route = parse_line(line, v6);
		if (!is_a_destination(route.destination()))
			continue;
		route.prefix = prefix_of(route.destination(), v6);
		route.words[0] = destination_text(route.prefix, v6);
		// `ip route change' takes the first of them.
		for (Route &other : routes) {
			if (other.destination() != route.destination() || other.value("metric") != route.value("metric"))
				continue;
			make_special(other, "is one of several to there");
			make_special(route, "is one of several to there");
		}
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
	if (!congctl.empty())
		changed.insert(changed.end(), {"congctl", congctl});
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
	Route route = {wide.v6, prefix, {onramp_prefix_text(prefix), "proto", "static"}, {}, false, wide.special, true};

	for (const char *name : {"via", "dev", "src"})
		if (!wide.value(name).empty())
			route.words.insert(route.words.end(), {name, wide.value(name)});
	if (wide.v6)
		route.words.insert(route.words.end(), {"metric", kMetric6});
	if (!wide.leads)
		route.special = "leads nowhere: " + wide.destination() + " is closed";
	return route;
}

std::vector<RouteFor> routes_for(const std::vector<Route> &routes, const onramp_ask &prefix,
				 const std::string &device)
{
	std::vector<RouteFor> found;
	const Route *wide = nullptr;
	bool exact = false;

	for (const Route &route : routes) {
		bool ours = route.device() == device && route.leads;

		if (route.v6 != is_v6(prefix) || is_link_local(route.prefix))
			continue;
		if (is_inside(route.prefix, prefix)) {
			exact = exact || route.prefix.bits == prefix.bits;
			if (ours)
				found.push_back({route, false});
		} else if (is_inside(prefix, route.prefix) && (ours || !route.leads) &&
			   (!wide || route.prefix.bits > wide->prefix.bits)) {
			// Of equal ones the first has the least metric.
			wide = &route;
		}
	}
	if (!exact && wide)
		found.push_back({narrowed(*wide, prefix), true});
	return found;
}

}  // namespace turnpike
