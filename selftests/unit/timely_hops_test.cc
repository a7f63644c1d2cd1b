// SPDX-License-Identifier: GPL-2.0
// Signals of single hops: tcp_timely/timely_hops.h

#include <cmath>
#include <initializer_list>
#include <random>

#include <gtest/gtest.h>

#include "tcp_timely/timely_hops.h"

namespace {

constexpr u64 kBaseNs = 20000;

// The vector that the switches tell.
tp_hops Hops(std::initializer_list<u64> queues_ns)
{
	tp_hops h = {};

	for (u64 ns : queues_ns) {
		tp_hops one = {ns, ns, ns * ns};

		tp_hops_join(&h, &one);
	}
	return h;
}

// The signal of an RTT that is the base and those queues.
u64 Signal(timely_signal signal, const tp_hops &h)
{
	u64 rtt_ns = kBaseNs + h.sum_ns;

	return rtt_ns - timely_hops_less_ns(signal, &h, rtt_ns - kBaseNs);
}

TEST(TimelyHops, signal__sum_is_the_rtt)
{
	tp_hops h = Hops({10000, 0, 30000, 20000, 1000});

	EXPECT_EQ(Signal(TIMELY_SIGNAL_SUM, h), kBaseNs + 61000);
}

TEST(TimelyHops, signal__max_is_the_base_and_the_longest_queue)
{
	tp_hops h = Hops({10000, 0, 30000, 20000, 1000});

	EXPECT_EQ(Signal(TIMELY_SIGNAL_MAX, h), kBaseNs + 30000);
}

TEST(TimelyHops, signal__sum_squ_is_the_base_and_the_root_of_the_squares)
{
	tp_hops h = Hops({30000, 0, 40000});

	EXPECT_EQ(Signal(TIMELY_SIGNAL_SUM_SQU, h), kBaseNs + 50000);
}

TEST(TimelyHops, signal__one_queue_is_the_same_to_all)
{
	tp_hops h = Hops({0, 0, 25000, 0});

	for (timely_signal signal : {TIMELY_SIGNAL_SUM, TIMELY_SIGNAL_SUM_SQU, TIMELY_SIGNAL_MAX})
		EXPECT_EQ(Signal(signal, h), kBaseNs + 25000) << signal;
}

TEST(TimelyHops, signal__eight_equal_queues_are_one_to_max)
{
	tp_hops h = Hops({9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000});

	EXPECT_EQ(Signal(TIMELY_SIGNAL_MAX, h), kBaseNs + 9000);
}

TEST(TimelyHops, less__time_that_no_switch_tells_stays)
{
	tp_hops h = Hops({30000, 20000});

	// 15 us in the hosts
	EXPECT_EQ(timely_hops_less_ns(TIMELY_SIGNAL_MAX, &h, 65000), 20000u);
}

TEST(TimelyHops, less__empty_path)
{
	tp_hops h = {};

	for (timely_signal signal : {TIMELY_SIGNAL_SUM, TIMELY_SIGNAL_SUM_SQU, TIMELY_SIGNAL_MAX})
		EXPECT_EQ(timely_hops_less_ns(signal, &h, 0), 0u);
}

// A liar says that all of a long queue was many short ones.
TEST(TimelyHops, less__lie_leaves_an_eighth)
{
	tp_hops h = {1000000000000, 1, 1};

	for (timely_signal signal : {TIMELY_SIGNAL_SUM_SQU, TIMELY_SIGNAL_MAX})
		EXPECT_EQ(timely_hops_less_ns(signal, &h, 800000), 700000u);
}

// Or that one queue was longer than all.
TEST(TimelyHops, less__longest_above_the_sum_adds_nothing)
{
	tp_hops h = {1000, 1000000000, 1000000000000000000};

	for (timely_signal signal : {TIMELY_SIGNAL_SUM_SQU, TIMELY_SIGNAL_MAX})
		EXPECT_EQ(timely_hops_less_ns(signal, &h, 800000), 0u);
}

TEST(TimelyHops, less__any_input_stays_between_an_eighth_and_all)
{
	std::mt19937_64 random(3);

	for (int i = 0; i < 1000000; i++) {
		tp_hops h = {random() >> random() % 64, random() >> random() % 64,
			     random() >> random() % 64};
		u64 excess_ns = random() >> (20 + random() % 44);
		u64 less_ns = timely_hops_less_ns((timely_signal)(random() % TIMELY_SIGNALS), &h,
						  excess_ns);

		ASSERT_LE(less_ns, excess_ns - excess_ns / 8);
	}
}

TEST(TimelyHops, order__sum_then_sum_squ_then_max)
{
	std::mt19937 random(4);

	for (int i = 0; i < 100000; i++) {
		tp_hops h = Hops({random() % 100000, random() % 100000, random() % 100000,
				  random() % 100000});
		u64 squ_ns = timely_hops_queue_ns(TIMELY_SIGNAL_SUM_SQU, &h);

		ASSERT_LE(h.max_ns, squ_ns);
		ASSERT_LE(squ_ns, h.sum_ns);
		ASSERT_NEAR(squ_ns, std::sqrt((double)h.squares), 1);
	}
}

TEST(TimelyHops, wait__only_after_a_first_signal_and_eight_events)
{
	u8 patience = 0;

	EXPECT_FALSE(timely_hops_wait(&patience));
	patience = TIMELY_HOPS_PATIENCE;
	for (int i = 0; i < 8; i++)
		EXPECT_TRUE(timely_hops_wait(&patience));
	EXPECT_FALSE(timely_hops_wait(&patience));
	EXPECT_FALSE(timely_hops_wait(&patience));
}

TEST(TimelyHops, is_of_hops__those_three)
{
	EXPECT_FALSE(timely_signal_is_of_hops(TIMELY_SIGNAL_RTT));
	EXPECT_FALSE(timely_signal_is_of_hops(TIMELY_SIGNAL_FORWARD));
	EXPECT_TRUE(timely_signal_is_of_hops(TIMELY_SIGNAL_SUM));
	EXPECT_TRUE(timely_signal_is_of_hops(TIMELY_SIGNAL_SUM_SQU));
	EXPECT_TRUE(timely_signal_is_of_hops(TIMELY_SIGNAL_MAX));
}

}  // namespace
