// SPDX-License-Identifier: GPL-2.0
//
// From what is wanted and what the host has: what to do, and how to take it back. Nothing here touches the host.
#ifndef TURNPIKE_TOOLS_SETUP_PLAN_H
#define TURNPIKE_TOOLS_SETUP_PLAN_H

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../process.h"
#include "../usec_ts.h"
#include "qdiscs.h"
#include "routes.h"
#include "wanted.h"

namespace turnpike {

struct Host {
	std::set<std::string> modules;		// that are loaded
	std::set<std::string> devices;
	std::vector<std::string> veths;		// whose other end is in another network namespace
	std::vector<Route> routes;		// of the main tables
	std::vector<Qdisc> qdiscs;
	// Of a qdisc's device and parent: those that have any.
	std::map<std::pair<std::string, std::uint32_t>, std::vector<std::string>> filters;
	bool has_usec = false;			// Linux 6.7
	bool tlt_on = false;
	std::vector<std::string> tlt_rules;
	std::vector<unsigned> keys;		// numbers of On-Ramp's
	std::set<std::string> units;		// of systemd's that give metrics: those that are on
};

// What writes the file of metrics, and what serves them by HTTP.
constexpr char kTextfileUnit[] = "turnpike-metrics.timer";
constexpr char kListenUnit[] = "turnpike-metrics-listen.service";

// Either words, or a qdisc as it was. usec: what the words say, where they say that a route counts microseconds.
struct Command {
	Words words = {};
	std::optional<Qdisc> qdisc = {};
	std::optional<UsecRoute> usec = {};
};

// As one would type it.
std::string command_text(const Command &command);

enum class Kind { module, key, qdisc, route, tlt, unit, device };

// What was changed, and what stood there before.
struct Change {
	Kind kind = Kind::module;
	std::string name = {};			// module, file of keys, device, destination, unit
	std::string device = {}, metric = {};	// of a route
	bool v6 = false, made = false;		// of a route: added
	std::string congctl = {}, set = {};	// of a route: the one before, and the one that was set
	bool usec = false;			// of a route: before
	std::string via = {}, src = {};		// of a route that was added
	std::vector<unsigned> keys = {};	// of a file of keys: their numbers
	std::vector<Qdisc> qdiscs = {};		// those before: the root's, or those of mq's classes

	// For people. Two changes of the same thing have the same.
	std::string key() const;
	bool is_of_the_same(const Change &other) const;
};

struct Step {
	Change change = {};
	std::string wanted = {}, now = {};	// for people: "timely", "the host's default"
	bool holds = false;			// nothing is to be done
	std::vector<Command> commands = {};
};

struct Plan {
	std::vector<Step> steps;
	std::vector<std::string> remarks;	// what is left as it is, and why
};

// Throws Error for what cannot be had, before anything is done.
Plan plan(const Wanted &wanted, const Host &host);

// The same, to be told and not done: what cannot be had of a device is a step that does not hold, and the rest is there.
Plan compare(const Wanted &wanted, const Host &host);

// Names of modules that it takes to have what is wanted.
std::set<std::string> modules_of(const Wanted &wanted);

// What takes a change back on the host as it is now; none if it is gone, or is another's by now.
std::vector<Command> undo(const Change &change, const Host &host);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_PLAN_H
