// SPDX-License-Identifier: GPL-2.0
// turnpike onramp: tools/turnpike/onramp.cc

#include <fstream>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "onramp.h"

namespace {

using turnpike::Error;
using turnpike::onramp_address;
using turnpike::onramp_address_text;
using turnpike::onramp_key;
using turnpike::onramp_key_file;
using turnpike::onramp_new_key;
using turnpike::onramp_prefix;
using turnpike::onramp_prefix_text;
using turnpike::onramp_write_new_key;
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

// A file of this test's, gone with it.
class OnrampKeyFile : public testing::Test {
protected:
	void TearDown() override
	{
		unlink(path_.c_str());
	}

	std::string write(const std::string &text, mode_t mode = 0600)
	{
		std::ofstream(path_) << text;
		chmod(path_.c_str(), mode);
		return path_;
	}

	std::string path_ = testing::TempDir() + "onramp-key-" + std::to_string(getpid());
};

const std::string kDigits = "000102030405060708090a0b0c0d0e0f";

TEST_F(OnrampKeyFile, new_key__is_read_back_and_nobody_elses)
{
	struct stat st {};

	onramp_write_new_key(path_);
	ASSERT_EQ(stat(path_.c_str(), &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0600u);
	auto keys = onramp_key_file(path_);
	ASSERT_EQ(keys.size(), 1u);
	EXPECT_EQ(keys[0].id, 1u);
	EXPECT_NE(keys[0].key, onramp_key(onramp_new_key()));
}

TEST_F(OnrampKeyFile, new_key__overwrites_nothing)
{
	write("precious");
	EXPECT_THROW(onramp_write_new_key(path_), Error);
	std::string word;
	std::ifstream(path_) >> word;
	EXPECT_EQ(word, "precious");
}

TEST_F(OnrampKeyFile, two_keys__in_the_order_of_the_file)
{
	auto keys = onramp_key_file(write("# of this cluster\n\n 7 " + kDigits + "\n" + kDigits + "\n"));

	ASSERT_EQ(keys.size(), 2u);
	EXPECT_EQ(keys[0].id, 7u);
	EXPECT_EQ(keys[1].id, 1u);
	EXPECT_EQ(keys[1].key, onramp_key(kDigits));
}

TEST_F(OnrampKeyFile, nonsense__is_refused)
{
	for (const std::string &text : {std::string(), std::string("#\n"), "0 " + kDigits, "256 " + kDigits, "x " + kDigits,
					kDigits + "0", kDigits + "\n" + kDigits, "1 " + kDigits + " 2",
					"1 " + kDigits + "\n2 " + kDigits + "\n3 " + kDigits})
		EXPECT_THROW(onramp_key_file(write(text)), Error) << text;
	EXPECT_THROW(onramp_key_file(path_ + "-none"), Error);
}

TEST_F(OnrampKeyFile, shown_to_others__is_refused)
{
	EXPECT_THROW(onramp_key_file(write(kDigits, 0640)), Error);
	EXPECT_THROW(onramp_key_file(write(kDigits, 0604)), Error);
	EXPECT_EQ(onramp_key_file(write(kDigits, 0400)).size(), 1u);
}

TEST(OnrampPrefix, both_families__are_shown_as_they_came)
{
	for (const std::string text : {"10.0.0.0/8", "0.0.0.0/0", "10.1.2.3/32", "fd00::/8", "::/0", "fd01::1/128"})
		EXPECT_EQ(onramp_prefix_text(onramp_prefix(text)), text);
	EXPECT_EQ(onramp_prefix("10.0.0.0/8").bits, 104);
	EXPECT_EQ(onramp_prefix_text(onramp_prefix("10.1.2.3")), "10.1.2.3/32");
}

TEST(OnrampPrefix, anything_else__is_refused)
{
	for (const char *text : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "fd00::/129",
				 "10.0.0.1/8", "fd00::1/64", "host/8"})
		EXPECT_THROW(onramp_prefix(text), Error) << text;
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
