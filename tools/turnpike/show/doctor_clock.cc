// SPDX-License-Identifier: GPL-2.0
#include "doctor_clock.h"

#include <cmath>

#include "verdicts.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// On-Ramp's, by default (ONRAMP21 section 5).
constexpr std::int64_t kThresholdNs = 50000;

std::string us_text(const Json &ns)
{
	return std::to_string(std::llround(ns.get<double>() / 1000)) + " us";
}

std::string list_of(const Json &words)
{
	std::string list;

	for (const Json &word : words)
		list += (list.empty() ? "" : ", ") + text(word);
	return list;
}

void own_clock(const Json &facts, Findings &found)
{
	const Json &error = facts.at("own_clock_error_ns");

	if (error.is_null())
		return;
	if (error <= kThresholdNs)
		return fine(found, "clock", "On-Ramp was told that this host's clock is right to " + us_text(error));
	found.push_back({"clock", Severity::warning, "this host's clock is right to " + us_text(error) + " alone",
			 "On-Ramp holds above 50us by default: delays by two such clocks tell less than that",
			 "turnpike clock show; a PTP daemon and turnpike clock follow; or turnpike clockd, or turnpike clock undisciplined"});
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

void examine_clocks(const Json &facts, Findings &found)
{
	own_clock(facts, found);
	clockd(facts, found);
}

}  // namespace turnpike
