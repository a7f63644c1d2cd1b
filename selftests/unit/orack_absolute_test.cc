// SPDX-License-Identifier: GPL-2.0
// Delays by clocks whose offset is known: sch_onramp/orack/orack_absolute.h

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_absolute.h"
#include "sch_onramp/orack/orack_wire.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kMs = 1000000;
constexpr double kPathNs = 10000;
constexpr u64 kOffsetNs = 0xfedcba9876543210;	// of the clocks, at first

// A path and two clocks.  Truth is in double precision, and only the test knows it.
class Path {
 public:
	explicit Path(u32 error_ns, orack_grade grade = ORACK_GRADE_SYNCHRONIZED)
		: said_{kOffsetNs, error_ns, grade}
	{
		orack_relative_init(&clock_);
		orack_absolute_init(&absolute_);
		onramp_min_filter_init(&rtt_);
	}

	// A packet that meets these queues, as orack_receive.c has it.
	u64 Packet(double queue_ns, double back_ns)
	{
		double there_ns = kPathNs + longer_ns_ + queue_ns;
		u64 trip = std::llround(there_ns + kPathNs + back_ns);
		u64 raw = std::llround(there_ns + wrong_ns_) + kOffsetNs;
		u64 excess = trip - onramp_min_filter_sample(&rtt_, now_ns_ + trip, trip);
		u64 base = orack_relative_sample(&clock_, 1, now_ns_ + trip, now_ns_, now_ns_ + raw, excess);
		u64 got = known_ ? orack_absolute_sample(&absolute_, &clock_, &said_, now_ns_ + trip,
							  raw, trip, base) : base;

		EXPECT_LE(got, trip + ORACK_RELATIVE_NOISE_NS);
		now_ns_ += kMs;
		return got;
	}

	// So many packets that meet at least `standing`; errors of those after the first.
	void Run(int packets, double standing_ns, double most_ns = 100000)
	{
		low_ns_ = high_ns_ = 0;
		for (int i = 0; i < packets; i++) {
			double extra = random_() % 4 ? random_() % (u64)most_ns : 0;
			double back = random_() % 4 ? random_() % 30000 : 0;
			double off = (double)Packet(standing_ns + extra, back) - standing_ns - extra;

			low_ns_ = std::min(low_ns_, off);
			high_ns_ = std::max(high_ns_, off);
		}
	}

	orack_relative clock_;
	orack_absolute absolute_;
	onramp_min_filter rtt_;
	orack_clock_offset said_;
	bool known_ = true;
	double wrong_ns_ = 0;	// by how much the peer's clock is off what is said
	double longer_ns_ = 0;	// the way there than the way back
	double low_ns_ = 0, high_ns_ = 0;
	u64 now_ns_ = 5000 * kMs;

 private:
	std::mt19937 random_{11};
};

TEST(orack_absolute_sample, exact_clocks__standing_queue_is_seen_from_the_first_packet)
{
	Path path(1);

	path.Run(1000, 80000);
	EXPECT_GE(path.low_ns_, -(double)ORACK_RELATIVE_NOISE_NS - 4);
	EXPECT_LE(path.high_ns_, 4);
	EXPECT_EQ(path.absolute_.grade, ORACK_GRADE_SYNCHRONIZED);
}

// What it is for: the same path by grade (c).
TEST(orack_absolute_sample, standing_queue__is_the_path_to_grade_c)
{
	Path path(1);

	path.known_ = false;
	path.Run(1000, 80000);
	EXPECT_LE(path.low_ns_, -79000);
}

// The error that is left is what 2 sigma leave, and none of it is an overestimate.
TEST(orack_absolute_sample, standing_queue__is_seen_but_for_two_errors_and_the_offset)
{
	for (u32 error : {200u, 5000u, 10000u, 20000u, 50000u}) {
		for (double part : {-1.0, -0.3, 0.0, 0.6, 1.0}) {
			Path path(error);

			path.wrong_ns_ = part * error;
			path.Run(1000, 200000);
			EXPECT_GE(path.low_ns_, -2.0 * error + 2 * path.wrong_ns_ -
				  (double)ORACK_RELATIVE_NOISE_NS - 4) << error << " " << part;
			EXPECT_LE(path.high_ns_, 4) << error << " " << part;
		}
	}
}

// Where the path was empty once, an error within its bound costs nothing.
TEST(orack_absolute_sample, empty_now_and_then__constant_error_costs_nothing)
{
	for (u32 error : {200u, 5000u, 20000u, 100000u, ORACK_ERROR_MAX_NS}) {
		for (double part : {-1.0, 0.5, 1.0}) {
			Path path(error);

			path.wrong_ns_ = part * error;
			path.Run(200, 0);
			path.Run(20000, 0);
			EXPECT_GE(path.low_ns_, -1000) << error << " " << part;
			EXPECT_LE(path.high_ns_, 1000) << error << " " << part;
		}
	}
}

// A clock that is disciplined wanders within its bound: the least delay was measured with
// another error than this one, 2 apart at most, and the path is taken for 2 from it at most.
TEST(orack_absolute_sample, wandering_clock__errs_by_four_errors_at_most)
{
	Path path(2000);

	path.Run(100, 0);
	for (int i = 0; i < 60; i++) {
		path.wrong_ns_ = 2000 * std::sin(i);
		path.Run(500, 0);
		ASSERT_GE(path.low_ns_, -4 * 2000.0) << i;
		ASSERT_LE(path.high_ns_, 4 * 2000.0) << i;
	}
}

// A bound that is not true: what is beyond it is taken for a queue, twice, and no more.
TEST(orack_absolute_sample, false_bound__errs_by_twice_what_it_is_false_by)
{
	Path path(1000);

	path.wrong_ns_ = 9000;		// within noise of the way back: nothing is seen
	path.Run(1000, 0);
	EXPECT_LE(path.high_ns_, 2 * 8000);
	Path other(1000);
	other.wrong_ns_ = -9000;	// the other way it is never a queue
	other.Run(1000, 0);
	EXPECT_LE(other.high_ns_, 4);
}

TEST(orack_absolute_sample, impossible_delays__grade_c_goes_on)
{
	for (double wrong : {-60e3, 10e6, -10e6, 4e18, -4e18}) {
		Path path(1000), base(1000);

		base.known_ = false;
		path.wrong_ns_ = base.wrong_ns_ = wrong;
		for (int i = 0; i < 1000; i++) {
			double queue = i % 7 * 5000;
			ASSERT_EQ(path.Packet(queue, 0), base.Packet(queue, 0)) << wrong;
		}
		EXPECT_EQ(path.absolute_.grade, ORACK_GRADE_BASE);
		EXPECT_EQ(path.absolute_.absurd, 1000u);
	}
}

TEST(orack_absolute_sample, clock_is_set__not_a_queue_before_or_after_it_is_said)
{
	Path path(500);

	path.Run(2000, 0);
	path.wrong_ns_ = 10e6;
	path.Run(20, 0);
	EXPECT_LE(path.high_ns_, 131000);	// what round trips had, and no more
	path.said_.offset_ns += 10000000;
	path.Run(3000, 0);			// grade (c) has its base back
	path.Run(3000, 0);
	EXPECT_LE(path.high_ns_, 2000);
	EXPECT_GE(path.low_ns_, -2000);
	EXPECT_EQ(path.absolute_.grade, ORACK_GRADE_SYNCHRONIZED);
}

// A daemon says other things all the time, each true.
TEST(orack_absolute_sample, offsets_said_anew__each_within_its_bound_hold)
{
	Path path(5000, ORACK_GRADE_OFFSET);

	for (int i = 0; i < 100; i++) {
		path.said_.offset_ns = kOffsetNs + (i * 7919) % 10000 - 5000;
		path.Run(100, 0);
		// The base of the first packets is not yet known to be empty.
		if (i) {
			ASSERT_LE(path.high_ns_, 4 * 5000) << i;
		}
	}
	EXPECT_EQ(path.absolute_.grade, ORACK_GRADE_OFFSET);
	EXPECT_EQ(path.absolute_.absurd, 0u);
}

TEST(orack_absolute_sample, drift_that_the_error_covers__is_left_to_the_base)
{
	Path path(500000, ORACK_GRADE_OFFSET);

	for (int i = 0; i < 20000; i++) {
		path.wrong_ns_ = i * 20.0;		// 20 us/s
		u64 queue = i % 5 * 10000;
		u64 got = path.Packet(queue, 0);
		if (i > 4000) {
			ASSERT_NEAR((double)got, queue, 10000) << i;
		}
	}
}

// Documentation/sch_onramp.rst: the error has to cover ways of different length.
TEST(orack_absolute_sample, longer_way_there__is_a_queue_unless_the_error_covers_it)
{
	Path path(1), covered(20000);

	path.longer_ns_ = covered.longer_ns_ = 40000;
	path.Run(1000, 0);
	covered.Run(1000, 0);
	EXPECT_GE(path.high_ns_, 20000);
	EXPECT_LE(covered.high_ns_, 4);
}

TEST(orack_absolute_sample, any_input__no_more_than_the_round_trip)
{
	std::mt19937_64 random(3);
	Path path(1);

	for (int i = 0; i < 300000; i++) {
		u64 trip = random() % (random() % 2 ? 100 * kUs : 1000 * kMs);
		u64 raw = random() % 4 ? kOffsetNs + random() % (2 * trip + 1) - trip / 2 : random();

		path.said_.error_ns = random() % (ORACK_ERROR_MAX_NS + 1);
		if (random() % 100 == 0)
			path.said_.offset_ns = kOffsetNs + random() % 100000;
		path.now_ns_ += random() % kMs;
		ASSERT_LE(orack_absolute_sample(&path.absolute_, &path.clock_, &path.said_, path.now_ns_,
						 raw, trip, random() % (trip + 1)),
			  trip + ORACK_RELATIVE_NOISE_NS);
	}
}

}  // namespace
