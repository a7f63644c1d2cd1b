// SPDX-License-Identifier: GPL-2.0
// Who may be asked for receipts: sch_onramp/orack/orack_ask.h

#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_ask.h"

namespace {

struct Address {
	explicit Address(const char *text)
	{
		std::string mapped = std::strchr(text, ':') ? text : std::string("::ffff:") + text;

		EXPECT_EQ(inet_pton(AF_INET6, mapped.c_str(), bytes), 1) << text;
	}

	u8 bytes[16];
};

orack_prefix Prefix(const char *text, u8 bits)
{
	orack_prefix p{};

	std::memcpy(p.address, Address(text).bytes, sizeof(p.address));
	p.bits = bits;
	return p;
}

bool Has(const orack_prefix &p, const char *text)
{
	return orack_prefix_has(&p, Address(text).bytes);
}

TEST(orack_prefix_has, bits__are_compared_and_no_others)
{
	EXPECT_TRUE(Has(Prefix("10.1.0.0", 112), "10.1.255.1"));
	EXPECT_FALSE(Has(Prefix("10.1.0.0", 112), "10.2.0.1"));
	EXPECT_TRUE(Has(Prefix("10.1.0.0", 111), "10.0.0.1"));
	EXPECT_FALSE(Has(Prefix("10.1.0.0", 111), "10.2.0.1"));
	EXPECT_TRUE(Has(Prefix("fd00::", 7), "fc01::1"));
	EXPECT_FALSE(Has(Prefix("fd00::", 8), "fc01::1"));
}

TEST(orack_prefix_has, all_or_none__are_a_host_and_everybody)
{
	EXPECT_TRUE(Has(Prefix("fd01::1", 128), "fd01::1"));
	EXPECT_FALSE(Has(Prefix("fd01::1", 128), "fd01::2"));
	EXPECT_TRUE(Has(Prefix("::", 0), "10.0.0.1"));
}

// IPv4 is below ::ffff:0:0/96, and no IPv6 network of fewer bits has it by chance.
TEST(orack_prefix_has, families__do_not_meet)
{
	EXPECT_TRUE(Has(Prefix("0.0.0.0", 96), "192.0.2.1"));
	EXPECT_FALSE(Has(Prefix("0.0.0.0", 96), "fd01::1"));
	EXPECT_FALSE(Has(Prefix("2000::", 3), "192.0.2.1"));
}

TEST(orack_may_ask, without_prefixes__is_everybody)
{
	orack_prefixes none{};

	EXPECT_TRUE(orack_may_ask(&none, Address("192.0.2.1").bytes));
}

TEST(orack_may_ask, any_prefix__is_enough)
{
	orack_prefixes some{};

	some.count = 2;
	some.prefix[0] = Prefix("10.0.0.0", 104);
	some.prefix[1] = Prefix("fd00::", 8);
	EXPECT_TRUE(orack_may_ask(&some, Address("10.200.0.1").bytes));
	EXPECT_TRUE(orack_may_ask(&some, Address("fd12::1").bytes));
	EXPECT_FALSE(orack_may_ask(&some, Address("192.0.2.1").bytes));
}

}  // namespace
