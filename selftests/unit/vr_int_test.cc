// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "selftests/vrack/vr_int.h"

namespace {

using Option = std::array<u8, VR_INT_BYTES>;

Option begun(const vr_int &echo = {})
{
	Option option{};

	vr_int_begin(option.data(), &echo);
	return option;
}

// What hops met, each of 10 Gbit/s
vr_int met(std::initializer_list<u32> queue_bytes)
{
	vr_int i{};
	u8 hop = 0;

	for (u32 bytes : queue_bytes)
		vr_int_pass(&i, VR_INT_UNIT_SHIFT, ++hop, 10000, bytes, bytes * 8 / 10);
	return i;
}

TEST(vr_int, begin__has_met_nothing_and_echoes)
{
	vr_int echo{.latency_ns = 0x1234, .value = 0x85, .speed = 3, .hop = 2};

	EXPECT_EQ(begun(echo), (Option{0x72, 12, 0, 0, 64, 0, 0, 0, 0x85, 0x23, 0x12, 0x34}));
}

TEST(vr_int, write__leaves_the_tag_and_the_echo)
{
	Option option = begun({.latency_ns = 7, .value = 0x81, .speed = 1, .hop = 1});
	vr_int i{.latency_ns = 0x123456, .value = 0x99, .speed = 5, .hop = 3}, again;

	option[2] = 0xa0;
	vr_int_write(option.data(), &i);
	EXPECT_EQ(option, (Option{0x72, 12, 0xa5, 0x99, 61, 0x12, 0x34, 0x56, 0x81, 0x11, 0, 7}));
	vr_int_read(&again, option.data());
	EXPECT_EQ(again.latency_ns, i.latency_ns);
	EXPECT_EQ(again.value, i.value);
	EXPECT_EQ(again.speed, i.speed);
	EXPECT_EQ(again.hop, i.hop);
}

TEST(vr_int, pass__the_fullest_hop_is_told_and_all_latencies)
{
	vr_int i = met({20000, 90000, 30000});

	EXPECT_EQ(i.value, 0x80 | 90000 / 8192);
	EXPECT_EQ(i.hop, 2);
	EXPECT_EQ(i.speed, 1);
	EXPECT_EQ(i.latency_ns, 140000u * 8 / 10);
}

TEST(vr_int, pass__less_than_8_kb_is_no_queue)
{
	EXPECT_EQ(met({8191}).value, 0);
	EXPECT_EQ(met({8192}).value, 0x81);
	EXPECT_EQ(met({100, 200}).hop, 1);
}

TEST(vr_int, pass__in_other_units)
{
	vr_int i{};
	tp_hops h;

	vr_int_pass(&i, 10, 1, 10000, 8191, 6553);
	EXPECT_EQ(i.value, 0x87);
	EXPECT_TRUE(vr_int_tell(&h, &i, 10));
	EXPECT_EQ(h.max_ns, 7168u * 8 / 10);
}

TEST(vr_int, pass__ends_at_what_the_fields_hold)
{
	vr_int i = met({10000000, 20000000});

	EXPECT_EQ(i.value, 0xff);
	EXPECT_EQ(i.hop, 1);
	EXPECT_EQ(i.latency_ns, 0xffffffu);
}

TEST(vr_int, echo__of_long_latencies_is_coarse)
{
	for (u32 ns : {0u, 32767u, 32768u, 1000000u, 8388607u, 9000000u, 0xffffffu}) {
		Option option = begun({.latency_ns = ns, .value = 0, .speed = 1, .hop = 1});
		vr_int i;

		vr_int_read_echo(&i, option.data());
		EXPECT_EQ(i.latency_ns, ns < 32768 ? ns : std::min(ns, 0x7fffffu) / 256 * 256);
	}
}

TEST(vr_int, speed__numbers_and_back)
{
	for (u32 mbps : {10000u, 25000u, 40000u, 50000u, 100000u, 200000u, 400000u})
		EXPECT_EQ(vr_int_mbps(vr_int_speed(mbps)), mbps);
	EXPECT_EQ(vr_int_speed(1000), 0);
	EXPECT_EQ(vr_int_mbps(15), 0u);
}

TEST(vr_int, find__among_others_of_an_untrusted_sender)
{
	Option option = begun();
	u8 list[40] = {1, 1, 8, 10};

	std::copy(option.begin(), option.end(), list + 12);
	EXPECT_EQ(vr_int_find(list, 24), list + 12);
	EXPECT_EQ(vr_int_find(list, 23), nullptr) << "cut";
	list[13] = 11;
	EXPECT_EQ(vr_int_find(list, 24), nullptr) << "of another length";
	EXPECT_EQ(vr_int_find(list, 0), nullptr);
}

TEST(vr_int, tell__longest_queue_and_the_rest_as_one)
{
	vr_int i = met({40000, 16384 * 5});
	tp_hops h;

	EXPECT_TRUE(vr_int_tell(&h, &i, VR_INT_UNIT_SHIFT));
	EXPECT_EQ(h.max_ns, 81920u * 8 / 10);
	EXPECT_EQ(h.sum_ns, 121920u * 8 / 10);
	EXPECT_EQ(h.squares, 65536ull * 65536 + 32000ull * 32000);
}

// A lie is no more than what all queues together were said to be.
TEST(vr_int, tell__no_queue_is_longer_than_all)
{
	vr_int i{.latency_ns = 1000, .value = 0xff, .speed = 1, .hop = 1};
	tp_hops h;

	EXPECT_TRUE(vr_int_tell(&h, &i, VR_INT_UNIT_SHIFT));
	EXPECT_EQ(h.max_ns, 1000u);
	i.speed = 0;
	EXPECT_FALSE(vr_int_tell(&h, &i, VR_INT_UNIT_SHIFT)) << "a queue of bytes that nobody knows the time of";
	i.value = 0x7f;
	EXPECT_TRUE(vr_int_tell(&h, &i, VR_INT_UNIT_SHIFT));
	EXPECT_EQ(h.max_ns, 0u);
}

} // namespace
