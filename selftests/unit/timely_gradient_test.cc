// SPDX-License-Identifier: GPL-2.0
// How fast the queue grows: tcp_timely/timely_gradient.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr s64 kUs = 1000LL << TIMELY_DIFF_SHIFT;
constexpr u64 kUnitNs = 20000;

// The average after one event, from @before.
s64 After(const timely_params &p, s64 before, s64 diff_ns, u64 elapsed_ns)
{
	timely_state s{};
	timely_path path{};

	path.unit_ns = kUnitNs;
	s.rtt_diff_q = before;
	timely_track_gradient(&s, &p, &path, diff_ns, elapsed_ns);
	return s.rtt_diff_q;
}

TEST(TimelyGradient, timely_track_gradient__by_the_event_each_counts_alike)
{
	timely_params p = verbatim();

	EXPECT_EQ(After(p, 0, 8000, kUnitNs), 7 * kUs);
	EXPECT_EQ(After(p, 0, 8000, 1), 7 * kUs);
	EXPECT_EQ(After(p, 0, 8000, 100 * kUnitNs), 7 * kUs);
	EXPECT_EQ(After(p, 8 * kUs, 0, 1), kUs);
}

TEST(TimelyGradient, timely_track_gradient__rare_events_count_by_their_part)
{
	timely_params p = shipped();

	EXPECT_EQ(After(p, 0, 8000, kUnitNs), 7 * kUs);
	EXPECT_EQ(After(p, 0, 8000, 4 * kUnitNs), 7 * kUs / 4);
	EXPECT_EQ(After(p, 0, -8000, 4 * kUnitNs), -7 * kUs / 4);
}

TEST(TimelyGradient, timely_track_gradient__frequent_events_add_up_and_forget_by_time)
{
	timely_params p = shipped();

	EXPECT_EQ(After(p, 0, 8000, kUnitNs / 4), 7 * kUs);
	EXPECT_EQ(After(p, 32 * kUs, 0, kUnitNs / 4), 25 * kUs);
	EXPECT_EQ(After(p, 32 * kUs, 0, 0), 32 * kUs);
}

TEST(TimelyGradient, timely_track_gradient__decays_without_losing_its_sign)
{
	timely_params p = verbatim();
	s64 up = kUs, down = -kUs;

	for (int i = 0; i < 100; i++) {
		up = After(p, up, 0, kUnitNs);
		down = After(p, down, 0, kUnitNs);
	}
	EXPECT_EQ(up, 1);
	EXPECT_EQ(down, -1);
}

TEST(TimelyGradient, timely_track_gradient__is_bounded)
{
	timely_params p = verbatim();
	s64 most = (s64)TIMELY_DIFF_MAX_NS << TIMELY_DIFF_SHIFT;

	EXPECT_EQ(After(p, most, INT64_MAX, kUnitNs), most);
	EXPECT_EQ(After(p, -most, INT64_MIN, kUnitNs), -most);
}

TEST(TimelyGradient, timely_gradient_micro__is_the_difference_over_the_unit)
{
	EXPECT_EQ(timely_gradient_micro(10 * kUs, kUnitNs), 500000);
	EXPECT_EQ(timely_gradient_micro(-10 * kUs, kUnitNs), -500000);
	EXPECT_EQ(timely_gradient_micro(0, kUnitNs), 0);
}

}  // namespace
