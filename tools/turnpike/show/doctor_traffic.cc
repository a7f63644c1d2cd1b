// SPDX-License-Identifier: GPL-2.0
#include "doctor_traffic.h"

#include "../units.h"
#include "status.h"
#include "verdicts.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Above it more than half of the samples say "decrease at once" (TIMELY15, equation of T_high).
constexpr double kNoisyShare = .5;
// Fewer samples tell nothing.
constexpr std::uint64_t kSamplesThatTell = 1000;
constexpr std::uint64_t kPacketsThatTell = 1000;
// Each connection's first data have an RTT; several have all within this.
constexpr std::uint64_t kBytesThatTell = 1000000;
// A timeout in so many flows is a cable that somebody pulled.
constexpr std::uint64_t kFlowsOfOneTimeout = 100;
// One connection of so many at the least rate may have begun just now.
constexpr std::uint64_t kFloorShare = 10;
// Light in 100 km of fibre, there and back, twice: buildings of one region.
constexpr std::uint64_t kDatacenterRttNs = 2000000;

void feedback(const Json &facts, Findings &found)
{
	const Json &space = facts.at("namespace");

	for (const Json &device : space.at("devices")) {
		std::string name = text(device.at("name"));

		if (device.at("samples") != 0)
			fine(found, "feedback", "onramp on " + name + " has " + text(device.at("samples")) + " samples");
		else if (lacks_feedback(space, device))
			found.push_back({"feedback", Severity::warning, "onramp on " + name + " has no feedback",
					 "it holds nothing: it needs receipts of peers with onramp, or microsecond TCP timestamps at both ends",
					 "onramp at the receiver; UDP port 61004 open both ways; the same key; turnpike onramp peers and stats"});
		else
			fine(found, "feedback", "onramp on " + name + " had no data to send to hosts that are near");
	}
}

void peers(const Json &facts, Findings &found)
{
	const Json &peers = facts.at("namespace").at("peers");

	if (peers.is_null())
		return;
	if (peers.at("silent").empty())
		return fine(found, "peers", "every host that was asked sends receipts");
	found.push_back({"peers", Severity::warning, count_text(peers.at("silent").size(), "host") + " never sent a receipt, as " +
			 text(peers.at("silent").front()),
			 "flows to them are held by TCP timestamps alone, or not at all",
			 "there: is sch_onramp loaded with onramp on a device (ss -uln sport 61004)? is the port open? the same key?"});
}

void keys(const Json &facts, Findings &found)
{
	if (facts.at("keys").is_null())
		return;
	if (!facts.at("keys").empty())
		return fine(found, "key", "receipts are signed");
	found.push_back({"key", Severity::warning, "On-Ramp has no key",
			 "who can send with another host's address can forge receipts",
			 "turnpike onramp key generate, once; copy /etc/turnpike/onramp.key to all hosts; turnpike onramp key load"});
}

void refusals(const Json &facts, Findings &found)
{
	const Json &stats = facts.at("onramp_stats");

	if (stats.is_null())
		return;
	if (stats.value("refused_mac", std::uint64_t(0)) + stats.value("refused_key", std::uint64_t(0)) == 0)
		return fine(found, "signatures", "no receipt was refused for its key");
	found.push_back({"signatures", Severity::warning, count_text(stats.at("refused_mac"), "receipt") + " with a wrong signature, " +
			 text(stats.at("refused_key")) + " with an unknown key",
			 "a host with another key has no feedback; or somebody forges", "compare /etc/turnpike/onramp.key of all hosts"});
}

void coarse(const Json &facts, Findings &found)
{
	for (const Json &device : facts.at("namespace").at("devices")) {
		if (device.at("coarse") == 0)
			continue;
		bool can = facts.at("has_usec").get<bool>();
		found.push_back({"timestamps", Severity::info, "peers of " + count_text(device.at("coarse"), "connection") + " of " +
				 text(device.at("name")) + " have timestamps of milliseconds",
				 "these tell no queueing delay: receipts alone do",
				 can ? "turnpike usec-ts on PREFIX, at both ends" : "needs Linux 6.7 at both ends"});
	}
}

void noise(const Json &facts, Findings &found)
{
	const Json &timely = facts.at("timely_counters");

	if (timely.is_null() || timely.value("samples", std::uint64_t(0)) < kSamplesThatTell)
		return;
	double high = timely.value("events_high", 0.0) / timely.at("samples").get<double>();
	if (high <= kNoisyShare)
		return fine(found, "noise", "few of timely's RTTs are above T_high");
	found.push_back({"noise", Severity::warning, "more than half of timely's RTTs are above T_high",
			 "a queue that others make, or noise of hosts: coalescing, sleep states, a virtual machine",
			 "ethtool -c; cpupower idle-info; the queue of the switch"});
}

void tlt(const Json &facts, Findings &found)
{
	const Json &tlt = facts.at("namespace").at("tlt");

	if (tlt.is_null())
		return;
	if (tlt.at("rules").empty() && facts.at("default_route").get<bool>())
		found.push_back({"tlt-rules", Severity::warning, "TLT marks all TCP, and there is a default route",
				 "code points mean something else beyond the datacenter", "turnpike tlt set --rule peer=PREFIX"});
	if (tlt.at("deaf") == 0)
		return fine(found, "tlt-peers", "every peer of TLT answers its marks");
	found.push_back({"tlt-peers", Severity::warning, "TLT has peers that answer no mark, of " + count_text(tlt.at("deaf"), "connection"),
			 "it has no TLT, or somebody between changes the code points: data to it are not marked",
			 "turnpike tlt flows; at the peer: turnpike tlt stats"});
}

// Where every mark is answered only the loss of an important packet leaves a flow to its timer.
void tlt_threshold(const Json &facts, Findings &found)
{
	const Json &tlt = facts.at("namespace").at("tlt");

	if (tlt.is_null() || tlt.at("deaf") != 0)
		return;
	std::uint64_t rtos = tlt.value("rtos", std::uint64_t(0)), began = tlt.value("began", std::uint64_t(0));
	if (!began)
		return;
	if (kFlowsOfOneTimeout * rtos < began)
		return fine(found, "tlt-threshold", "flows of TLT have few timeouts: " + std::to_string(rtos) + " of " + count_text(began, "flow"));
	found.push_back({"tlt-threshold", Severity::warning, count_text(began, "flow") + " of TLT had " + count_text(rtos, "timeout"),
			 "important packets were lost: a switch's color threshold K leaves them no room in its buffer, or it knows no code points",
			 "turnpike tlt threshold --bdp BYTES --buffer BYTES --ports N, and compare the K of the switch (tlt-switch.rst)"});
}

// -- timely's connections

void floors(const Json &facts, Findings &found)
{
	const Json &timely = facts.at("namespace").at("timely");

	if (timely.is_null() || timely.at("flows") == 0)
		return;
	std::uint64_t low = timely.value("at_floor", std::uint64_t(0)), flows = timely.at("flows").get<std::uint64_t>();
	if (!low)
		return fine(found, "floor", "no connection of timely is at its least rate");
	found.push_back({"floor", kFloorShare * low >= flows ? Severity::warning : Severity::info,
			 std::to_string(low) + " of " + count_text(flows, "connection") + " of timely " + (low == 1 ? "is" : "are") + " at the least rate",
			 "others keep a queue on their path, as CUBIC and BBR do, or the path is none of the datacenter's",
			 "turnpike top: which peers? turnpike down, and up with --for of the datacenter's prefixes alone; a queue of their own at the switch"});
}

void distance(const Json &facts, Findings &found)
{
	const Json &timely = facts.at("namespace").at("timely");

	if (timely.is_null() || !timely.contains("least_rtt_p50_ns"))
		return;
	std::uint64_t least_ns = timely.at("least_rtt_p50_ns");
	std::string rtt = duration_text(least_ns);
	if (least_ns <= kDatacenterRttNs)
		return fine(found, "distance", "half of timely's connections have seen an RTT of " + rtt + " or less");
	found.push_back({"distance", Severity::warning, "half of timely's connections never had an RTT below " + rtt,
			 "no path in a datacenter is so long: the prefix leads beyond, where others fill the queue, or the queue is never empty",
			 "ss -tin; turnpike down, and up with --for of the datacenter's prefixes alone"});
}

// -- counters that should move

// The sum of those that begin so.
std::uint64_t sum_of(const Json &counters, const char *beginning)
{
	std::uint64_t sum = 0;

	for (const auto &[name, value] : counters.items())
		if (name.starts_with(beginning))
			sum += value.get<std::uint64_t>();
	return sum;
}

constexpr char kHook[] = "a hook is not called: another kernel than the module was built for, or other software in its place";
constexpr char kHookMend[] = "uname -r; turnpike version; dkms autoinstall; the kernel of before";

void timely_counters_move(const Json &facts, Findings &found)
{
	const Json &timely = facts.at("namespace").at("timely"), &counters = facts.at("timely_counters");

	if (timely.is_null() || counters.is_null() || !counters.contains("samples") || timely.at("flows") == 0)
		return;
	if (counters.at("samples") != 0)
		return fine(found, "counters", "timely takes samples of RTTs");
	if (timely.value("acked_bytes", std::uint64_t(0)) < kBytesThatTell || sum_of(counters, "dropped_"))
		return;
	found.push_back({"counters", Severity::warning, "peers acknowledged " + bytes_text(timely.at("acked_bytes").get<double>()) +
			 " of timely's connections, and no RTT was measured", kHook, kHookMend});
}

void onramp_counters_move(const Json &facts, Findings &found)
{
	const Json &stats = facts.at("onramp_stats");

	if (stats.is_null() || !stats.value("receipts_taken", std::uint64_t(0)) || sum_of(stats, "refused_"))
		return;
	for (const Json &device : facts.at("namespace").at("devices"))
		if (device.at("samples") == 0 && device.at("coarse") == 0 && device.at("ignored") == 0 && device.at("flows") != 0 &&
		    device.at("packets") >= kPacketsThatTell)
			found.push_back({"counters", Severity::warning, "receipts come, and no packet of " + text(device.at("name")) + " had one",
					 kHook, kHookMend});
}

}  // namespace

void examine_traffic(const Json &facts, Findings &found)
{
	for (auto check : {feedback, peers, keys, refusals, coarse, noise, tlt, tlt_threshold, floors, distance, timely_counters_move, onramp_counters_move})
		check(facts, found);
}

}  // namespace turnpike
