// SPDX-License-Identifier: GPL-2.0
#include "doctor.h"

#include <algorithm>

#include "doctor_clock.h"
#include "doctor_device.h"
#include "doctor_traffic.h"
#include "verdicts.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

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

void saved(const Json &facts, Findings &found)
{
	const Json &config = facts.at("config"), &setup = facts.at("namespace").at("setup");

	// It tells of the same, and comes first.
	if (!setup.is_null() && !setup.at("differs").empty())
		return;
	if (config.is_null() && !setup.is_null())
		found.push_back({"saved", Severity::info, "no file keeps what turnpike up made here", "it is gone after a restart of the host",
				 "turnpike up as before, and --persist"});
	else if (config.is_null())
		fine(found, "saved", "there is no /etc/turnpike/turnpike.conf, and nothing to keep");
	else if (config.contains("hidden"))
		fine(found, "saved", "what /etc/turnpike/turnpike.conf wants is not told here");
	else if (config.at("error") != "")
		found.push_back({"saved", Severity::warning, text(config.at("error")), "it cannot be told whether this host is as that file wants it, "
				 "and the next boot makes nothing of it", "mend that file; turnpike up --all --dry-run"});
	else if (!config.at("differs").empty())
		found.push_back({"saved", Severity::warning, "not as /etc/turnpike/turnpike.conf says: " + text(config.at("differs").front()) +
				 (config.at("differs").size() > 1 ? " and more" : ""),
				 "nothing has applied the file since it was changed, or since the host came up",
				 "turnpike diff; turnpike up --all; at each boot: turnpike up --all --persist"});
	else
		fine(found, "saved", "this host is as /etc/turnpike/turnpike.conf says");
}

}  // namespace

Findings examine(const Json &facts)
{
	Findings found;

	for (auto check : {modules, headers, secure_boot, plugin, owners, defaults, setup, saved})
		check(facts, found);
	examine_default_qdisc(facts, found);
	for (const Json &device : facts.at("devices"))
		examine_device(facts, device, found);
	examine_traffic(facts, found);
	examine_clocks(facts, found);
	return found;
}

int exit_status(const Findings &findings)
{
	Severity worst = Severity::fine;

	for (const Finding &finding : findings)
		worst = std::max(worst, finding.severity);
	return worst == Severity::broken ? 2 : worst == Severity::warning ? 1 : 0;
}

std::string findings_text(const Findings &findings, bool all)
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

Json findings_json(const Findings &findings)
{
	Json list = Json::array();

	for (const Finding &finding : findings)
		list.push_back({{"check", finding.check}, {"severity", severity_name(finding.severity)},
				{"what", finding.what}, {"why", finding.why}, {"mend", finding.mend}});
	return list;
}

}  // namespace turnpike
