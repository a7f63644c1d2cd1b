// SPDX-License-Identifier: GPL-2.0
// turnpike onramp: tools/turnpike/onramp.cc

#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "command.h"
#include "onramp.h"

namespace {

using turnpike::Error;
using turnpike::onramp_address;
using turnpike::onramp_address_text;
using turnpike::onramp_key;
using turnpike::onramp_time_ns;

TEST(OnrampKey, digits__are_bytes_in_order)
{
	auto key = onramp_key(" 000102030405060708090a0b0C0D0E0f\n");

	for (unsigned i = 0; i < key.size(); i++)
		EXPECT_EQ(key[i], i);
}

TEST(OnrampKey, anything_else__is_refused)
{
	EXPECT_THROW(onramp_key(""), Error);
	EXPECT_THROW(onramp_key("   \n"), Error);
	EXPECT_THROW(onramp_key("000102030405060708090a0b0c0d0e"), Error);
	EXPECT_THROW(onramp_key("000102030405060708090a0b0c0d0e0f00"), Error);
	EXPECT_THROW(onramp_key("000102030405060708090a0b0c0d0e0g"), Error);
	EXPECT_THROW(onramp_key("0x0102030405060708090a0b0c0d0e0f"), Error);
}

TEST(OnrampAddress, both_families__are_shown_as_such)
{
	in6_addr address;

	inet_pton(AF_INET6, "fd01::2", &address);
	EXPECT_EQ(onramp_address_text(&address), "fd01::2");
	inet_pton(AF_INET6, "::ffff:10.1.0.2", &address);
	EXPECT_EQ(onramp_address_text(&address), "10.1.0.2");
}

TEST(OnrampAddress, text__is_read_back)
{
	for (const char *text : {"10.0.0.1", "255.255.255.255", "fd01::2", "::", "fe80::1"})
		EXPECT_EQ(onramp_address_text(onramp_address(text).data()), text);
}

TEST(OnrampAddress, anything_else__is_refused)
{
	for (const char *text : {"", "host", "10.0.0", "10.0.0.1/8", "fe80::1%eth0", "1.2.3.4.5"})
		EXPECT_THROW(onramp_address(text), Error) << text;
}

TEST(OnrampTime, units__are_nanoseconds)
{
	EXPECT_EQ(onramp_time_ns("0"), 0);
	EXPECT_EQ(onramp_time_ns("-17"), -17);
	EXPECT_EQ(onramp_time_ns("5ns"), 5);
	EXPECT_EQ(onramp_time_ns("-20us"), -20000);
	EXPECT_EQ(onramp_time_ns("3ms"), 3000000);
	EXPECT_EQ(onramp_time_ns("9223372036s"), 9223372036000000000);
	EXPECT_EQ(onramp_time_ns("-9223372036854775808"), INT64_MIN);
}

TEST(OnrampTime, anything_else__is_refused)
{
	for (const char *text : {"", "us", "1.5us", "1 us", "1h", "+1", "0x10", "9223372036854775808",
				 "9223372037s", "-9223372037s", "--1"})
		EXPECT_THROW(onramp_time_ns(text), Error) << text;
}

}  // namespace
