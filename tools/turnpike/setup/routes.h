// SPDX-License-Identifier: GPL-2.0
//
// Routes of the main table as `ip route' shows them, and which of them lead to a datacenter.
#ifndef TURNPIKE_TOOLS_SETUP_ROUTES_H
#define TURNPIKE_TOOLS_SETUP_ROUTES_H

#include <string>
#include <vector>

#include "../onramp.h"
#include "../process.h"

namespace turnpike {

struct Route {
	bool v6;
	onramp_ask prefix;
	Words words;		// what `ip route' takes to make it again, its destination first
	std::string congctl;	// empty: the host's default
	bool usec;		// its TCP timestamps count microseconds
	// Why it is not touched, as "has 'encap'": words alone do not make it again, or it is not ours to keep.
	std::string special;
	bool leads;		// not one that drops or refuses packets
	std::string rto_min = {};	// as "5ms"; empty: the host's

	// The first device; several hops may have several.
	std::string device() const { return value("dev"); }
	std::string value(const std::string &name) const;
	const std::string &destination() const { return words.at(0); }
};

// What `ip -o route show table main' or `ip -6 -o ...' prints.
std::vector<Route> parse_routes(const std::string &text, bool v6);

// Those of a device inside a prefix. If the prefix itself has none but a wider one leads to it by the device: that, as
// a route of the prefix alone, with `made' set. Those that are special are among them.
struct RouteFor {
	Route route;
	bool made;
};
std::vector<RouteFor> routes_for(const std::vector<Route> &routes, const onramp_ask &prefix,
				 const std::string &device);

// Is every address of one in the other?
bool is_inside(const onramp_ask &inner, const onramp_ask &outer);

// The words with another congestion control, or none.
Words with_congctl(const Words &words, const std::string &congctl);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_ROUTES_H
