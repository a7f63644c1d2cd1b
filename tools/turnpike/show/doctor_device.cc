// SPDX-License-Identifier: GPL-2.0
#include "doctor_device.h"

#include "verdicts.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// TIMELY's T_low (TIMELY15, 4.4) of a low-latency NIC: what a NIC waits for further frames looks like a queue.
constexpr unsigned kCoalescingUs = 50;

void queues(const Json &device, Findings &found)
{
	if (!device.at("onramp").get<bool>())
		return;
	std::string name = text(device.at("name"));
	if (text(device.at("root")) != "onramp" || device.at("tx_queues") <= 1)
		return fine(found, "queues", name + " has one onramp for each queue");
	found.push_back({"queues", Severity::warning, name + " has " + text(device.at("tx_queues")) + " queues and one onramp",
			 "all processors wait for one lock",
			 "tc qdisc replace dev " + name + " root handle 1: mq; then turnpike down, and up as before"});
}

void coalescing(const Json &device, Findings &found)
{
	const Json &waits_us = device.at("rx_usecs");
	std::string name = text(device.at("name"));

	if (waits_us.is_null() || waits_us <= kCoalescingUs)
		return fine(found, "coalescing", name + (waits_us.is_null() ? " does not say how long it waits for further frames"
									    : " waits " + text(waits_us) + " us for further frames"));
	found.push_back({"coalescing", Severity::warning, name + " waits up to " + text(waits_us) + " us before it tells of a frame",
			 "the wait is in every RTT: thresholds rise by it, and reactions come later",
			 "ethtool -C " + name + " adaptive-rx off rx-usecs 20"});
}

void speed(const Json &device, Findings &found)
{
	std::string name = text(device.at("name"));

	if (!device.at("onramp").get<bool>())
		return;
	if (!device.at("speed_mbps").is_null())
		return fine(found, "speed", name + " runs at " + text(device.at("speed_mbps")) + " Mbit/s");
	found.push_back({"speed", Severity::warning, name + " does not say how fast it is",
			 "bursts and the line gate go by the speed",
			 "line_rate = RATE below [device " + name + "] in the configuration file and turnpike up --all, "
			 "or turnpike up with --line-rate RATE"});
}

}  // namespace

void examine_device(const Json &device, Findings &found)
{
	for (auto check : {queues, coalescing, speed})
		check(device, found);
}

}  // namespace turnpike
