// SPDX-License-Identifier: GPL-2.0
//
// What turnpike doctor finds wrong with a host, and what it looks at.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gtest/gtest.h>

#include "show/doctor.h"
#include "show/facts.h"
#include "show/facts_device.h"
#include "show/holders.h"
#include "shown_namespace.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

// What clockd_summary() makes of a daemon with nothing wrong, and so.
Json clockd_of(const Json &other)
{
	Json summary = {{"running", true}, {"told", 3}, {"silent", Json::array()}, {"troubled", 0}, {"left_out", Json::array()},
			{"error_max_ns", 800}, {"kernel", nullptr}, {"answered", true},
			{"coordinator", {{"address", "10.0.0.1"}, {"trouble", nullptr}}}};

	if (!other.is_null())
		summary.update(other);
	return summary;
}

Json healthy()
{
	Json module = {{"name", "tcp_timely"}, {"loaded", true}, {"disk", true}, {"stale", false}, {"differ", ""},
		       {"wanted", true}, {"in_effect", true}, {"signer", "ours"}, {"held_by", ""}};

	return {{"kernel", "6.12.9"}, {"modules", {module}}, {"dkms", true}, {"kernels_without_headers", Json::array()},
		{"signing", {{"enforced", ""}, {"keys", nullptr}}}, {"tc_plugin", true}, {"others", Json::array()}, {"default_congestion", "cubic"},
		{"default_route", true}, {"has_usec", true}, {"keys", {1}},
		{"default_qdisc", "fq_codel"}, {"left_qdiscs", Json::array()}, {"t_low_us", 24}, {"config", nullptr},
		{"own_clock_error_ns", nullptr},
		{"onramp_stats", {{"refused_mac", 0}, {"refused_key", 0}}},
		{"timely_counters", {{"samples", 5000}, {"events_high", 10}}}, {"namespace", with_devices(10, 100, 2)},
		{"clockd", clockd_of({})}, {"clockd_configured", true},
		{"devices", {{{"name", "eth0"}, {"onramp", true}, {"root", "mq"}, {"tx_queues", 8}, {"rx_usecs", 8},
			      {"rx_frames", 0}, {"adaptive_rx", false}, {"speed_mbps", 10000}, {"timely", false},
			      {"stamps", "nic"}, {"threshold_ns", 50000}, {"pause_max_us", 50000}, {"rto_min_us", 200000}}}}};
}

// The checks that are not fine, with their severity.
std::string wrong(const Json &facts)
{
	std::string text;

	for (const Finding &finding : examine(facts)) {
		if (finding.severity == Severity::fine)
			continue;
		text += (text.empty() ? "" : " ") + finding.check + ":" + severity_name(finding.severity);
		EXPECT_FALSE(finding.why.empty() || finding.mend.empty()) << finding.check;
	}
	return text;
}

// healthy() but for one thing
std::string wrong_with(const char *pointer, const Json &value)
{
	Json facts = healthy();

	facts[Json::json_pointer(pointer)] = value;
	return wrong(facts);
}

std::string mend_of(const Json &facts, const std::string &check)
{
	for (const Finding &finding : examine(facts))
		if (finding.check == check)
			return finding.mend;
	return "";
}

TEST(Doctor, healthy__is_fine)
{
	EXPECT_EQ(wrong(healthy()), "");
	EXPECT_EQ(exit_status(examine(healthy())), 0);
}

// A kernel that takes signed modules alone; keys: those that it knows.
Json with_signing(const char *signer, const Json &keys)
{
	Json facts = healthy();

	facts["signing"] = {{"enforced", "lockdown=integrity"}, {"keys", keys}};
	facts["modules"][0]["loaded"] = false;
	facts["modules"][0]["signer"] = signer;
	return facts;
}

TEST(Doctor, secure_boot__by_who_signed)
{
	EXPECT_EQ(wrong(with_signing("", {"ours"})), "secure-boot:broken");
	EXPECT_EQ(wrong(with_signing("ours", {"theirs"})), "secure-boot:broken");
	EXPECT_EQ(wrong(with_signing("ours", {"theirs", "ours"})), "");
	EXPECT_EQ(wrong(with_signing("ours", nullptr)), "secure-boot:warning");
	EXPECT_EQ(wrong_with("/modules/0/signer", ""), "");
	Json loaded = with_signing("", {"ours"});
	loaded["modules"][0]["loaded"] = true;
	EXPECT_EQ(wrong(loaded), "");
	Json missing = with_signing("", {"ours"});
	missing["modules"][0]["disk"] = false;
	EXPECT_EQ(wrong(missing), "module:broken");
}

TEST(Facts, signing__enforced_by_kernel_or_firmware)
{
	char name[] = "/tmp/turnpike-signing.XXXXXX";
	std::string root = mkdtemp(name);
	auto write = [&](const char *path, const char *text) {
		fs::create_directories(fs::path(root + path).parent_path());
		std::ofstream(root + path) << text << '\n';
	};

	EXPECT_EQ(signing_enforced_by(root, false), "");
	EXPECT_EQ(signing_enforced_by(root, true), "Secure Boot");
	write("/sys/kernel/security/lockdown", "[none] integrity confidentiality");
	// Of a kernel that does not care what the firmware says.
	EXPECT_EQ(signing_enforced_by(root, true), "");
	write("/sys/kernel/security/lockdown", "none [integrity] confidentiality");
	EXPECT_EQ(signing_enforced_by(root, false), "lockdown=integrity");
	write("/sys/module/module/parameters/sig_enforce", "N");
	EXPECT_EQ(signing_enforced_by(root, false), "lockdown=integrity");
	write("/sys/module/module/parameters/sig_enforce", "Y");
	EXPECT_EQ(signing_enforced_by(root, false), "module.sig_enforce");
	fs::remove_all(root);
}

Socket held_socket(unsigned state, std::uint8_t last)
{
	Socket socket = socket_of("timely", 30);
	const std::uint8_t local[4] = {10, 1, 0, 1}, remote[4] = {10, 1, 0, last};

	socket.state = state;
	socket.ends = {mapped_address(local, true), mapped_address(remote, true), 80, 5001};
	return socket;
}

TEST(Facts, holders__of_all_namespaces)
{
	Holders here = {"", "cubic", {held_socket(1, 2)}};
	Holders there = {"b", "timely", {held_socket(1, 2), held_socket(1, 3), held_socket(1, 4)}, {"eth0"}};

	EXPECT_EQ(holders_of({"tcp_timely"}, {here, there}),
		  "1 connection (to 10.1.0.2:5001), 3 connections (to 10.1.0.2:5001, to 10.1.0.3:5001, ...) in network namespace b, "
		  "the default congestion control in network namespace b");
	EXPECT_EQ(holders_of({"sch_onramp"}, {here, there}), "onramp on eth0 in network namespace b");
	EXPECT_EQ(holders_of({"tlt"}, {here, there}), "");
}

TEST(Facts, holders__of_each_kind)
{
	auto held = [](std::vector<unsigned> states) {
		Holders here;
		for (unsigned state : states)
			here.sockets.push_back(held_socket(state, 2));
		return holders_of({"tcp_timely"}, {here});
	};

	EXPECT_EQ(held({10}), "1 listener (10.1.0.1:80)");
	EXPECT_EQ(held({8, 8}), "2 connections that the peer closed (to 10.1.0.2:5001, to 10.1.0.2:5001)");
	EXPECT_EQ(held({4, 5, 9, 11}), "4 closing connections (to 10.1.0.2:5001, to 10.1.0.2:5001, ...)");
	EXPECT_EQ(held({7, 13}), "2 sockets without a connection (10.1.0.1:80, 10.1.0.1:80)");
	EXPECT_EQ(held({3, 10}), "1 connection (to 10.1.0.2:5001), 1 listener (10.1.0.1:80)");
}

// As igb holds nicstamp.
TEST(Facts, holders__that_are_modules_or_unknown)
{
	char name[] = "/tmp/turnpike-holders.XXXXXX";
	std::string sysfs = mkdtemp(name);

	fs::create_directories(sysfs + "/nicstamp/holders/igb");
	fs::create_directories(sysfs + "/nicstamp/holders/e1000e");
	std::ofstream(sysfs + "/nicstamp/refcnt") << "2\n";
	EXPECT_EQ(holders_of(held_module("nicstamp", sysfs), {}), "module e1000e, module igb");
	fs::create_directories(sysfs + "/tlt");
	std::ofstream(sysfs + "/tlt/refcnt") << "1\n";
	EXPECT_EQ(holders_of(held_module("tlt", sysfs), {}).substr(0, 12), "1 reference ");
	std::ofstream(sysfs + "/tlt/refcnt") << "0\n";
	EXPECT_EQ(holders_of(held_module("tlt", sysfs), {}), "");
	EXPECT_EQ(holders_of(held_module("sch_onramp", sysfs), {}), "");
	fs::remove_all(sysfs);
}

TEST(Doctor, held__by_whom)
{
	Json facts = healthy();

	facts["modules"][0]["held_by"] = "1 connection";
	EXPECT_EQ(wrong(facts), "");
	// The file may still name it.
	facts["modules"][0]["in_effect"] = false;
	EXPECT_EQ(wrong(facts), "held:info");
	EXPECT_NE(findings_text(examine(facts), false).find("held by 1 connection"), std::string::npos);
	facts["modules"][0]["stale"] = true;
	EXPECT_EQ(wrong(facts), "module:warning");
	EXPECT_NE(findings_text(examine(facts), false).find("held by 1 connection"), std::string::npos);
}

TEST(Facts, known_signers__by_name)
{
	EXPECT_EQ(known_signers("0fbb1ba8 I------     1 perm 1f030000     0     0 asymmetr" "i Debian Secure Boot CA: X509.rsa "
				"a8d54bbb []\n1bdcb7f8 I--Q---     4 perm 1f3f0000     0 65534 keyring   _uid.0: 1\n"
				"1a8d5f5c I------     1 perm 1f030000     0     0 asymmetr" "i DKMS: key: X509.rsa 0a1b2c3d []\n"),
		  (Json{"Debian Secure Boot CA", "DKMS: key"}));
	EXPECT_TRUE(known_signers("").is_null());
}

TEST(Doctor, modules__missing_or_stale)
{
	Json gone = {{"name", "tlt"}, {"loaded", false}, {"disk", false}, {"stale", false}, {"wanted", true},
		     {"in_effect", false}, {"signer", ""}, {"held_by", ""}};

	EXPECT_EQ(wrong_with("/modules/0", gone), "module:broken");
	gone["wanted"] = false;
	EXPECT_EQ(wrong_with("/modules/0", gone), "module:info");
	// As when the build of an upgrade failed; without DKMS somebody loaded it from elsewhere.
	EXPECT_EQ(wrong_with("/modules/0/disk", false), "module:warning");
	Json by_hand = healthy();
	by_hand["modules"][0]["disk"] = false;
	by_hand["dkms"] = false;
	EXPECT_EQ(wrong(by_hand), "");
	EXPECT_EQ(wrong_with("/modules/0/stale", true), "module:warning");
	Json old = healthy();
	old["modules"][0].update({{"stale", true}, {"differ", "1 is loaded, 2 is on disk"}});
	EXPECT_EQ(examine(old)[0].what, "tcp_timely is loaded in another version than the one on disk: 1 is loaded, 2 is on disk");
	// up takes what is loaded as it is, so that down comes first.
	EXPECT_EQ(examine(old)[0].mend, "turnpike down; rmmod tcp_timely, if it stays, when nothing uses it; turnpike up as "
					"before. Or restart the host");
	old["modules"][0]["wanted"] = false;
	EXPECT_EQ(examine(old)[0].mend, "rmmod tcp_timely && modprobe tcp_timely, when nothing uses it. Or restart the host");
	EXPECT_EQ(wrong_with("/kernels_without_headers", {"6.12.9"}), "headers:warning");
	Json facts = healthy();
	facts["dkms"] = false;
	facts["kernels_without_headers"] = {"6.12.9"};
	EXPECT_EQ(wrong(facts), "");
	EXPECT_EQ(wrong_with("/tc_plugin", false), "tc-plugin:warning");
	EXPECT_EQ(wrong_with("/tc_plugin", nullptr), "tc-plugin:warning");
}

// DKMS of Debian 13 asks for no headers, and says nothing more of it.
TEST(Doctor, modules__mended_by_what_is_missing)
{
	Json facts = healthy();

	facts["modules"][0]["loaded"] = facts["modules"][0]["disk"] = false;
	EXPECT_EQ(mend_of(facts, "module"), "dkms autoinstall, and see what it says; dkms status");
	facts["kernels_without_headers"] = {"6.1.0", "6.12.9"};
	EXPECT_EQ(mend_of(facts, "module"), "apt install linux-headers-6.12.9: DKMS has the sources, and builds them then");
	facts["dkms"] = false;
	EXPECT_EQ(mend_of(facts, "module"), "apt install turnpike-dkms, or make install");
}

TEST(Doctor, default__is_not_for_the_internet)
{
	EXPECT_EQ(wrong_with("/default_congestion", "timely"), "default:broken");
	Json facts = healthy();
	facts["default_congestion"] = "timely_patched";
	facts["default_route"] = false;
	EXPECT_EQ(wrong(facts), "");
	facts = healthy();
	facts["default_congestion"] = "timely";
	EXPECT_EQ(exit_status(examine(facts)), 2);
}

TEST(Doctor, device__what_hides_in_it)
{
	EXPECT_EQ(wrong_with("/devices/0/rx_usecs", 50), "");
	EXPECT_EQ(wrong_with("/devices/0/rx_usecs", 51), "coalescing:warning");
	EXPECT_EQ(wrong_with("/devices/0/rx_usecs", nullptr), "");
	EXPECT_EQ(wrong_with("/devices/0/speed_mbps", nullptr), "speed:warning");
	EXPECT_EQ(wrong_with("/devices/0/root", "onramp"), "queues:warning");
	Json facts = healthy();
	facts["devices"][0]["root"] = "onramp";
	facts["devices"][0]["tx_queues"] = 1;
	EXPECT_EQ(wrong(facts), "");
}

// Of what is on the device: On-Ramp's threshold, timely's t_low.
TEST(Doctor, coalescing__against_what_it_disturbs)
{
	EXPECT_EQ(wrong_with("/devices/0/threshold_ns", 8000), "");
	EXPECT_EQ(wrong_with("/devices/0/threshold_ns", 7999), "coalescing:warning");
	Json facts = healthy();
	facts["devices"][0].update({{"timely", true}, {"rx_usecs", 24}});
	EXPECT_EQ(wrong(facts), "");
	facts["devices"][0]["rx_usecs"] = 25;
	EXPECT_EQ(wrong(facts), "coalescing:warning");
	EXPECT_NE(findings_text(examine(facts), false).find("timely's t_low"), std::string::npos);
	// The paper's 0 of fine pacing says nothing of a NIC.
	facts["t_low_us"] = 0;
	EXPECT_EQ(wrong(facts), "");
	facts["t_low_us"] = nullptr;
	EXPECT_EQ(wrong(facts), "");
	// Without either it is a device that somebody asked for.
	facts["devices"][0].update({{"timely", false}, {"threshold_ns", nullptr}, {"rx_usecs", 50}});
	EXPECT_EQ(wrong(facts), "");
}

TEST(Doctor, coalescing__by_frames_or_by_load)
{
	Json facts = healthy();

	facts["devices"][0].update({{"rx_usecs", 200}, {"rx_frames", 1}});
	EXPECT_EQ(wrong(facts), "");
	facts["devices"][0]["rx_frames"] = 2;
	EXPECT_EQ(wrong(facts), "coalescing:warning");
	facts["devices"][0].update({{"rx_usecs", 8}, {"adaptive_rx", true}});
	EXPECT_EQ(wrong(facts), "coalescing:info");
	facts["devices"][0].update({{"rx_usecs", 51}, {"rx_frames", 1}});
	EXPECT_EQ(wrong(facts), "coalescing:warning");
	// What it says to try is not too long itself.
	facts["devices"][0]["threshold_ns"] = 16000;
	EXPECT_EQ(mend_of(facts, "coalescing"), "ethtool -C eth0 adaptive-rx off rx-usecs 16");
}

TEST(Doctor, qdisc__older_than_the_default)
{
	Json facts = healthy();

	facts["left_qdiscs"] = {{{"device", "eth1"}, {"kind", "fq_codel"}, {"mq", false}}};
	facts["default_qdisc"] = "onramp";
	EXPECT_EQ(wrong(facts), "qdisc:warning");
	EXPECT_EQ(mend_of(facts, "qdisc"), "tc qdisc replace dev eth1 root onramp");
	facts["left_qdiscs"][0]["mq"] = true;
	EXPECT_EQ(mend_of(facts, "qdisc"), "tc qdisc replace dev eth1 root handle 1: mq");
	facts["default_qdisc"] = "fq";
	EXPECT_EQ(wrong(facts), "qdisc:info");
	// Other namespaces do not see it.
	EXPECT_EQ(wrong_with("/default_qdisc", ""), "");
}

TEST(Doctor, rto__above_pauses)
{
	EXPECT_EQ(wrong_with("/devices/0/rto_min_us", 100000), "");
	EXPECT_EQ(wrong_with("/devices/0/rto_min_us", 99999), "rto:warning");
	EXPECT_EQ(wrong_with("/devices/0/pause_max_us", 100001), "rto:warning");
	EXPECT_EQ(wrong_with("/devices/0/pause_max_us", nullptr), "");
	EXPECT_EQ(wrong_with("/devices/0/rto_min_us", nullptr), "");
}

TEST(Doctor, stamps__are_for_those_who_ask)
{
	for (const Json &stamps : Json{"nic", "host", "none", nullptr})
		EXPECT_EQ(wrong_with("/devices/0/stamps", stamps), "");
	EXPECT_NE(findings_text(examine(healthy()), true).find("eth0 can stamp"), std::string::npos);
}

TEST(Doctor, floor__of_few_or_of_many)
{
	Json facts = healthy();
	Json &timely = facts["namespace"]["timely"];

	timely = {{"flows", 20}, {"other_flows", 0}, {"at_floor", 0}, {"retransmits", 0}, {"acked_bytes", 1}};
	EXPECT_EQ(wrong(facts), "");
	timely["at_floor"] = 1;
	EXPECT_EQ(wrong(facts), "floor:info");
	timely["at_floor"] = 2;
	EXPECT_EQ(wrong(facts), "floor:warning");
	timely["flows"] = 0;
	timely["at_floor"] = 0;
	EXPECT_EQ(wrong(facts), "");
}

TEST(Doctor, distance__of_no_datacenter)
{
	Json facts = healthy();
	Json &timely = facts["namespace"]["timely"];

	timely = {{"flows", 1}, {"other_flows", 0}, {"at_floor", 0}, {"retransmits", 0}, {"acked_bytes", 1}};
	EXPECT_EQ(wrong(facts), "");
	timely["least_rtt_p50_ns"] = 2000000;
	EXPECT_EQ(wrong(facts), "");
	timely["least_rtt_p50_ns"] = 2000001;
	EXPECT_EQ(wrong(facts), "distance:warning");
}

TEST(Doctor, counters__of_timely_that_stand_still)
{
	Json facts = healthy();
	Json &timely = facts["namespace"]["timely"];

	timely = {{"flows", 1}, {"other_flows", 0}, {"at_floor", 0}, {"retransmits", 0}, {"acked_bytes", 1000000}};
	facts["timely_counters"] = {{"flows", 1}, {"samples", 0}, {"events_high", 0}, {"dropped_no_time", 0}};
	EXPECT_EQ(wrong(facts), "counters:warning");
	timely["acked_bytes"] = 999999;
	EXPECT_EQ(wrong(facts), "");
	timely["acked_bytes"] = 1000000;
	facts["timely_counters"]["dropped_no_time"] = 1;
	EXPECT_EQ(wrong(facts), "");
	facts["timely_counters"] = nullptr;
	EXPECT_EQ(wrong(facts), "");
	// A module that counts by other names
	facts["timely_counters"] = {{"flows", 1}};
	EXPECT_EQ(wrong(facts), "");
}

// Receipts come, and none is refused; flows have feedback, and no packet had a sample.
Json unsampled()
{
	Json facts = healthy();

	facts["namespace"] = with_devices(0, 1000, 2);
	facts["namespace"]["devices"][0].update({{"ignored", 0}});
	facts["namespace"]["peers"] = {{"answering", 1}, {"silent", Json::array()}};
	facts["onramp_stats"]["receipts_taken"] = 10;
	return facts;
}

TEST(Doctor, counters__of_onramp_that_stand_still)
{
	EXPECT_EQ(wrong(unsampled()), "counters:warning");
	for (auto [pointer, value] : {std::pair<const char *, int>{"/namespace/devices/0/packets", 999},
				      {"/namespace/devices/0/ignored", 1}, {"/namespace/devices/0/flows", 0},
				      {"/namespace/devices/0/samples", 1}, {"/onramp_stats/receipts_taken", 0},
				      {"/onramp_stats/refused_flow", 1}}) {
		Json facts = unsampled();
		facts[Json::json_pointer(pointer)] = value;
		EXPECT_EQ(wrong(facts), "") << pointer;
	}
	// Without rights it cannot be told.
	Json facts = unsampled();
	facts["onramp_stats"] = nullptr;
	EXPECT_EQ(wrong(facts), "");
}

TEST(Doctor, tlt_threshold__by_timeouts)
{
	Json tlt = {{"rules", {{{"port", 1}}}}, {"flows", 1}, {"rtos", 1}, {"began", 101}, {"deaf", 0}};

	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "");
	tlt["began"] = 100;
	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "tlt-threshold:warning");
	tlt["rtos"] = 0;
	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "");
	// Of peers without TLT these are.
	tlt["rtos"] = 50;
	tlt["deaf"] = 1;
	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "tlt-peers:warning");
}

TEST(Doctor, saved__in_a_file_that_says_the_same)
{
	Json setup = {{"since", 5}, {"by", "x"}, {"differs", Json::array()}}, file = {{"error", ""}, {"differs", Json::array()}};
	Json facts = healthy();

	EXPECT_EQ(wrong_with("/namespace/setup", setup), "saved:info");
	facts["namespace"]["setup"] = setup;
	facts["config"] = file;
	EXPECT_EQ(wrong(facts), "");
	facts["config"]["differs"] = {"qdisc of eth0"};
	EXPECT_EQ(wrong(facts), "saved:warning");
	facts["config"] = {{"error", "/etc/turnpike/turnpike.conf: line 3"}, {"differs", Json::array()}};
	EXPECT_EQ(wrong(facts), "saved:warning");
	facts["config"] = {{"hidden", true}};
	EXPECT_EQ(wrong(facts), "");
	// One finding is enough where up's own changes were undone.
	facts["config"] = file;
	facts["config"]["differs"] = facts["namespace"]["setup"]["differs"] = {"qdisc of eth0"};
	EXPECT_EQ(wrong(facts), "setup:warning");
}

TEST(Doctor, clock__that_tells_less_than_the_threshold)
{
	EXPECT_EQ(wrong_with("/own_clock_error_ns", 50000), "");
	EXPECT_EQ(wrong_with("/own_clock_error_ns", 50001), "clock:warning");
}

Qdisc chosen(const char *device, const char *kind, std::uint32_t parent, std::uint32_t handle = 0)
{
	Qdisc qdisc;

	qdisc.device = device;
	qdisc.kind = kind;
	qdisc.parent = parent;
	qdisc.handle = handle;
	return qdisc;
}

TEST(Facts, left_qdiscs__that_the_kernel_chose_before)
{
	std::vector<Qdisc> qdiscs = {
		chosen("a", "pfifo_fast", TC_H_ROOT), chosen("b", "onramp", TC_H_ROOT), chosen("c", "noqueue", TC_H_ROOT),
		chosen("d", "mq", TC_H_ROOT), chosen("d", "fq_codel", 1), chosen("d", "fq_codel", 2),
		chosen("e", "fq_codel", TC_H_ROOT, 0x80010000), chosen("f", "htb", TC_H_ROOT, 0x10000), chosen("f", "pfifo", 0x10001),
		chosen("other", "pfifo_fast", TC_H_ROOT)};

	EXPECT_EQ(left_qdiscs(qdiscs, "onramp", {"a", "b", "c", "d", "e", "f"}),
		  (Json{{{"device", "a"}, {"kind", "pfifo_fast"}, {"mq", false}},
			{{"device", "d"}, {"kind", "fq_codel"}, {"mq", true}}}));
	EXPECT_EQ(left_qdiscs(qdiscs, "pfifo_fast", {"a"}).size(), 0u);
}

TEST(Facts, rto__is_the_least_of_host_and_routes)
{
	std::vector<Route> routes = parse_routes("10.1.0.0/24 dev eth0 scope link rto_min lock 5ms\n"
						 "10.2.0.0/24 dev eth1 rto_min 1.5s\n10.3.0.0/24 dev eth1\n", false);

	EXPECT_EQ(least_rto_us(routes, "eth0", 0), 5000u);
	EXPECT_EQ(least_rto_us(routes, "eth0", 4000), 4000u);
	EXPECT_EQ(least_rto_us(routes, "eth1", 0), 200000u);
	EXPECT_EQ(least_rto_us(routes, "eth1", 2000000), 1500000u);
	for (const char *none : {"", "ms", "-1ms", "5", "5min", "1e300s", "nan"})
		EXPECT_EQ(route_time_us(none), 0u) << none;
}

TEST(Doctor, status__is_that_of_the_worst)
{
	auto status_of = [](std::vector<Severity> severities) {
		std::vector<Finding> findings;

		for (Severity severity : severities)
			findings.push_back({"one", severity, "", "", ""});
		return exit_status(findings);
	};

	EXPECT_EQ(status_of({}), 0);
	EXPECT_EQ(status_of({Severity::fine, Severity::info}), 0);
	EXPECT_EQ(status_of({Severity::warning, Severity::fine}), 1);
	EXPECT_EQ(status_of({Severity::warning, Severity::broken, Severity::info}), 2);
}

// Not as a warning does.
TEST(Doctor, status__of_no_such_device_is_a_failure)
{
	Ended ended = run({TURNPIKE_COMMAND, "doctor", "nosuch0"});

	EXPECT_EQ(ended.status, 2);
	EXPECT_EQ(ended.errors, "turnpike: there is no device nosuch0\n");
}

TEST(Doctor, feedback__that_does_not_come)
{
	EXPECT_EQ(wrong_with("/namespace", without_feedback()), "feedback:warning peers:warning");
	EXPECT_EQ(wrong_with("/namespace", with_devices(0, 100, 0)), "");
	EXPECT_EQ(wrong_with("/namespace/peers", {{"answering", 1}, {"silent", {"10.0.3.9"}}}), "peers:warning");
	EXPECT_EQ(wrong_with("/namespace/devices/0/coarse", 3), "timestamps:info");
	EXPECT_EQ(wrong_with("/keys", Json::array()), "key:warning");
	EXPECT_EQ(wrong_with("/onramp_stats/refused_mac", 1), "signatures:warning");
	EXPECT_EQ(wrong_with("/timely_counters/events_high", 2501), "noise:warning");
	EXPECT_EQ(wrong_with("/timely_counters", {{"samples", 999}, {"events_high", 999}}), "");
	EXPECT_EQ(wrong_with("/timely_counters", {{"samples", 1000}, {"events_high", 999}}), "noise:warning");
	EXPECT_EQ(wrong_with("/namespace/setup", {{"since", 0}, {"by", "x"}, {"differs", {"route"}}}), "setup:warning");
}

TEST(Doctor, tlt__peers_and_rules)
{
	Json tlt = {{"rules", Json::array()}, {"flows", 1}, {"rtos", 0}, {"deaf", 0}};

	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "tlt-rules:warning");
	tlt["rules"] = {{{"port", 1}}};
	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "");
	tlt["deaf"] = 1;
	EXPECT_EQ(wrong_with("/namespace/tlt", tlt), "tlt-peers:warning");
}

TEST(Doctor, clockd__what_is_wrong_with_clocks)
{
	EXPECT_EQ(wrong_with("/clockd", nullptr), "clockd:warning");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"running", false}, {"silent", {"10.0.0.2"}}})), "clockd:warning");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"kernel", "the kernel knows no On-Ramp"}})), "clockd-kernel:warning");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"silent", {"10.0.0.2"}}})), "clockd-peers:warning");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"error_max_ns", 50001}})), "clockd-error:warning");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"error_max_ns", nullptr}})), "");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"answered", false}, {"coordinator", {{"address", "10.0.0.1"}, {"trouble", "does not answer"}}}})),
		  "clockd-coordinator:warning");
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"left_out", {{{"peer", "10.0.0.2"}, {"surplus_ns", 5000}}}}})),
		  "clockd-asymmetry:info");
	// no coordinator is none that is silent
	EXPECT_EQ(wrong_with("/clockd", clockd_of({{"answered", nullptr}, {"coordinator", nullptr}})), "");
	// nor is a host that never was to run it ill
	Json facts = healthy();
	facts["clockd"] = nullptr;
	facts["clockd_configured"] = false;
	EXPECT_EQ(wrong(facts), "");
}

TEST(Doctor, text__what_is_fine_only_if_asked)
{
	Json facts = healthy();

	facts["tc_plugin"] = false;
	std::string some = findings_text(examine(facts), false), all = findings_text(examine(facts), true);
	EXPECT_EQ(some.find("fine  "), std::string::npos);
	EXPECT_NE(all.find("fine  "), std::string::npos);
	EXPECT_NE(some.find("1 warning, 0 broken"), std::string::npos);
	EXPECT_EQ(findings_json(examine(facts))[3]["severity"], "warning");
}

class Root : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/turnpike-root.XXXXXX";

		root_ = mkdtemp(name);
	}

	void TearDown() override { fs::remove_all(root_); }

	void write(const std::string &path, const std::string &text)
	{
		fs::create_directories(fs::path(root_ + path).parent_path());
		std::ofstream(root_ + path) << text << '\n';
	}

	std::string root_;
};

TEST_F(Root, owners__by_files_and_processes)
{
	EXPECT_EQ(other_owners(root_, {"sshd"}).size(), 0u);
	EXPECT_EQ(other_owners(root_, {"bpftune"})[0]["name"], "bpftune");
	EXPECT_EQ(other_owners(root_, {"cilium-agent"})[0]["name"], "Cilium");
	write("/etc/systemd/network/10-lan.network", "[Match]\nName=eth0\n[Network]\nDHCP=yes");
	EXPECT_EQ(other_owners(root_, {}).size(), 0u);
	write("/etc/systemd/network/20-lan.network", "[FairQueueing]\nParent=root");
	EXPECT_EQ(other_owners(root_, {})[0]["sign"], root_ + "/etc/systemd/network/20-lan.network");
	fs::remove_all(root_ + "/etc/systemd");
	write("/run/systemd/network/10-netplan-eth0.network", "[CAKE]\nBandwidth=1G");
	EXPECT_EQ(other_owners(root_, {})[0]["sign"], root_ + "/run/systemd/network/10-netplan-eth0.network");
	fs::remove_all(root_ + "/run");
	write("/etc/NetworkManager/system-connections/lan", "[tc]\nqdisc.root=fq");
	EXPECT_EQ(other_owners(root_, {})[0]["name"], "NetworkManager");
	fs::remove_all(root_ + "/etc/NetworkManager");
	write("/etc/tuned/active_profile", "mine");
	write("/etc/tuned/mine/tuned.conf", "[sysctl]\nnet.core.default_qdisc=fq");
	EXPECT_EQ(other_owners(root_, {}).size(), 0u);
	EXPECT_EQ(other_owners(root_, {"tuned"})[0]["name"], "tuned");
}

TEST(Doctor, modules__that_are_wanted)
{
	Wanted wanted;
	std::set<std::string> both = {"sch_onramp", "tcp_timely"};

	EXPECT_TRUE(modules_of(wanted).empty());
	add_piece(wanted, "tlt", {"eth0"});
	EXPECT_EQ(modules_of(wanted), std::set<std::string>{"tlt"});
	wanted = {};
	add_piece(wanted, "timely", {"eth0"});
	add_piece(wanted, "onramp", {"eth0"});
	EXPECT_EQ(modules_of(wanted), both);
}

TEST_F(Root, headers__of_kernels_that_may_boot)
{
	write("/6.1.0/modules.dep", "");
	write("/6.1.0/build/Makefile", "");
	write("/6.12.0/modules.dep", "");
	write("/6.99.0/leftover", "");
	EXPECT_EQ(kernels_without_headers(root_), Json({"6.12.0"}));
}

}  // namespace
}  // namespace turnpike
