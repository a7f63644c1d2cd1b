// SPDX-License-Identifier: GPL-2.0
//
// What Turnpike does on this host at the moment, for people and as JSON.
#ifndef TURNPIKE_TOOLS_SHOW_STATUS_H
#define TURNPIKE_TOOLS_SHOW_STATUS_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../modules.h"
#include "../setup/plan.h"
#include "sockets.h"

namespace turnpike {

// Of the network namespace this runs in. name: what people call it; empty: the first.
nlohmann::ordered_json look_at_namespace(const std::string &name);

// Of all namespaces that something of Turnpike's is on in, the first always; only its own without rights. add, if
// there is one, is called in each of these and adds to what was seen there.
using AddTo = std::function<void(nlohmann::ordered_json &one)>;
nlohmann::ordered_json look_at_status(const AddTo &add = {});

// What is wanted and not there, by name. Throws Error.
nlohmann::ordered_json not_so(const Wanted &wanted);

// Modules that are loaded in another build than the one on disk, as `stale' of the status that people are shown.
nlohmann::ordered_json stale_json(const std::vector<ModuleState> &modules);

// `stamps', `clock' and `timely.devices' of the namespace that this runs in, beside what look_at_namespace() saw of it.
// ports: what `turnpike stamps devices' says, of all namespaces; null where nobody can tell.
void add_details(nlohmann::ordered_json &one, const nlohmann::ordered_json &ports);

// What the configuration file says and the kernel has not; null without a file.
nlohmann::ordered_json file_json();

// -- what is computed of it

// The devices of one namespace whose stamps are used, by its number; null if there is none.
nlohmann::ordered_json stamps_json(const nlohmann::ordered_json &ports, std::uint64_t netns);

// Of what `turnpike clock show' says; null where no clock is in use.
nlohmann::ordered_json clock_json(const nlohmann::ordered_json &shown);

// Leaves a device alone in all namespaces; false if nothing is on it.
bool keep_device(nlohmann::ordered_json &status, const std::string &device);

// Connections with timely, by their smoothed RTT; the others are counted. floors_bps: the least rates of congestion
// controls by their names.
using Floors = std::map<std::string, std::uint64_t>;
nlohmann::ordered_json timely_json(const std::vector<Socket> &sockets, const Floors &floors_bps = {});

// Devices with onramp, the queues of each together: counters are summed, of delays the queue with most samples tells
// the median and the worst queue the 99th percentile.
nlohmann::ordered_json onramp_json(const std::vector<Qdisc> &qdiscs);

// Data left by a device of a namespace, and nothing came back that tells delays.
bool lacks_feedback(const nlohmann::ordered_json &status, const nlohmann::ordered_json &device);

// One sentence of a namespace: working, idle, or why there is no effect.
std::string verdict(const nlohmann::ordered_json &status);

// Each line of the text begins with a name in so many columns.
constexpr unsigned kStatusIndent = 9;

// now_s: CLOCK_REALTIME
std::string status_text(const nlohmann::ordered_json &status, std::int64_t now_s);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_STATUS_H
