// SPDX-License-Identifier: GPL-2.0
// Hosts that stop together without a common clock: sch_onramp/onramp_tcpts_drain.h

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/onramp_tcpts_drain.h"

namespace {

constexpr u64 kThreshold = 50000;
constexpr u64 kPeriod = u64{1} << ONRAMP_TCPTS_DRAIN_SHIFT;

struct Drain : onramp_tcpts_drain {
	u64 now_ns = 1'000'000'000;
	u64 flow_ns = 0;
	u64 stops = 0;

	Drain() : onramp_tcpts_drain{} { onramp_tcpts_drain_init(this, now_ns); }

	// A sample each 10 us, for so long; returns the last pause.
	u64 Run(u64 queue_ns, u64 for_ns, bool lowered = false)
	{
		u64 end_ns = now_ns + for_ns, last_ns = 0;

		while (now_ns < end_ns) {
			now_ns += 10'000;
			u64 pause_ns = onramp_tcpts_drain_pause_ns(this, now_ns, queue_ns, kThreshold,
							     flow_ns, lowered);

			if (!pause_ns)
				continue;
			last_ns = pause_ns;
			flow_ns = now_ns;
			stops++;
		}
		return last_ns;
	}
};

TEST(onramp_tcpts_drain_pause_ns, queue_that_never_empties__stops_after_a_period)
{
	Drain d;

	EXPECT_EQ(d.Run(70'000, kPeriod - 20'000), 0u);
	EXPECT_EQ(d.Run(70'000, 40'000), 70'000u + ONRAMP_TCPTS_DRAIN_SPREAD_NS);
	EXPECT_EQ(d.stops, 1u);
}

TEST(onramp_tcpts_drain_pause_ns, no_news__stops_less_often)
{
	Drain d;

	d.Run(70'000, 100 * kPeriod);
	// After 1, 1 (a new path is news), 2 and then 4 periods each.
	EXPECT_NEAR(d.stops, 3 + 96 / 4, 1);
}

TEST(onramp_tcpts_drain_pause_ns, bases_get_shorter__stops_each_period)
{
	Drain d;

	d.Run(70'000, 100 * kPeriod, true);
	EXPECT_NEAR(d.stops, 99, 2);
}

TEST(onramp_tcpts_drain_pause_ns, queue_seen_empty__goes_on)
{
	Drain d;

	for (int i = 0; i < 10; i++) {
		d.Run(70'000, kPeriod - 100'000);
		d.Run(ONRAMP_TCPTS_DRAIN_EMPTY_NS - 1, 20'000);
	}
	EXPECT_EQ(d.stops, 0u);
}

TEST(onramp_tcpts_drain_pause_ns, queue_that_nobody_regulates__goes_on)
{
	Drain little, much;

	little.Run(kThreshold / 2 - 1, 10 * kPeriod);
	EXPECT_EQ(little.stops, 0u);
	// The mean is that of a long queue then, and dips of it tell nothing.
	much.Run(1'000'000, 100'000'000);
	for (int i = 0; i < 1000; i++) {
		much.Run(1'000'000, kPeriod / 100);
		much.Run(500'000, 10'000);
	}
	EXPECT_EQ(much.stops, 0u);
}

TEST(onramp_tcpts_drain_pause_ns, flows_of_a_host__stop_once_each)
{
	Drain d;
	u64 first_ns, second_ns = 0;

	d.Run(70'000, kPeriod + 20'000);
	first_ns = d.flow_ns;
	EXPECT_GT(onramp_tcpts_drain_pause_ns(&d, first_ns + 30'000, 70'000, kThreshold,
					      second_ns, false), 0u);
	second_ns = first_ns + 30'000;
	EXPECT_EQ(onramp_tcpts_drain_pause_ns(&d, first_ns + 40'000, 70'000, kThreshold,
					      second_ns, false), 0u);
	EXPECT_EQ(onramp_tcpts_drain_pause_ns(&d, first_ns + 40'000, 70'000, kThreshold,
					      first_ns, false), 0u);
	// A flow without a sample in time waits for the next one.
	EXPECT_EQ(onramp_tcpts_drain_pause_ns(&d, first_ns + ONRAMP_TCPTS_DRAIN_TOGETHER_NS, 70'000,
					      kThreshold, 0, false), 0u);
}

TEST(onramp_tcpts_drain_pause_ns, dip__is_joined_after_half_a_period)
{
	Drain d;

	d.Run(100'000, kPeriod / 2 - 1'000'000);
	EXPECT_EQ(d.Run(30'000, 10'000), 0u);
	d.Run(100'000, 2'000'000);
	EXPECT_EQ(d.Run(30'000, 10'000), 30'000u + ONRAMP_TCPTS_DRAIN_SPREAD_NS);
}

TEST(onramp_tcpts_drain_pause_ns, longest_delay__mean_is_in_range)
{
	Drain d;

	d.Run(u64{1} << 32, 100'000'000);
	EXPECT_NEAR(d.mean_ns, 4294967295.0, 100);
	d.Run(0, 100'000'000);
	EXPECT_EQ(d.mean_ns, 0u);
}

// Hosts that began at any time, each with its part of a queue of 70 us, which is gone while
// the host stops and a round trip later is seen to be.
TEST(onramp_tcpts_drain_pause_ns, four_hosts__are_due_together_soon)
{
	constexpr u64 kRtt = 90'000;
	std::mt19937 random(7);

	for (int round = 0; round < 20; round++) {
		std::vector<Drain> hosts(4);
		std::vector<u64> until_ns(4, 0), last_ns(4, 0);
		u64 now_ns = 1'000'000'000;
		int together = 0, begun = 0;

		for (auto &h : hosts)
			h.empty_ns = now_ns - random() % kPeriod;
		for (u64 end_ns = now_ns + 60 * kPeriod; now_ns < end_ns; now_ns += 10'000) {
			double queue_ns = 110'000;

			for (int i = 0; i < 4; i++) {
				if (now_ns < last_ns[i] + kRtt / 2)
					continue;
				if (now_ns < until_ns[i] + kRtt / 2)
					queue_ns -= std::min<double>(now_ns - last_ns[i] - kRtt / 2,
								     110'000) / 2;
			}
			for (int i = 0; i < 4; i++) {
				u64 pause_ns = onramp_tcpts_drain_pause_ns(&hosts[i], now_ns,
								     std::max(queue_ns, 1000.0),
								     kThreshold, last_ns[i], false);

				if (!pause_ns)
					continue;
				last_ns[i] = now_ns;
				until_ns[i] = now_ns + pause_ns;
				if (now_ns < end_ns - 20 * kPeriod)
					continue;
				begun++;
				together += std::count_if(last_ns.begin(), last_ns.end(),
							  [&](u64 t) { return now_ns - t < 200'000; }) == 4;
			}
		}
		ASSERT_GT(begun, 0);
		// The last of the four finds all others stopped.
		EXPECT_GE(together * 4, begun) << "round " << round;
	}
}

}  // namespace
