// SPDX-License-Identifier: GPL-2.0
#include "doctor.h"

#include <algorithm>
#include <cmath>

#include "../units.h"
#include "status.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
using Findings = std::vector<Finding>;

// TIMELY's T_low (TIMELY15, 4.4) of a low-latency NIC: what a NIC waits for further frames looks like a queue.
constexpr unsigned kCoalescingUs = 50;
// Above it more than half of the samples say "decrease at once" (TIMELY15, equation of T_high).
constexpr double kNoisyShare = .5;
// Fewer samples tell nothing.
constexpr std::uint64_t kSamplesThatTell = 1000;
// On-Ramp's, by default (ONRAMP21 section 5).
constexpr std::int64_t kThresholdNs = 50000;

std::string text(const Json &value)
{
	return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string us_text(const Json &ns)
{
	return std::to_string(std::llround(ns.get<double>() / 1000)) + " us";
}

void fine(Findings &found, const char *check, const std::string &what)
{
	found.push_back({check, Severity::fine, what, "", ""});
}

// -- modules, kernel

std::string holders_text(const Json &module)
{
	return module.at("held_by") == "" ? "" : "; it is held by " + text(module.at("held_by"));
}

// What makes modprobe find a module on this host.
std::string installs_module(const Json &facts)
{
	const Json &without = facts.at("kernels_without_headers");
	std::string kernel = text(facts.at("kernel"));

	if (!facts.at("dkms").get<bool>())
		return "apt install turnpike-dkms, or make install";
	if (std::find(without.begin(), without.end(), kernel) != without.end())
		return "apt install linux-headers-" + kernel + ": DKMS has the sources, and builds them then";
	return "dkms autoinstall, and see what it says; dkms status";
}

// What turnpike up loaded goes with down, but for what connections hold; up takes what is loaded as it is.
std::string loads_again(const Json &module)
{
	std::string name = text(module.at("name"));

	if (!module.at("wanted"))
		return "rmmod " + name + " && modprobe " + name + ", when nothing uses it. Or restart the host";
	return "turnpike down; rmmod " + name + ", if it stays, when nothing uses it; turnpike up as before. Or restart the host";
}

void modules(const Json &facts, Findings &found)
{
	std::size_t before = found.size();

	for (const Json &module : facts.at("modules")) {
		std::string name = text(module.at("name"));

		if (!module.at("loaded") && !module.at("disk"))
			found.push_back({"module", module.at("wanted") ? Severity::broken : Severity::info,
					 name + " is not installed for " + text(facts.at("kernel")),
					 module.at("wanted") ? "turnpike up needs it, and modprobe does not find it"
							     : "modprobe does not find it; nothing here wants it so far",
					 installs_module(facts)});
		// Where DKMS builds none a module came by hand.
		else if (!module.at("disk") && facts.at("dkms").get<bool>())
			found.push_back({"module", Severity::warning, name + " is loaded, and not installed for " + text(facts.at("kernel")),
					 "an upgrade took the old one away, and the new one was not built; it is gone after a restart",
					 installs_module(facts)});
		else if (module.at("stale"))
			found.push_back({"module", Severity::warning, name + " is loaded in another version than the one on disk: " +
					 text(module.at("differ")),
					 "an upgrade counts after it is loaded again" + holders_text(module), loads_again(module)});
		else if (module.at("loaded") && !module.at("in_effect") && module.at("held_by") != "")
			found.push_back({"held", Severity::info, name + " is in use, and turnpike up did not ask for it",
					 "rmmod refuses" + holders_text(module), "rmmod " + name + ", when they are over"});
	}
	if (found.size() == before)
		fine(found, "module", "modules are there, and those loaded are those on disk");
}

void headers(const Json &facts, Findings &found)
{
	const Json &without = facts.at("kernels_without_headers");

	if (!facts.at("dkms").get<bool>() || without.empty())
		return fine(found, "headers", "kernels that may boot next have what DKMS needs");
	found.push_back({"headers", Severity::warning, "Linux " + text(without.back()) + " has no headers",
			 "DKMS builds no modules for it: they are gone when it boots",
			 "apt install linux-headers-" + text(without.back())});
}

enum class Trust { yes, nobody_signed, unknown_key, cannot_tell };

// Would the kernel take it? keys: null where they cannot be seen.
Trust trust_in(const Json &module, const Json &keys)
{
	const Json &signer = module.at("signer");

	if (module.at("loaded") || !module.at("disk"))
		return Trust::yes;
	if (signer == "")
		return Trust::nobody_signed;
	if (keys.is_null())
		return Trust::cannot_tell;
	return std::find(keys.begin(), keys.end(), signer) != keys.end() ? Trust::yes : Trust::unknown_key;
}

// Names of the modules that the kernel would not take for this reason.
std::string refused_for(const Json &facts, Trust trust)
{
	std::string names;

	for (const Json &module : facts.at("modules"))
		if (trust_in(module, facts.at("signing").at("keys")) == trust)
			names += (names.empty() ? "" : ", ") + text(module.at("name"));
	return names;
}

void secure_boot(const Json &facts, Findings &found)
{
	const char *enroll = "mokutil --import /var/lib/dkms/mok.pub, and restart (secure-boot.rst)";
	std::string by = text(facts.at("signing").at("enforced")), names;

	if (by.empty())
		return fine(found, "secure-boot", "the kernel takes modules that nobody signed");
	std::string what = "the kernel takes signed modules alone (" + by + "), and ";
	if (!(names = refused_for(facts, Trust::nobody_signed)).empty())
		found.push_back({"secure-boot", Severity::broken, what + "nobody signed " + names,
				 "modprobe says: Key was rejected by service, or Operation not permitted",
				 std::string("make dkms, or apt install turnpike-dkms: DKMS signs; then ") + enroll});
	if (!(names = refused_for(facts, Trust::unknown_key)).empty())
		found.push_back({"secure-boot", Severity::broken, what + "does not know the key of " + names,
				 "modprobe says: Key was rejected by service", enroll});
	if (!(names = refused_for(facts, Trust::cannot_tell)).empty())
		found.push_back({"secure-boot", Severity::warning, what + "whether it knows the key of " + names + " only root can see",
				 "the kernel refuses modules whose key it does not know: Key was rejected by service",
				 "sudo turnpike doctor; if the key is unknown: " + std::string(enroll)});
	if (found.empty() || found.back().check != "secure-boot")
		fine(found, "secure-boot", "the kernel takes signed modules alone (" + by + "), and takes these");
}

void plugin(const Json &facts, Findings &found)
{
	if (facts.at("tc_plugin").is_null())
		found.push_back({"tc-plugin", Severity::warning, "there is no tc", "it puts the qdisc on devices",
				 "apt install iproute2"});
	else if (!facts.at("tc_plugin").get<bool>())
		found.push_back({"tc-plugin", Severity::warning, "tc knows no options of onramp",
				 "tc -s qdisc shows no counters, and sets no options", "apt install turnpike-tools, or make install"});
	else
		fine(found, "tc-plugin", "tc knows onramp");
}

// -- who else sets the same

void owners(const Json &facts, Findings &found)
{
	for (const Json &other : facts.at("others"))
		found.push_back({"owner", Severity::warning, text(other.at("name")) + " runs here (" + text(other.at("sign")) + ")",
				 text(other.at("why")), text(other.at("mend"))});
	if (facts.at("others").empty())
		fine(found, "owner", "no other program is known here that sets queueing disciplines or congestion control");
}

void defaults(const Json &facts, Findings &found)
{
	std::string congestion = text(facts.at("default_congestion"));

	if (!congestion.starts_with("timely"))
		return fine(found, "default", congestion + " is the host's own congestion control");
	if (!facts.at("default_route").get<bool>())
		return fine(found, "default", congestion + " for all connections; no route leads beyond");
	found.push_back({"default", Severity::broken, congestion + " is the congestion control of all connections, and there is a default route",
			 "where others fill the queue, as on the Internet, a flow that keeps it short gets little",
			 "sysctl -w net.ipv4.tcp_congestion_control=cubic, and turnpike up DEV --for PREFIX"});
}

void setup(const Json &facts, Findings &found)
{
	const Json &setup = facts.at("namespace").at("setup");

	if (setup.is_null())
		return fine(found, "setup", "turnpike up changed nothing here");
	if (setup.at("differs").empty())
		return fine(found, "setup", "what turnpike up made stands");
	found.push_back({"setup", Severity::warning, "not as turnpike up made it: " + text(setup.at("differs").front()) +
			 (setup.at("differs").size() > 1 ? " and more" : ""),
			 "other software undid it: a DHCP client, a network manager", "turnpike diff, then turnpike up again"});
}

// -- devices

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

// -- what works, and what does not

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

// -- clocks between hosts

std::string list_of(const Json &words)
{
	std::string list;

	for (const Json &word : words)
		list += (list.empty() ? "" : ", ") + text(word);
	return list;
}

void clockd_errors(const Json &clockd, Findings &found)
{
	const Json &most = clockd.at("error_max_ns");

	if (most.is_null())
		return;
	if (most <= kThresholdNs)
		return fine(found, "clockd-error", "errors of peers' clocks are below On-Ramp's threshold");
	found.push_back({"clockd-error", Severity::warning, "a peer's clock is known to " + us_text(most) + " alone",
			 "On-Ramp holds above 50us by default: such a clock tells less than that",
			 "turnpike clock show; is a queue never empty? hardware stamps: clockd --device DEV"});
}

void clockd_mesh(const Json &clockd, Findings &found)
{
	const Json &coordinator = clockd.at("coordinator");

	if (coordinator.is_null())
		return;
	if (!clockd.at("answered").get<bool>())
		found.push_back({"clockd-coordinator", Severity::warning, "clockd's coordinator " + text(coordinator.at("address")) + " " +
				 text(coordinator.at("trouble")), "each pair of hosts stands by itself: errors are larger",
				 "there: systemctl status turnpike-clockd; the same /etc/turnpike/clockd.hosts and .key?"});
	else
		fine(found, "clockd-coordinator", "clockd's coordinator answers");
	for (const Json &edge : clockd.at("left_out"))
		found.push_back({"clockd-asymmetry", Severity::info, "loops leave out what probes to " + text(edge.at("peer")) + " say" +
				 (edge.at("surplus_ns").is_null() ? "" : ", by " + us_text(edge.at("surplus_ns"))),
				 "a path that is longer one way than the other is off by half of that; or its clock was set just now",
				 "turnpike clock show; compare the routes there and back"});
}

void clockd(const Json &facts, Findings &found)
{
	const Json &clockd = facts.at("clockd");
	bool runs = !clockd.is_null() && clockd.at("running").get<bool>();

	if (!runs && facts.at("clockd_configured").get<bool>())
		found.push_back({"clockd", Severity::warning, "clockd has its file of hosts, and does not run",
				 "On-Ramp goes on in grade (c); peers find this host silent", "systemctl enable --now turnpike-clockd"});
	if (!runs)
		return;
	fine(found, "clockd", "clockd runs");
	if (!clockd.at("kernel").is_null())
		found.push_back({"clockd-kernel", Severity::warning, "clockd cannot tell On-Ramp: " + text(clockd.at("kernel")),
				 "On-Ramp goes on in grade (c)", "modprobe sch_onramp"});
	if (clockd.at("silent").empty())
		fine(found, "clockd-peers", "clockd's peers answer");
	else
		found.push_back({"clockd-peers", Severity::warning, "clockd's peers do not answer: " + list_of(clockd.at("silent")),
				 "On-Ramp goes on in grade (c) to them", "there: does clockd run? the same key and file of hosts? is UDP port 61005 open?"});
	clockd_errors(clockd, found);
	clockd_mesh(clockd, found);
}

}  // namespace

const char *severity_name(Severity severity)
{
	static const char *const names[] = {"fine", "info", "warning", "broken"};

	return names[static_cast<int>(severity)];
}

std::vector<Finding> examine(const Json &facts)
{
	Findings found;

	for (auto check : {modules, headers, secure_boot, plugin, owners, defaults, setup})
		check(facts, found);
	for (const Json &device : facts.at("devices"))
		for (auto check : {queues, coalescing, speed})
			check(device, found);
	for (auto check : {feedback, peers, keys, refusals, coarse, noise, tlt, clockd})
		check(facts, found);
	return found;
}

int exit_status(const std::vector<Finding> &findings)
{
	Severity worst = Severity::fine;

	for (const Finding &finding : findings)
		worst = std::max(worst, finding.severity);
	return worst == Severity::broken ? 2 : worst == Severity::warning ? 1 : 0;
}

std::string findings_text(const std::vector<Finding> &findings, bool all)
{
	unsigned count[4] = {};
	std::string text;

	for (const Finding &finding : findings) {
		count[static_cast<int>(finding.severity)]++;
		if (finding.severity == Severity::fine && !all)
			continue;
		text += std::string(severity_name(finding.severity)) + "  " + finding.what + "\n";
		if (!finding.why.empty())
			text += "         why: " + finding.why + "\n";
		if (!finding.mend.empty())
			text += "         try: " + finding.mend + "\n";
	}
	return text + std::to_string(count[0]) + " fine, " + std::to_string(count[1]) + " to know, " +
	       std::to_string(count[2]) + (count[2] == 1 ? " warning, " : " warnings, ") + std::to_string(count[3]) + " broken\n";
}

Json findings_json(const std::vector<Finding> &findings)
{
	Json list = Json::array();

	for (const Finding &finding : findings)
		list.push_back({{"check", finding.check}, {"severity", severity_name(finding.severity)},
				{"what", finding.what}, {"why", finding.why}, {"mend", finding.mend}});
	return list;
}

}  // namespace turnpike
