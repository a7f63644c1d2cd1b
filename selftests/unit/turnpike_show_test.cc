// SPDX-License-Identifier: GPL-2.0
//
// What turnpike status says of what it found.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "shown_namespace.h"

namespace turnpike {
namespace {

TEST(Status, timely__percentiles_of_its_own_connections)
{
	std::vector<Socket> sockets = {socket_of("cubic", 9000), socket_of("timely_patched", 1000)};

	for (std::uint32_t rtt_us = 1; rtt_us <= 99; rtt_us++)
		sockets.push_back(socket_of("timely", rtt_us));
	Json json = timely_json(sockets);
	EXPECT_EQ(json["flows"], 100);
	EXPECT_EQ(json["other_flows"], 1);
	EXPECT_EQ(json["rtt_p50_ns"], 50000);
	EXPECT_EQ(json["rtt_p99_ns"], 99000);
	EXPECT_EQ(json["retransmits"], 100);
	EXPECT_FALSE(timely_json({}).contains("rtt_p50_ns"));
	EXPECT_FALSE(json.contains("least_rtt_p50_ns"));
	for (std::size_t i = 0; i < sockets.size(); i++) {
		sockets[i].min_rtt_us = i;
		sockets[i].bytes_acked = 10;
	}
	json = timely_json(sockets);
	EXPECT_EQ(json["least_rtt_p50_ns"], 50000);
	EXPECT_EQ(json["acked_bytes"], 1000);
}

TEST(Status, onramp__queues_of_a_device_are_one)
{
	Qdisc other = queue("eth0", 9, 9, 9);

	other.kind = "fq";
	Json devices = onramp_json({queue("eth0", 10, 7000, 90000), queue("eth1", 0, 1, 1), other,
				    queue("eth0", 30, 5000, 60000)});
	ASSERT_EQ(devices.size(), 2u);
	EXPECT_EQ(devices[0]["queues"], 2);
	EXPECT_EQ(devices[0]["samples"], 40);
	EXPECT_EQ(devices[0]["delay_p50_ns"], 5000);
	EXPECT_EQ(devices[0]["delay_p99_ns"], 90000);
	EXPECT_EQ(devices[0]["held_packets"], 10);
	EXPECT_EQ(devices[0]["ignored"], 12);
	EXPECT_EQ(devices[0]["held_ns"], 1400);
	EXPECT_EQ(devices[0]["line_rate_bps"], 10000000000);
	EXPECT_FALSE(devices[1].contains("delay_p50_ns"));
	// A module that tells less than this command knows.
	Qdisc old = queue("eth2", 1, 1, 1);
	old.app.resize(8);
	EXPECT_EQ(onramp_json({old})[0]["samples"], 0);
}

TEST(Status, verdict__by_what_there_is)
{
	EXPECT_EQ(verdict(space()).substr(0, 3), "off");
	EXPECT_EQ(verdict(with_devices(10, 100, 2)), "working");
	EXPECT_EQ(verdict(with_devices(10, 100, 0)).substr(0, 4), "idle");
	EXPECT_EQ(verdict(with_devices(0, 100, 0)).substr(0, 4), "idle");
	EXPECT_NE(verdict(without_feedback()).find("no feedback"), std::string::npos);
	Json coarse = with_devices(0, 100, 0);
	coarse["devices"][0]["coarse"] = 1;
	EXPECT_NE(verdict(coarse).find("no feedback"), std::string::npos);
	Json timely = space();
	timely["timely"] = timely_json({socket_of("timely", 10)});
	EXPECT_EQ(verdict(timely), "working");
	timely["setup"] = {{"since", 0}, {"by", "root"}, {"differs", {"route"}}};
	EXPECT_NE(verdict(timely).find("turnpike diff"), std::string::npos);
}

Json timely_of(unsigned flows, unsigned at_floor)
{
	Json one = space();

	one["timely"] = {{"flows", flows}, {"other_flows", 0}, {"at_floor", at_floor}, {"retransmits", 0}, {"default", "cubic"}};
	return one;
}

Json tlt_of(unsigned flows, unsigned deaf)
{
	Json one = space();

	one["tlt"] = {{"rules", Json::array()}, {"flows", flows}, {"deaf", deaf}, {"rtos", 0}};
	return one;
}

TEST(Status, verdict__floor_rate_is_no_effect)
{
	EXPECT_EQ(verdict(timely_of(4, 3)), "working");
	EXPECT_EQ(verdict(timely_of(4, 4)), "no effect because all flows of timely are at their least rate: turnpike doctor says more");
	EXPECT_EQ(verdict(timely_of(0, 0)).substr(0, 3), "off");
}

TEST(Status, verdict__deaf_peers_are_no_effect)
{
	EXPECT_EQ(verdict(tlt_of(4, 3)), "working");
	EXPECT_EQ(verdict(tlt_of(4, 4)), "no effect because no peer of TLT answers its marks: turnpike doctor says more");
	EXPECT_EQ(verdict(tlt_of(0, 0)).substr(0, 4), "idle");
}

TEST(Status, verdict__names_each_piece_that_does_nothing)
{
	Json one = without_feedback();

	one["timely"] = timely_of(2, 0)["timely"];
	EXPECT_EQ(verdict(one), "working, but onramp on eth0 gets no feedback: turnpike doctor says more");
	one["timely"] = timely_of(2, 2)["timely"];
	EXPECT_EQ(verdict(one), "no effect because all flows of timely are at their least rate, and onramp on eth0 gets no "
				"feedback: turnpike doctor says more");
}

TEST(Status, text__tells_of_flows_at_the_least_rate)
{
	Json one = timely_of(0, 0);

	one["timely"]["at_floor"] = 3;
	one["verdict"] = "";
	Json status = {{"version", "0.2.0"}, {"host", "db17"}, {"kernel", "6.12.9"}, {"namespaces", {one}}};
	EXPECT_NE(status_text(status, 0).find(", 3 at the least rate; 0 with others"), std::string::npos);
}

TEST(Status, text__fits_a_terminal_and_names_all)
{
	Json one = with_devices(10, 100, 2);

	one["timely"] = timely_json({socket_of("timely", 31), socket_of("cubic", 5)});
	one["timely"]["default"] = "cubic";
	one["peers"] = {{"answering", 17}, {"silent", {"10.0.3.9"}}};
	one["tlt"] = {{"rules", {{{"port", 5000}}}}, {"flows", 96}, {"rtos", 0}, {"deaf", 2}};
	one["setup"] = {{"since", 1000}, {"by", "ann"}, {"differs", Json::array()}};
	one["verdict"] = "working";
	Json status = {{"version", "0.2.0"}, {"host", "db17"}, {"kernel", "6.12.9"}, {"namespaces", {one}}};
	EXPECT_EQ(status_text(status, 1000 + 3 * 86400),
		  "turnpike 0.2.0 on db17, Linux 6.12.9\n"
		  "timely   1 flow, RTT p50 31.0 us, p99 31.0 us, 1 segment sent again; 1 with others, cubic by default\n"
		  "onramp   eth0: 2 flows, queueing delay p50 5.00 us, p99 60.0 us, 5.0 % of packets held, 1 drop\n"
		  "         17 hosts with receipts, 1 without: 10.0.3.9\n"
		  "tlt      port=5000: 96 flows, 0 timeouts, 2 peers without TLT\n"
		  "set up   by ann, 3 days ago; all of it stands\n"
		  "verdict  working\n");
}

TEST(Status, text__tells_of_stamps_clocks_and_the_file)
{
	Json one = timely_of(1, 0);
	Json ports = {{{"dev", "eth0"}, {"netns", 7}, {"clock", "nic"}, {"error_ns", 41}}, {{"dev", "eth1"}, {"netns", 8}, {"clock", "host"}},
		      {{"dev", "eth2"}, {"netns", 7}, {"clock", "host"}, {"rx_clock", "nic"}}};
	Json clocks = {{"own_error_ns", 180}, {"peers", {{{"error_ns", 300}, {"grade", "a"}}, {{"error_ns", 800}, {"grade", "a"}},
							 {{"error_ns", 20}, {"grade", nullptr}}}}};

	one["timely"]["devices"] = {"eth0", "eth1"};
	one["stamps"] = stamps_json(ports, 7);
	one["clock"] = clock_json(clocks);
	one["verdict"] = "working";
	Json status = {{"version", "0.2.0"}, {"host", "db17"}, {"kernel", "6.12.9"}, {"namespaces", {one}},
		       {"file", {{"path", "/etc/turnpike/turnpike.conf"}, {"differs", Json::array()}, {"trouble", nullptr}}}};
	EXPECT_EQ(status_text(status, 0),
		  "turnpike 0.2.0 on db17, Linux 6.12.9\n"
		  "timely   1 flow, RTT p50 -, p99 -, 0 segments sent again; by routes of eth0, eth1; 0 with others, cubic by default\n"
		  "stamps   eth0 by nic, error 41 ns; eth2 by host, received by nic\n"
		  "clock    own right to 180 ns; 3 peers, known to 800 ns at worst, 2 in grade a\n"
		  "verdict  working\n"
		  "file     /etc/turnpike/turnpike.conf: as in the kernel\n");
	status["file"]["differs"] = {"qdisc of eth0"};
	EXPECT_NE(status_text(status, 0).find("turnpike.conf: differs from the kernel: turnpike diff\n"), std::string::npos);
	status["file"]["trouble"] = "cannot read it";
	EXPECT_NE(status_text(status, 0).find("file     cannot read it\n"), std::string::npos);
	EXPECT_TRUE(stamps_json(ports, 9).is_null());
	EXPECT_TRUE(stamps_json(nullptr, 7).is_null());
	EXPECT_TRUE(clock_json({{"own_error_ns", nullptr}, {"peers", Json::array()}}).is_null());
	EXPECT_TRUE(clock_json(nullptr).is_null());
}

TEST(Status, device__kept_for_whatever_is_on_it)
{
	Json one = with_devices(10, 100, 2), status;
	auto keeps = [&](const char *device) {
		status = {{"namespaces", {one}}};
		return keep_device(status, device);
	};

	one["timely"] = {{"flows", 1}, {"devices", {"eth1"}}};
	one["stamps"] = {{{"name", "eth2"}}};
	EXPECT_TRUE(keeps("eth0"));
	EXPECT_EQ(status["namespaces"][0]["devices"].size(), 1u);
	EXPECT_TRUE(status["namespaces"][0]["stamps"].is_null());
	EXPECT_TRUE(keeps("eth1"));
	EXPECT_TRUE(status["namespaces"][0]["devices"].empty());
	EXPECT_TRUE(keeps("eth2"));
	EXPECT_FALSE(keeps("eth3"));
	one["timely"] = nullptr;
	EXPECT_FALSE(keeps("eth1"));
}

TEST(Status, stale__is_told_before_the_namespaces)
{
	Json one = space();

	one["verdict"] = "idle";
	Json status = {{"version", "0.2.0"}, {"host", "db17"}, {"kernel", "6.12.9"}, {"namespaces", {one}}};
	status["stale"] = stale_json({{"tlt", ModuleBuild{"0.2.0", "AB"}, ModuleBuild{"0.3.0", "CD"}}});
	EXPECT_EQ(status_text(status, 0),
		  "turnpike 0.2.0 on db17, Linux 6.12.9\n"
		  "module   tlt: 0.2.0 is loaded, 0.3.0 is on disk; turnpike doctor says how to load that\n"
		  "verdict  idle\n");
	status["stale"] = stale_json({});
	EXPECT_EQ(status_text(status, 0), "turnpike 0.2.0 on db17, Linux 6.12.9\nverdict  idle\n");
}

}  // namespace
}  // namespace turnpike
