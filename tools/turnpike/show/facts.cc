// SPDX-License-Identifier: GPL-2.0
#include "facts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <unistd.h>

#include "../clockd/clockd_shown.h"
#include "../command.h"
#include "../modules.h"
#include "../monotonic.h"
#include "../release.h"
#include "../setup/config_file.h"
#include "../setup/device_name.h"
#include "../setup/host.h"
#include "../setup/state_file.h"
#include "../units.h"
#include "facts_device.h"
#include "holders.h"
#include "status.h"
#include "timely_counters.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path &directory)
{
	std::vector<fs::path> found;
	std::error_code error;

	for (const fs::directory_entry &entry : fs::directory_iterator(directory, error))
		found.push_back(entry.path());
	std::sort(found.begin(), found.end());
	return found;
}

// As far as this user can see.
bool is_there(const fs::path &path)
{
	std::error_code hidden;

	return fs::exists(path, hidden);
}

// The first line that begins with one of these, in files of a directory; empty if there is none.
std::string file_with(const fs::path &directory, const std::vector<std::string> &beginnings)
{
	for (const fs::path &path : entries_of(directory)) {
		std::ifstream file(path);

		for (std::string line; std::getline(file, line);)
			for (const std::string &beginning : beginnings)
				if (line.starts_with(beginning))
					return path;
	}
	return "";
}

// The same of several directories: that of the first that has one.
std::string file_in_any(const std::vector<fs::path> &directories, const std::vector<std::string> &beginnings)
{
	for (const fs::path &directory : directories) {
		std::string path = file_with(directory, beginnings);
		if (!path.empty())
			return path;
	}
	return "";
}

std::vector<std::string> process_names()
{
	std::vector<std::string> names;

	for (const fs::path &path : entries_of("/proc"))
		if (path.filename().string().find_first_not_of("0123456789") == std::string::npos)
			names.push_back(first_word(path / "comm"));
	return names;
}

// What turnpike up needs for what it made, here and in other namespaces.
std::set<std::string> modules_of_up()
{
	std::set<std::string> names;

	try {
		StateFile file(kStateDirectory, false);
		names = modules_of(file.read().wanted);
		for (const std::string &name : loaded_modules())
			if (file.others_need(name))
				names.insert(name);
	} catch (const Error &) {
		// Other checks tell of it.
	}
	return names;
}

// And for what the file says, which may not be done.
std::set<std::string> modules_of_file()
{
	try {
		return is_absent(kConfig) ? std::set<std::string>() : modules_of(read_config(kConfig));
	} catch (const Error &) {
		return {};
	}
}

Json modules_json()
{
	std::set<std::string> of_up = modules_of_up(), of_file = modules_of_file();
	std::optional<std::vector<Holders>> holders;
	Json list = Json::array();

	for (const ModuleState &module : module_states()) {
		bool has_up = of_up.count(module.name) != 0;

		list.push_back({{"name", module.name}, {"loaded", module.loaded.has_value()},
				{"disk", module.disk.has_value()}, {"stale", module.stale()}, {"differ", module.stale() ? stale_text(module) : ""},
				{"signer", module.signer},
				{"wanted", has_up || of_file.count(module.name)}, {"in_effect", has_up}, {"held_by", ""}});
		// Only where somebody may want to be rid of it: this looks into every namespace.
		if (!module.loaded || (has_up && !module.stale()))
			continue;
		if (!holders)
			holders = look_at_holders();
		list.back()["held_by"] = holders_of(held_module(module.name), *holders);
	}
	return list;
}

// The last of the variable's five bytes.
bool secure_boot()
{
	for (const fs::path &path : entries_of("/sys/firmware/efi/efivars")) {
		if (!path.filename().string().starts_with("SecureBoot-"))
			continue;
		std::ifstream file(path, std::ios::binary);
		char bytes[5] = {};
		return file.read(bytes, sizeof(bytes)) && bytes[4] == 1;
	}
	return false;
}

Json signing_json()
{
	std::ifstream file("/proc/keys");
	std::string text((std::istreambuf_iterator<char>(file)), {});

	return {{"enforced", signing_enforced_by("", secure_boot())}, {"keys", known_signers(text)}};
}

// Asked for help, it changes nothing.
Json tc_plugin()
{
	Ended ended = run({"tc", "qdisc", "add", "dev", "lo", "root", "onramp", "help"});

	if (ended.status == 127)
		return nullptr;
	return (ended.output + ended.errors).find("Unknown qdisc") == std::string::npos;
}

// Those that onramp or a route of timely's is on.
std::set<std::string> devices_in_use(const Host &host)
{
	std::set<std::string> names;

	for (const Qdisc &qdisc : host.qdiscs)
		if (qdisc.kind == "onramp")
			names.insert(qdisc.device);
	for (const Route &route : host.routes)
		if (route.congctl.starts_with("timely"))
			names.insert(route.device());
	return names;
}

// null while tcp_timely is not loaded
Json t_low_us()
{
	std::ifstream file("/proc/sys/net/ipv4/tcp_timely/t_low_us");
	std::uint64_t us;

	return file >> us ? Json(us) : Json();
}

// With onramp as the default every device is to have it.
Json left_qdiscs_json(const Host &host, const std::string &chosen, const std::set<std::string> &names, bool one)
{
	std::set<std::string> devices = names;

	if (chosen != "onramp" && chosen != "fq")
		return Json::array();
	if (chosen == "onramp" && !one)
		devices.merge(ethernet_devices(host.devices));
	return left_qdiscs(host.qdiscs, chosen, devices);
}

// What the file wants and is not so; null without a file. hidden: it is for the first namespace and this is another, or
// this user may not read all that it takes.
Json config_json(bool first_namespace)
{
	const Json hidden = {{"hidden", true}};

	if (is_absent(kConfig))
		return nullptr;
	if (!first_namespace)
		return hidden;
	try {
		return {{"error", ""}, {"differs", not_so(read_config(kConfig))}};
	} catch (const Error &error) {
		if (geteuid())
			return hidden;
		return {{"error", error.what()}, {"differs", Json::array()}};
	}
}

// What the kernel was told; null if nothing.
Json own_clock_error_ns()
{
	Json shown = answer_if_any({"clock", "show"});

	return shown.is_object() ? shown.value("own_error_ns", Json()) : Json();
}

bool has_default_route(const Host &host)
{
	return std::any_of(host.routes.begin(), host.routes.end(),
			   [](const Route &route) { return route.leads && route.destination() == "default"; });
}

bool runs(const std::vector<std::string> &processes, const char *name)
{
	return std::find(processes.begin(), processes.end(), name) != processes.end();
}

Json owner(const char *name, const std::string &sign, const char *why, const char *mend)
{
	return {{"name", name}, {"sign", sign}, {"why", why}, {"mend", mend}};
}

}  // namespace

Json other_owners(const std::string &root, const std::vector<std::string> &processes)
{
	const std::vector<std::string> knobs = {"net.ipv4.tcp_congestion_control", "net.core.default_qdisc"};
	Json found = Json::array();

	if (is_there(root + "/sys/fs/bpf/cilium") || runs(processes, "cilium-agent"))
		found.push_back(owner("Cilium", "cilium-agent or /sys/fs/bpf/cilium",
				      "its bandwidth manager puts fq on devices, and BBR on pods",
				      "bandwidthManager.enabled=false, or keep onramp off its devices"));
	if (runs(processes, "bpftune"))
		found.push_back(owner("bpftune", "process bpftune", "it sets the congestion control of connections",
				      "bpftune without its tcp_conn tuner"));
	// Those of netplan are in /run.
	std::string path = file_in_any({root + "/etc/systemd/network", root + "/run/systemd/network", root + "/usr/lib/systemd/network"},
				       {"[QDisc]", "[FairQueueing", "[CAKE]", "[HierarchyTokenBucket", "[TokenBucket", "[PFIFO",
					"[BFIFO]", "[NetworkEmulator]", "[StochasticFair"});
	if (!path.empty())
		found.push_back(owner("systemd-networkd", path, "it puts its own qdisc on the device when it configures it",
				      "take the qdisc's section out of that file, or of what makes it"));
	path = file_in_any({root + "/etc/NetworkManager/system-connections", root + "/run/NetworkManager/system-connections"}, {"[tc]"});
	if (!path.empty())
		found.push_back(owner("NetworkManager", path, "it puts its own qdisc on the device when it connects",
				      "nmcli connection modify NAME tc.qdiscs ''"));
	std::string profile = first_word(root + "/etc/tuned/active_profile");
	if (runs(processes, "tuned") && !profile.empty()) {
		for (const char *directory : {"/etc/tuned/", "/usr/lib/tuned/", "/usr/lib/tuned/profiles/"}) {
			path = file_with(root + directory + profile, knobs);
			if (!path.empty())
				found.push_back(owner("tuned", path, "its profile sets the host's congestion control or qdisc",
						      "take the line out of a copy of that profile in /etc/tuned"));
		}
	}
	return found;
}

Json kernels_without_headers(const std::string &directory)
{
	Json found = Json::array();

	for (const fs::path &path : entries_of(directory))
		if (is_there(path / "modules.dep") && !is_there(path / "build/Makefile"))
			found.push_back(path.filename().string());
	return found;
}

std::string signing_enforced_by(const std::string &root, bool secure_boot)
{
	std::ifstream lockdown(root + "/sys/kernel/security/lockdown");
	std::string modes;

	if (first_word(root + "/sys/module/module/parameters/sig_enforce") == "Y")
		return "module.sig_enforce";
	if (!std::getline(lockdown, modes))
		return secure_boot ? "Secure Boot" : "";
	// As in "none [integrity] confidentiality".
	std::size_t begin = modes.find('['), end = modes.find(']');
	std::string mode = begin < end && end != std::string::npos ? modes.substr(begin + 1, end - begin - 1) : "none";
	return mode == "none" ? "" : "lockdown=" + mode;
}

// In a line stand numbers, the type, which the kernel cuts after nine letters, and "NAME: X509.rsa 01234567 []".
Json known_signers(const std::string &text)
{
	const std::string type = " asymmetr";
	std::istringstream lines(text);
	Json names = Json::array();

	for (std::string line; std::getline(lines, line);) {
		std::size_t at = line.find(type), end = line.rfind(": X509.");
		std::size_t begin = at == std::string::npos ? at : line.find(' ', at + type.size());
		if (begin != std::string::npos && end != std::string::npos && end > begin)
			names.push_back(line.substr(begin + 1, end - begin - 1));
	}
	return names.empty() ? Json() : names;
}

Json look_at_facts(const std::string &called)
{
	Host host = look_at_host();
	std::string device = called.empty() ? called : device_name(called);
	Json show = host.modules.count("sch_onramp") ? answer_if_any({"onramp", "show"}) : Json();
	std::set<std::string> names = device.empty() ? devices_in_use(host) : std::set<std::string>{device};
	Json facts = {
		{"kernel", kernel_release()},
		{"modules", modules_json()},
		{"dkms", is_there("/var/lib/dkms/turnpike")},
		{"kernels_without_headers", kernels_without_headers("/lib/modules")},
		{"signing", signing_json()},
		{"tc_plugin", tc_plugin()},
		{"others", other_owners("", process_names())},
		{"default_congestion", first_word("/proc/sys/net/ipv4/tcp_congestion_control")},
		{"default_route", has_default_route(host)},
		{"default_qdisc", first_word("/proc/sys/net/core/default_qdisc")},
		{"left_qdiscs", Json::array()},
		{"t_low_us", t_low_us()},
		// Others have no such file.
		{"config", config_json(is_there("/proc/sys/net/core/default_qdisc"))},
		{"has_usec", host.has_usec},
		{"keys", show.is_object() ? show["keys"] : Json()},
		{"onramp_stats", show.is_object() ? answer_if_any({"onramp", "stats"}) : Json()},
		{"timely_counters", timely_counters()},
		{"clockd", clockd_summary(read_clockd_state(kClockdState, monotonic_ns()))},
		{"own_clock_error_ns", show.is_object() ? own_clock_error_ns() : Json()},
		{"clockd_configured", fs::exists(kClockdHosts)},
		{"namespace", look_at_namespace("")},
		{"devices", Json::array()},
	};

	if (!device.empty() && !host.devices.count(device))
		throw Error("there is no device " + device);
	// Of what sends nothing held, keys do not matter.
	if (facts["namespace"]["devices"].empty())
		facts["keys"] = nullptr;
	facts["left_qdiscs"] = left_qdiscs_json(host, facts["default_qdisc"].get<std::string>(), names, !device.empty());
	for (const std::string &name : names)
		facts["devices"].push_back(device_json(name, host));
	return facts;
}

}  // namespace turnpike
