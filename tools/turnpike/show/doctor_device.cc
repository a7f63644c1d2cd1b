// SPDX-License-Identifier: GPL-2.0
#include "doctor_device.h"

#include <algorithm>

#include "../units.h"
#include "verdicts.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// TIMELY's T_low (TIMELY15, 4.4) of a low-latency NIC, for a device that nothing of Turnpike's is on.
constexpr unsigned kCoalescingUs = 50;
// As most drivers for fast NICs choose it, for a load that does not come in bulk.
constexpr unsigned kShortWaitUs = 20;
// A pause and as long again for the way there and back: tc-onramp(8) wants pause_max well below TCP's timeout.
constexpr unsigned kPausesInRto = 2;

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

// A wait above this looks like a queue.
struct WaitBound {
	unsigned us;
	const char *whose;
};

WaitBound wait_bound(const Json &facts, const Json &device)
{
	const Json &threshold_ns = device.at("threshold_ns"), &t_low_us = facts.at("t_low_us");
	WaitBound bound = {kCoalescingUs, "TIMELY's T_low"};

	if (!threshold_ns.is_null())
		bound = {threshold_ns.get<unsigned>() / 1000, "On-Ramp's threshold"};
	// 0 is the papers' for fine pacing, and says nothing of a NIC.
	if (!device.at("timely").get<bool>() || t_low_us.is_null() || t_low_us == 0)
		return bound;
	if (threshold_ns.is_null() || t_low_us < bound.us)
		bound = {t_low_us.get<unsigned>(), "timely's t_low"};
	return bound;
}

void coalescing(const Json &facts, const Json &device, Findings &found)
{
	const Json &waits_us = device.at("rx_usecs");
	bool adapts = device.at("adaptive_rx").get<bool>();
	std::string name = text(device.at("name"));

	if (waits_us.is_null())
		return fine(found, "coalescing", name + " does not say how long it waits for further frames");
	if (!adapts && device.at("rx_frames") == 1)
		return fine(found, "coalescing", name + " tells of each frame at once, and waits for no further frames");
	WaitBound bound = wait_bound(facts, device);
	std::string limit = std::string(bound.whose) + ", " + std::to_string(bound.us) + " us";
	std::string mend = "ethtool -C " + name + " adaptive-rx off rx-usecs " + std::to_string(std::min(kShortWaitUs, bound.us));
	if (waits_us > bound.us)
		found.push_back({"coalescing", Severity::warning, name + " waits up to " + text(waits_us) +
				 " us before it tells of a frame: longer than " + limit,
				 "the wait is in every RTT, looks like a queue, and reactions come later", mend});
	else if (adapts)
		found.push_back({"coalescing", Severity::info, name + " waits for further frames as its load asks for, " + text(waits_us) + " us now",
				 "under load it may wait longer than " + limit + ": that looks like a queue", mend});
	else
		fine(found, "coalescing", name + " waits " + text(waits_us) + " us for further frames");
}

void pauses(const Json &device, Findings &found)
{
	const Json &pause_us = device.at("pause_max_us"), &rto_us = device.at("rto_min_us");
	std::string name = text(device.at("name"));

	if (pause_us.is_null() || rto_us.is_null())
		return;
	std::string both = "onramp on " + name + " holds a flow for " + duration_text(1e3 * pause_us.get<double>()) +
			   " at most, and TCP sends again after " + duration_text(1e3 * rto_us.get<double>()) + " at the least";
	if (kPausesInRto * pause_us.get<std::uint64_t>() <= rto_us.get<std::uint64_t>())
		return fine(found, "rto", both);
	found.push_back({"rto", Severity::warning, both, "TCP takes a long pause for a loss: it sends again what is on its way, and starts slowly",
			 "a lower pause_max: tc qdisc change dev " + name + " ... onramp pause_max TIME; or a higher rto_min of the routes"});
}

void stamps(const Json &device, Findings &found)
{
	const Json &by = device.at("stamps");
	std::string name = text(device.at("name"));

	if (by == "nic")
		fine(found, "stamps", name + " can stamp all frames by a clock of its own: turnpike stamps follow " + name);
	else if (by == "host")
		fine(found, "stamps", name + " has no clock to stamp all frames by; the host's can: turnpike stamps use " + name);
	else
		fine(found, "stamps", name + (by.is_null() ? " does not say what it can stamp" : " stamps no frames that it sends"));
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

void examine_device(const Json &facts, const Json &device, Findings &found)
{
	queues(device, found);
	coalescing(facts, device, found);
	for (auto check : {speed, pauses, stamps})
		check(device, found);
}

void examine_default_qdisc(const Json &facts, Findings &found)
{
	std::string chosen = text(facts.at("default_qdisc"));

	// net.core of other namespaces than the first does not tell.
	if (chosen != "onramp" && chosen != "fq")
		return;
	for (const Json &left : facts.at("left_qdiscs")) {
		std::string name = text(left.at("device"));
		bool mq = left.at("mq").get<bool>();

		found.push_back({"qdisc", chosen == "onramp" ? Severity::warning : Severity::info,
				 name + " has " + text(left.at("kind")) + " from before net.core.default_qdisc was " + chosen,
				 chosen == "onramp" ? "the setting counts for devices that come up later: nothing is held here"
						    : "the setting counts for devices that come up later: TCP paces by a timer of each socket here",
				 "tc qdisc replace dev " + name + (mq ? " root handle 1: mq" : " root " + chosen)});
	}
	if (facts.at("left_qdiscs").empty())
		fine(found, "qdisc", "no device has a qdisc from before net.core.default_qdisc was " + chosen);
}

}  // namespace turnpike
