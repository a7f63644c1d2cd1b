// SPDX-License-Identifier: GPL-2.0
// turnpike onramp: tools/turnpike/onramp.cc

#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "command.h"
#include "onramp.h"

namespace {

using turnpike::Error;
using turnpike::onramp_address_text;
using turnpike::onramp_key;

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

}  // namespace
