// SPDX-License-Identifier: GPL-2.0
// Flows to one receiver agree on p: tcp_timely/timely_agree.h

#include <cmath>

#include "selftests/unit/timely_engine.h"
#include "tcp_timely/timely_agree.h"

namespace {

using namespace timely_test;

constexpr double kOne = TIMELY_PI_ONE;
constexpr u64 kMs = 1'000'000;

timely_params pi() { return shipped(TIMELY_VARIANT_PI); }

// p after a flow at @at spoke, @gap below the others, @elapsed_ns after its last event.
double after(double at, double gap, u64 elapsed_ns)
{
	timely_params p = pi();
	timely_state s{};

	s.pi_p_q = static_cast<u64>(at * kOne);
	timely_agree(&s, &p, static_cast<s64>(gap * kOne), elapsed_ns);
	return s.pi_p_q / kOne;
}

TEST(timely_agree_is_due, events__speak_once_a_millisecond)
{
	constexpr u64 kTick = 1ULL << TIMELY_AGREE_LOG;
	int spoke = 0;

	for (u64 at = kTick; at < 11 * kTick; at += kTick / 20)
		spoke += timely_agree_is_due(at - kTick / 20, at);
	EXPECT_EQ(spoke, 10);
	EXPECT_TRUE(timely_agree_is_due(TIMELY_MOMENT_MASK, 0));
	EXPECT_FALSE(timely_agree_is_due(5 * kTick, 5 * kTick));
}

TEST(timely_agree, p__moves_a_tenth_of_a_small_difference_in_a_millisecond)
{
	EXPECT_NEAR(after(3, 0.5, kMs), 3 + 0.5 * 0.1, 0.003);
	EXPECT_NEAR(after(3, -0.5, kMs), 3 - 0.5 * 0.1, 0.003);
	EXPECT_EQ(after(3, 0, kMs), 3);
}

// Events are microseconds apart, and a flow speaks at one of them a millisecond.
TEST(timely_agree, event_just_before__counts_as_a_millisecond)
{
	EXPECT_EQ(after(3, 0.5, 50'000), after(3, 0.5, 1ULL << TIMELY_AGREE_LOG));
}

TEST(timely_agree, rare_events__count_up_to_four_milliseconds)
{
	EXPECT_NEAR(after(3, 0.5, 3 * kMs), 3 + 0.5 * 0.3, 0.003);
	EXPECT_EQ(after(3, 0.5, 900 * kMs), after(3, 0.5, 4 * kMs));
}

// Whoever says what, K2 is stronger when the queue is empty, and the queue stays below t_high.
TEST(timely_agree, liar__starves_nobody)
{
	timely_params p = pi();
	double k2 = p.pi_k2_per_s;
	double up = timely_agree_pull_q(&p, 255LL << TIMELY_PI_SHIFT) / kOne;
	double down = timely_agree_pull_q(&p, -(255LL << TIMELY_PI_SHIFT)) / kOne;

	EXPECT_NEAR(up, 0.8 * k2, 0.001 * k2);
	EXPECT_LT(up, k2);
	EXPECT_NEAR(down, -4 * k2, 0.001 * k2);
}

TEST(timely_agree, p__stays_in_its_field)
{
	EXPECT_EQ(after(0.01, -200, 4 * kMs), 0);
	EXPECT_EQ(after(255.99, 200, 4 * kMs), TIMELY_PI_MAX_Q / kOne);
}

// A reference in doubles, over all of the range.
TEST(timely_agree, any__is_the_reference_in_doubles)
{
	for (double at : {0.0, 0.2, 1.0, 7.5, 100.0})
		for (double gap : {-50.0, -3.0, -0.7, -0.01, 0.01, 0.3, 2.0, 90.0})
			for (u64 elapsed : {0ULL, 1'500'000ULL, 4'000'000ULL}) {
				double s = std::max<double>(elapsed, 1 << TIMELY_AGREE_LOG) / 1e9;
				double pull = std::min(80.0, std::max(-400.0, gap * 100));

				EXPECT_NEAR(after(at, gap, elapsed), std::max(0.0, at + pull * s),
					    1e-3);
			}
}

}  // namespace
