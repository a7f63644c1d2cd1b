// SPDX-License-Identifier: GPL-2.0
// Which announcements count, and in which order: sch_onramp/orack/orack_turn.h

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_turn.h"

namespace {

constexpr u64 kMs = 1000000, kSecond = 1000 * kMs;

TEST(orack_turn, within_the_time_gone_by__is_next)
{
	EXPECT_EQ(orack_turn(101, 100, 0), ORACK_TURN_NEXT);
	EXPECT_EQ(orack_turn(3 * kSecond, 0, 3 * kSecond), ORACK_TURN_NEXT);
	// a clock that is slewed
	EXPECT_EQ(orack_turn(60 * kSecond + 30 * kMs, 0, 60 * kSecond), ORACK_TURN_NEXT);
}

TEST(orack_turn, same_or_overtaken__is_late)
{
	EXPECT_EQ(orack_turn(kSecond, kSecond, kSecond), ORACK_TURN_LATE);
	EXPECT_EQ(orack_turn(kSecond - 9 * kMs, kSecond, 0), ORACK_TURN_LATE);
}

TEST(orack_turn, far_away__is_a_jump)
{
	EXPECT_EQ(orack_turn(kSecond, 0, 500 * kMs), ORACK_TURN_JUMP);
	EXPECT_EQ(orack_turn(0, kSecond, 0), ORACK_TURN_JUMP);
	EXPECT_EQ(orack_turn(u64{1} << 63, 0, 0), ORACK_TURN_JUMP);
	EXPECT_EQ(orack_turn(~u64{0} >> 1, 0, 60 * kSecond), ORACK_TURN_JUMP);
}

// Times wrap like everything of 64 bits.
TEST(orack_turn, over_the_wrap__is_as_ever)
{
	EXPECT_EQ(orack_turn(5, ~u64{0} - 5, kMs), ORACK_TURN_NEXT);
	EXPECT_EQ(orack_turn(~u64{0} - 5, 5, kMs), ORACK_TURN_LATE);
}

// Whatever a forged one says, one of its host's own is refused for the slack at most.
TEST(orack_turn_is_late, after_any_forged_one__is_over_with_the_slack)
{
	for (u64 forged : {u64{0}, kSecond, 2 * kSecond, 3 * kSecond, u64{1} << 40, u64{1} << 63, ~u64{0}}) {
		u64 own = 2 * kSecond, last = 0, at = 0;

		if (!orack_turn_is_late(forged, last, 2 * kSecond, false)) {
			last = forged;
			at = own;
		}
		own += ORACK_TURN_SLACK_NS;
		EXPECT_FALSE(orack_turn_is_late(own, last, own - at, false)) << forged;
	}
}

TEST(orack_turn_is_late, signed__newer_counts_and_older_does_not)
{
	EXPECT_FALSE(orack_turn_is_late(1000 * kSecond, 1, 0, true));
	EXPECT_TRUE(orack_turn_is_late(1, 1000 * kSecond, 0, true));
	EXPECT_TRUE(orack_turn_is_late(7, 7, kSecond, true));
}

TEST(orack_call_counts, with_a_connection__whatever_it_says)
{
	const orack_call c = {.connected = true, .hears = true, .sparser = true, .jumps = true,
			      .lifetime_ms = 0, .left_ms = 9000};

	EXPECT_TRUE(orack_call_counts(&c));
}

TEST(orack_call_counts, without_a_connection__never_less_than_there_is)
{
	const orack_call more = {.connected = false, .hears = true, .sparser = false,
				 .jumps = false,
				 .lifetime_ms = 10000, .left_ms = 7000};
	orack_call c = more;

	EXPECT_TRUE(orack_call_counts(&c));
	c.sparser = true;
	EXPECT_FALSE(orack_call_counts(&c));
	c = more;
	c.hears = false;
	EXPECT_FALSE(orack_call_counts(&c));
	c = more;
	c.jumps = true;
	EXPECT_FALSE(orack_call_counts(&c));
	c = more;
	c.lifetime_ms = 6999;
	EXPECT_FALSE(orack_call_counts(&c));
	c.lifetime_ms = 0;
	EXPECT_FALSE(orack_call_counts(&c));
}

}  // namespace
