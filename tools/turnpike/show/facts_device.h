// SPDX-License-Identifier: GPL-2.0
//
// What doctor judges of one device: its queues, its driver, its NIC.
#ifndef TURNPIKE_TOOLS_SHOW_FACTS_DEVICE_H
#define TURNPIKE_TOOLS_SHOW_FACTS_DEVICE_H

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../setup/plan.h"

namespace turnpike {

// Milliseconds or seconds as `ip route' has them, "5ms" or "1.5s", in us; 0 for what is none.
std::uint64_t route_time_us(const std::string &text);

// Queueing disciplines that the kernel chose for these devices by another net.core.default_qdisc than `chosen': it
// counts for devices that come up later. A list of {device, kind}, one a device.
nlohmann::ordered_json left_qdiscs(const std::vector<Qdisc> &qdiscs, const std::string &chosen,
				   const std::set<std::string> &devices);

// The least time that TCP waits before it sends again by a device's routes. host_us: what the host says; 0: nothing,
// as before Linux 6.12.
std::uint64_t least_rto_us(const std::vector<Route> &routes, const std::string &device, std::uint64_t host_us);

// Names of this namespace's devices that are Ethernet's, or alike.
std::set<std::string> ethernet_devices(const std::set<std::string> &names);

// What cannot be read is null.
nlohmann::ordered_json device_json(const std::string &name, const Host &host);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_FACTS_DEVICE_H
