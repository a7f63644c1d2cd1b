// SPDX-License-Identifier: GPL-2.0
// turnpike onramp flows: tools/turnpike/onramp_flows.cc

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <libmnl/libmnl.h>

#include "include/uapi/turnpike.h"
#include "onramp.h"
#include "onramp_flows.h"

namespace {

using turnpike::Attributes;
using turnpike::onramp_address;
using turnpike::onramp_flow_json;
using turnpike::onramp_handle_text;
using turnpike::OnrampFlows;

// A nest as the kernel makes it, and what is in it.
class Nest {
public:
	Nest(const std::string &remote, std::uint16_t local_port)
	{
		message_ = mnl_nlmsg_put_header(room_);
		nest_ = mnl_attr_nest_start(message_, ONRAMP_A_FLOW);
		address(ONRAMP_FLOW_LOCAL, "10.1.0.1");
		address(ONRAMP_FLOW_REMOTE, remote);
		mnl_attr_put_u16(message_, ONRAMP_FLOW_LOCAL_PORT, local_port);
		mnl_attr_put_u16(message_, ONRAMP_FLOW_REMOTE_PORT, 5001);
		byte(ONRAMP_FLOW_SOURCE, 2).byte(ONRAMP_FLOW_COARSE, 0);
		word(ONRAMP_FLOW_BETA, 250000).word(ONRAMP_FLOW_BURST, 0);
	}

	Nest &byte(unsigned type, std::uint8_t value)
	{
		mnl_attr_put_u8(message_, type, value);
		return *this;
	}

	Nest &word(unsigned type, std::uint32_t value)
	{
		mnl_attr_put_u32(message_, type, value);
		return *this;
	}

	Nest &number(unsigned type, std::uint64_t value)
	{
		mnl_attr_put_u64(message_, type, value);
		return *this;
	}

	Attributes end()
	{
		mnl_attr_nest_end(message_, nest_);
		return turnpike::parse_nest(nest_);
	}

private:
	void address(unsigned type, const std::string &text)
	{
		auto bytes = onramp_address(text);

		mnl_attr_put(message_, type, bytes.size(), bytes.data());
	}

	alignas(8) char room_[4096];
	nlmsghdr *message_;
	nlattr *nest_;
};

std::vector<std::string> words_of(const std::string &line)
{
	std::istringstream stream(line);
	std::vector<std::string> words;
	std::string word;

	while (stream >> word)
		words.push_back(word);
	return words;
}

TEST(OnrampFlow, figures__have_their_units)
{
	auto flow = onramp_flow_json(Nest("10.1.0.2", 40000)
					     .byte(ONRAMP_FLOW_GRADE, 1)
					     .number(ONRAMP_FLOW_BASE_OWD, static_cast<std::uint64_t>(-7))
					     .word(ONRAMP_FLOW_HANDLE, 0x80010000)
					     .word(ONRAMP_FLOW_PARENT, 0xffffffff)
					     .number(ONRAMP_FLOW_LEFT, 12345)
					     .number(ONRAMP_FLOW_AGE, 2999999)
					     .number(ONRAMP_FLOW_PAUSED, 1ULL << 40)
					     .number(ONRAMP_FLOW_RATE, 125000)
					     .end());

	EXPECT_EQ(flow["local"], "10.1.0.1");
	EXPECT_EQ(flow["local_port"], 40000);
	EXPECT_EQ(flow["remote"], "10.1.0.2");
	EXPECT_EQ(flow["remote_port"], 5001);
	EXPECT_EQ(flow["source"], "orack");
	EXPECT_EQ(flow["grade"], "a");
	EXPECT_EQ(flow["base_owd_ns"], -7);
	EXPECT_EQ(flow["qdisc"], "8001:");
	EXPECT_EQ(flow["parent"], "root");
	EXPECT_EQ(flow["held"], true);
	EXPECT_EQ(flow["pause_left_ns"], 12345);
	EXPECT_EQ(flow["feedback_age_ns"], 2999999);
	EXPECT_EQ(flow["paused_ns"], 1ULL << 40);
	EXPECT_EQ(flow["release_rate_bytes_per_s"], 125000);
	EXPECT_DOUBLE_EQ(flow["beta"].get<double>(), 0.25);
}

TEST(OnrampFlow, what_the_kernel_left_out__is_null)
{
	auto flow = onramp_flow_json(Nest("fd01::2", 1).number(ONRAMP_FLOW_LEFT, 0).end());

	EXPECT_EQ(flow["held"], false);
	for (const char *name : {"dev", "qdisc", "parent", "grade", "base_owd_ns", "queued_packets",
				 "feedback_age_ns", "delay_ns", "delay_p50_ns", "delay_p90_ns",
				 "delay_p99_ns", "release_rate_bytes_per_s"})
		EXPECT_TRUE(flow[name].is_null()) << name;
}

TEST(OnrampFlow, attributes_of_a_later_kernel__are_passed_over)
{
	auto flow = onramp_flow_json(Nest("10.1.0.2", 1).number(ONRAMP_FLOW_MAX + 1, 5)
					     .number(ONRAMP_FLOW_PAUSES, 3).end());

	EXPECT_EQ(flow["pauses"], 3);
}

TEST(OnrampFlows, told_twice__is_one_flow_and_the_later)
{
	OnrampFlows flows;

	for (unsigned pauses : {1, 2}) {
		flows.add(Nest("10.1.0.3", 7).number(ONRAMP_FLOW_PAUSES, pauses).end());
		flows.add(Nest("10.1.0.2", 9).number(ONRAMP_FLOW_PAUSES, pauses).end());
		flows.add(Nest("10.1.0.2", 8).number(ONRAMP_FLOW_PAUSES, pauses).end());
	}
	auto json = flows.json();
	ASSERT_EQ(json.size(), 3u);
	EXPECT_EQ(json[0]["local_port"], 8);
	EXPECT_EQ(json[1]["local_port"], 9);
	EXPECT_EQ(json[2]["remote"], "10.1.0.3");
	for (const auto &flow : json)
		EXPECT_EQ(flow["pauses"], 2);
}

TEST(OnrampFlows, none__is_an_empty_list_and_titles)
{
	OnrampFlows flows;

	EXPECT_EQ(flows.json().dump(), "[]");
	EXPECT_EQ(words_of(flows.table(false)),
		  (std::vector<std::string>{"local", "remote", "dev", "feedback", "left", "paused", "p50", "p99"}));
	EXPECT_EQ(words_of(flows.table(true)).size(), 22u);
}

// The columns of a flow of all numbers: each begins and ends where its title does.
TEST(OnrampFlows, table__has_a_value_under_each_title)
{
	OnrampFlows flows;

	flows.add(Nest("fd01::2", 65535).byte(ONRAMP_FLOW_GRADE, 3).number(ONRAMP_FLOW_LEFT, 123456)
			  .number(ONRAMP_FLOW_PAUSED, 98765432).number(ONRAMP_FLOW_PAUSES, 17)
			  .number(ONRAMP_FLOW_RATE, 1250000000).end());
	std::string few = flows.table(false), all = flows.table(true);
	EXPECT_EQ(few.substr(few.find('\n') + 1),
		  "10.1.0.1:65535  [fd01::2]:5001  -    orack-c   123 us  98.8 ms    -    -\n");
	for (const char *value : {"  17  ", "  0.250  ", "  10.0 Gbit/s  "})
		EXPECT_NE(all.find(value), std::string::npos) << value << all;
	// Nobody limits its bursts.
	EXPECT_EQ(all.substr(all.size() - 3), " -\n");
}

TEST(OnrampFlows, table__fits_a_terminal)
{
	OnrampFlows flows;

	flows.add(Nest("255.255.255.255", 65535).byte(ONRAMP_FLOW_GRADE, 3).number(ONRAMP_FLOW_LEFT, 999000)
			  .number(ONRAMP_FLOW_PAUSED, 98765432).end());
	EXPECT_LE(flows.table(false).find('\n'), 100u);
}

// A module of another version: each is a sentence, and no byte behind the attribute is read.
TEST(OnrampFlow, json__of_a_shorter_number_is_refused)
{
	EXPECT_THROW(onramp_flow_json(Nest("10.1.0.2", 1).byte(ONRAMP_FLOW_PAUSES, 1).end()), turnpike::Error);
	EXPECT_THROW(onramp_flow_json(Nest("10.1.0.2", 1).word(ONRAMP_FLOW_HELD_TIME, 1).end()), turnpike::Error);
}

TEST(OnrampFlow, json__without_an_address_is_refused)
{
	Attributes flow = Nest("10.1.0.2", 1).end();

	flow.erase(ONRAMP_FLOW_REMOTE);
	EXPECT_THROW(onramp_flow_json(flow), turnpike::Error);
}

TEST(OnrampHandle, text__is_as_tc_has_it)
{
	EXPECT_EQ(onramp_handle_text(0x00010000), "1:");
	EXPECT_EQ(onramp_handle_text(0x80010002), "8001:2");
	EXPECT_EQ(onramp_handle_text(0x0001000a), "1:a");
	EXPECT_EQ(onramp_handle_text(0), "0:");
	EXPECT_EQ(onramp_handle_text(0xffffffff), "root");
}

}  // namespace
