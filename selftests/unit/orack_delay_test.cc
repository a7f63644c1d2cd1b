// SPDX-License-Identifier: GPL-2.0
// A peer's delays, of one kind or the other: sch_onramp/orack/orack_delay.h

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_delay.h"

namespace {

constexpr s64 kUs = 1000;

class Peer {
 public:
	void Take(int samples, bool absolute, s64 delay_ns)
	{
		for (int i = 0; i < samples; i++)
			orack_delay_sample(&delay_, now_ns_ += 1000000, absolute, delay_ns);
	}

	onramp_percentiles Seen() const
	{
		onramp_percentiles p;

		onramp_recent_percentiles(&delay_.recent, &p);
		return p;
	}

	bool absolute() const { return delay_.absolute; }

 private:
	orack_delay delay_ = {};
	u64 now_ns_ = 1000000000;
};

TEST(Delay, first_sample__says_of_which_kind)
{
	Peer synchronized, other;

	EXPECT_FALSE(other.Seen().known);
	synchronized.Take(1, true, 30 * kUs);
	other.Take(1, false, 30 * kUs);
	EXPECT_TRUE(synchronized.absolute());
	EXPECT_FALSE(other.absolute());
	EXPECT_TRUE(synchronized.Seen().known);
	EXPECT_TRUE(other.Seen().known);
}

TEST(Delay, stray_of_the_other_kind__is_not_counted)
{
	Peer peer;

	for (int i = 0; i < 100; i++) {
		peer.Take(3, true, 30 * kUs);
		peer.Take(ORACK_DELAY_STRAYS - 1, false, 900 * kUs);
	}
	EXPECT_TRUE(peer.absolute());
	EXPECT_LT(peer.Seen().p99_ns, 40 * kUs);
}

TEST(Delay, other_kind_for_good__begins_anew)
{
	Peer peer;

	peer.Take(1000, false, 900 * kUs);
	peer.Take(ORACK_DELAY_STRAYS, true, 30 * kUs);
	EXPECT_TRUE(peer.absolute());
	EXPECT_LT(peer.Seen().p99_ns, 40 * kUs);
	peer.Take(ORACK_DELAY_STRAYS, false, 900 * kUs);
	EXPECT_FALSE(peer.absolute());
	EXPECT_GT(peer.Seen().p50_ns, 800 * kUs);
}

TEST(Delay, less_than_nothing__is_nothing)
{
	Peer peer;

	peer.Take(10, true, -5 * kUs);
	EXPECT_LT(peer.Seen().p99_ns, kUs);
}

}  // namespace
