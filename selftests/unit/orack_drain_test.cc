// SPDX-License-Identifier: GPL-2.0
// When flows to a receiver stop together: sch_onramp/orack/orack_drain.h

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_drain.h"

namespace {

constexpr u64 kThreshold = 50000;
constexpr u64 kLong = u64{1} << 40;

TEST(orack_drain_pause_ns, at_the_moment__empties_the_queue)
{
	EXPECT_EQ(orack_drain_pause_ns(7 * ORACK_DRAIN_NS, kLong, 70000, kThreshold),
		  70000 + ORACK_DRAIN_SPREAD_NS);
	EXPECT_GT(orack_drain_pause_ns(ORACK_DRAIN_LATE_NS, kLong, 70000, kThreshold), 0u);
}

TEST(orack_drain_pause_ns, before_or_long_after__is_not_the_time)
{
	EXPECT_EQ(orack_drain_pause_ns(ORACK_DRAIN_NS - 1, kLong, 70000, kThreshold), 0u);
	EXPECT_EQ(orack_drain_pause_ns(ORACK_DRAIN_LATE_NS + 1, kLong, 70000, kThreshold), 0u);
	EXPECT_EQ(orack_drain_pause_ns(~u64{0}, kLong, 70000, kThreshold), 0u);
}

TEST(orack_drain_pause_ns, once_a_period__whatever_the_clock_says)
{
	EXPECT_EQ(orack_drain_pause_ns(0, ORACK_DRAIN_NS / 2 - 1, 70000, kThreshold), 0u);
	EXPECT_GT(orack_drain_pause_ns(0, ORACK_DRAIN_NS / 2, 70000, kThreshold), 0u);
}

TEST(orack_drain_pause_ns, little_queue__is_left_alone)
{
	EXPECT_EQ(orack_drain_pause_ns(0, kLong, kThreshold / 2 - 1, kThreshold), 0u);
	EXPECT_EQ(orack_drain_pause_ns(0, kLong, 0, kThreshold), 0u);
}

// Flows with what they know of the path alike, that hear of the moment within the time
// that a receipt may wait: all of them wait when the queue is empty.
TEST(orack_drain_pause_ns, all_stop__until_the_queue_is_empty)
{
	std::mt19937 random(5);

	for (int round = 0; round < 10000; round++) {
		u64 queue_ns = kThreshold + random() % 100000, first_ns = ~u64{0}, last_ns = 0;

		for (int flow = 0; flow < 12; flow++) {
			u64 heard_ns = random() % ORACK_WAIT_MAX_NS;
			u64 pause_ns = orack_drain_pause_ns(heard_ns, kLong, queue_ns, kThreshold);

			last_ns = std::max(last_ns, heard_ns);
			first_ns = std::min(first_ns, heard_ns + pause_ns);
		}
		// The link carries the queue from when the last one stops, at the latest.
		ASSERT_GE(first_ns, last_ns + queue_ns);
	}
}

}  // namespace
