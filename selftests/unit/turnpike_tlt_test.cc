// SPDX-License-Identifier: GPL-2.0
// turnpike tlt: tools/turnpike/tlt.cc

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "command.h"
#include "tlt.h"

namespace {

using turnpike::Error;
using turnpike::tlt_bytes;
using turnpike::tlt_threshold;
using turnpike::TltSwitch;
using turnpike::TltThreshold;
using turnpike::tlt_rule;
using turnpike::TltRule;

// What is thrown says `words'.
void expect_refused(const std::string &text, const std::string &words)
{
	try {
		tlt_rule(text);
		ADD_FAILURE() << "accepted: " << text;
	} catch (const Error &error) {
		EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
			<< text << ": " << error.what();
	}
}

TEST(TltRule, all_parts__are_read)
{
	TltRule rule = tlt_rule("cgroup=/a/b.slice,uid=1000-1999,peer=10.1.0.0/24,port=5-6,dev=eth0");

	EXPECT_EQ(rule.device, "eth0");
	EXPECT_EQ(rule.port_low, 5);
	EXPECT_EQ(rule.port_high, 6);
	EXPECT_EQ(rule.address, (std::vector<std::uint8_t>{10, 1, 0, 0}));
	EXPECT_EQ(rule.prefix, 24u);
	EXPECT_TRUE(rule.by_uid);
	EXPECT_EQ(rule.uid_low, 1000u);
	EXPECT_EQ(rule.uid_high, 1999u);
	EXPECT_EQ(rule.cgroup, "/a/b.slice");
}

TEST(TltRule, what_is_not_given__is_any)
{
	TltRule rule = tlt_rule("port=80");

	EXPECT_EQ(rule.port_high, 80);
	EXPECT_FALSE(rule.by_uid);
	EXPECT_TRUE(rule.cgroup.empty());
	EXPECT_TRUE(rule.device.empty());
	EXPECT_TRUE(rule.address.empty());
}

TEST(TltRule, one_user__is_a_range_of_one)
{
	TltRule root = tlt_rule("uid=0"), last = tlt_rule("uid=4294967294");

	EXPECT_TRUE(root.by_uid);
	EXPECT_EQ(root.uid_low, 0u);
	EXPECT_EQ(root.uid_high, 0u);
	EXPECT_EQ(last.uid_low, 4294967294u);
	EXPECT_EQ(last.uid_high, 4294967294u);
}

TEST(TltRule, users_that_are_none__are_refused)
{
	for (const char *text : {"uid=4294967295", "uid=-1", "uid=root", "uid=1-", "uid=1-2-3",
				 "uid=0-4294967295", "uid=1.5", "uid=99999999999999999999"})
		expect_refused(text, "0 to 4294967294");
	expect_refused("uid=2-1", "users '2-1' ends before");
	expect_refused("uid=1,uid=2", "given twice");
	expect_refused("uid=", "not NAME=VALUE");
}

TEST(TltRule, cgroups_that_are_none__are_refused)
{
	std::string longest = "cgroup=/" + std::string(TLT_CGROUP_PATH_MAX - 2, 'a');

	expect_refused("cgroup=a/b", "begins with /");
	expect_refused(longest + "a", "at most 511 bytes");
	EXPECT_EQ(tlt_rule(longest).cgroup.size(), TLT_CGROUP_PATH_MAX - 1u);
}

TEST(TltRule, nothing_at_all__is_not_all_tcp)
{
	expect_refused("", "has to follow");
	expect_refused(",", "has to follow");
	expect_refused("port=5,", "has to follow");
	expect_refused(",port=5", "not NAME=VALUE");
	expect_refused("port=5,,uid=1", "not NAME=VALUE");
}

TEST(TltRule, numbers_of_another_base__are_no_surprise)
{
	for (const char *text : {"port=010", "port=00", "port=+5", "port= 5", "port=1-010", "port=0x",
				 "port=08"})
		expect_refused(text, "is not a number");
	EXPECT_EQ(tlt_rule("port=0x50").port_low, 80);
	EXPECT_EQ(tlt_rule("uid=0").uid_low, 0u);
}

TEST(TltRule, other_names__are_refused)
{
	expect_refused("gid=1", "dev, port, peer, uid and cgroup, not 'gid'");
}

// Section 4.2: a 12 MB buffer, K and BDP 400 KB, alpha 1 and 16 congested ports.
constexpr TltSwitch kPapers = {.bdp_bytes = 400e3, .buffer_bytes = 12e6, .ports = 16};

TEST(TltThreshold, papers_example__has_the_papers_figures)
{
	TltThreshold t = tlt_threshold(kPapers);

	EXPECT_EQ(t.k_bytes, 400e3);
	EXPECT_NEAR(t.port_bytes, 12e6 / 17, 1);
	EXPECT_NEAR(t.reserve_bytes, 12e6 / 17 - 400e3, 1);
	EXPECT_EQ(t.flows_per_port, 203u);
	EXPECT_EQ(t.flows, 3248u);
}

TEST(TltThreshold, alpha__is_a_ports_share_of_what_is_left)
{
	TltSwitch sw = {.bdp_bytes = 100e3, .buffer_bytes = 8e6, .alpha = 0.5, .ports = 4};

	// alpha B / (1 + M alpha)
	EXPECT_NEAR(tlt_threshold(sw).port_bytes, 0.5 * 8e6 / 3, 1);
	sw.alpha = 8;
	EXPECT_NEAR(tlt_threshold(sw).port_bytes, 8 * 8e6 / 33, 1);
	sw.ports = 1;
	sw.alpha = 1;
	EXPECT_EQ(tlt_threshold(sw).port_bytes, 4e6);
}

TEST(TltThreshold, k__is_no_less_than_bdp_and_ecn_and_may_be_given)
{
	TltSwitch sw = kPapers;

	sw.ecn_bytes = 300e3;
	EXPECT_EQ(tlt_threshold(sw).k_bytes, 400e3);
	sw.ecn_bytes = 500e3;
	EXPECT_EQ(tlt_threshold(sw).k_bytes, 500e3);
	sw.k_bytes = 200e3;
	EXPECT_EQ(tlt_threshold(sw).k_bytes, 200e3);
	EXPECT_NEAR(tlt_threshold(sw).reserve_bytes, 12e6 / 17 - 200e3, 1);
}

TEST(TltThreshold, flows__are_whole_packets_of_the_reserve)
{
	TltSwitch sw = {.bdp_bytes = 1000, .buffer_bytes = 8000, .packet_bytes = 1500};

	EXPECT_EQ(tlt_threshold(sw).flows, 2u);
	sw.packet_bytes = 1501;
	EXPECT_EQ(tlt_threshold(sw).flows, 1u);
}

TEST(TltThreshold, k_above_a_ports_share__leaves_nothing)
{
	TltSwitch sw = {.bdp_bytes = 400e3, .buffer_bytes = 600e3};
	TltThreshold t = tlt_threshold(sw);

	EXPECT_EQ(t.reserve_bytes, 0);
	EXPECT_EQ(t.flows, 0u);
}

TEST(TltThreshold, nothing__is_refused)
{
	EXPECT_THROW(tlt_threshold({.bdp_bytes = 0, .buffer_bytes = 12e6}), Error);
	EXPECT_THROW(tlt_threshold({.bdp_bytes = 400e3, .buffer_bytes = 0}), Error);
}

TEST(TltThreshold, most_that_can_be_asked__does_not_overflow)
{
	TltSwitch sw = {.bdp_bytes = 1, .buffer_bytes = tlt_bytes("1000000M"), .alpha = 1000,
			.ports = 4096, .packet_bytes = 64};
	TltThreshold t = tlt_threshold(sw);

	EXPECT_EQ(t.flows, t.flows_per_port * 4096);
	EXPECT_NEAR(static_cast<double>(t.flows), 1e12 / 64, 1e7);
}

TEST(TltBytes, units__are_decimal)
{
	EXPECT_EQ(tlt_bytes("0"), 0);
	EXPECT_EQ(tlt_bytes("12000000"), 12e6);
	EXPECT_EQ(tlt_bytes("400k"), 400e3);
	EXPECT_EQ(tlt_bytes("1.8M"), 1.8e6);
}

TEST(TltBytes, what_is_none__is_refused)
{
	for (const char *text : {"", "k", "-1", "1G", "1kk", "ten", "nan", "inf", "0x10", "1e5",
				 "1 k", "1e400", "1000001M", "99999999999999999999999"})
		EXPECT_THROW(tlt_bytes(text), Error) << text;
}

struct Ended {
	int status;
	std::string output;
};

// Standard output and error of `turnpike tlt'.
Ended tlt(const std::string &arguments)
{
	std::string line = TURNPIKE_COMMAND " tlt " + arguments + " 2>&1";
	FILE *pipe = popen(line.c_str(), "r");
	Ended ended{0, ""};
	char buffer[4096];

	while (std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe))
		ended.output.append(buffer, got);
	ended.status = WEXITSTATUS(pclose(pipe));
	return ended;
}

void expect_ends(const std::string &arguments, int status, const std::string &words)
{
	Ended ended = tlt("threshold " + arguments);

	EXPECT_EQ(ended.status, status) << arguments << ": " << ended.output;
	EXPECT_NE(ended.output.find(words), std::string::npos)
		<< arguments << ": " << ended.output;
}

TEST(TltThresholdCommand, papers_example__is_printed)
{
	expect_ends("--bdp 400k --buffer 12M --ports 16", 0, "203 a port, 3248 in all");
	expect_ends("--bdp 400k --buffer 12M --ports 16 -j", 0, "\"flows_per_port\": 203");
	expect_ends("--bdp 400k --buffer 12M --ports 16 -j", 0, "\"flows\": 3248");
	expect_ends("--bdp 400k --buffer 12M --ports 16 --ecn 500k", 0, "K 500.00 KB");
	expect_ends("--bdp 400k --buffer 12M --ports 16 --mtu 9000", 0, "33 a port, 528 in all");
}

// In one queue with packets of hosts without TLT, TLT's starve.
TEST(TltThresholdCommand, queue_of_their_own__is_told)
{
	expect_ends("--bdp 400k --buffer 12M", 0, "where TLT's packets have a queue of their own");
}

TEST(TltSetCommand, queue_of_their_own__is_told)
{
	Ended ended = tlt("set --help");

	EXPECT_EQ(ended.status, 0);
	EXPECT_NE(ended.output.find("Switches need a queue for TLT's packets alone"),
		  std::string::npos) << ended.output;
	EXPECT_NE(ended.output.find("turnpike tlt threshold"), std::string::npos) << ended.output;
}

TEST(TltThresholdCommand, missing__is_told)
{
	expect_ends("--buffer 12M", 64, "--bdp is required");
	expect_ends("--bdp 400k", 64, "--buffer is required");
}

TEST(TltThresholdCommand, nonsense__is_refused)
{
	expect_ends("--bdp 0 --buffer 12M", 2, "K would be 0");
	expect_ends("--bdp 400k --buffer 0", 2, "more than 0 bytes");
	expect_ends("--bdp x --buffer 12M", 2, "no number of bytes");
	expect_ends("--bdp 400k --buffer 2000000M", 2, "more than a switch has");
	expect_ends("--bdp 400k --buffer 12M --ports 0", 64, "--ports");
	expect_ends("--bdp 400k --buffer 12M --ports 99999999999", 64, "--ports");
	expect_ends("--bdp 400k --buffer 12M --alpha 0", 64, "--alpha");
	expect_ends("--bdp 400k --buffer 12M --mtu 0", 64, "--mtu");
}

// Scripts see it as people do.
TEST(TltThresholdCommand, no_room__fails_in_json_too)
{
	expect_ends("--bdp 400k --buffer 600k", 2, "no room for important packets");
	expect_ends("--bdp 400k --buffer 600k -j", 2, "no room for important packets");
	expect_ends("--bdp 400k --buffer 600k -j", 2, "\"reserve_bytes\": 0.0");
}

}  // namespace
