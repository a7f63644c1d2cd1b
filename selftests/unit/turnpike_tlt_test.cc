// SPDX-License-Identifier: GPL-2.0
// turnpike tlt: tools/turnpike/tlt.cc

#include <string>

#include <gtest/gtest.h>

#include "command.h"
#include "tlt.h"

namespace {

using turnpike::Error;
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

TEST(TltRule, other_names__are_refused)
{
	expect_refused("gid=1", "dev, port, peer, uid and cgroup, not 'gid'");
}

}  // namespace
