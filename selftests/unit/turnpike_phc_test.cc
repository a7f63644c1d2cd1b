// SPDX-License-Identifier: GPL-2.0
// Readings of a NIC's clock brought to CLOCK_MONOTONIC: tools/turnpike/phc.h.

#include <cerrno>
#include <random>

#include <gtest/gtest.h>

#include "phc.h"

namespace turnpike {
namespace {

constexpr std::int64_t kAhead = 1700000000123456789;	// CLOCK_REALTIME, of CLOCK_MONOTONIC
constexpr std::int64_t kStart = 5000000000;

ClockLook look(std::int64_t at, std::int64_t took, std::int64_t ahead = kAhead)
{
	return {at, at + took / 2 + ahead, at + took};
}

TEST(ToMonotonic, crossing__encloses_the_moment)
{
	std::mt19937_64 random(3);

	for (int i = 0; i < 100000; i++) {
		auto some = [&random](int most) { return static_cast<std::int64_t>(random() % most); };
		std::int64_t at = kStart, took = some(200);
		ClockLook first = {at, at + some(took + 1) + kAhead, at + took};
		at += took + some(2000);
		std::int64_t before = at, read = before + some(3000), after = read + some(3000);
		at = after + some(2000);
		took = some(200);
		ClockLook last = {at, at + some(took + 1) + kAhead, at + took};

		std::optional<Crossing> crossing =
			to_monotonic(first, {before + kAhead, 7, after + kAhead}, last);
		ASSERT_TRUE(crossing);
		EXPECT_EQ(crossing->nic_ns, 7);
		EXPECT_LE(crossing->before_ns, before);
		EXPECT_GE(crossing->after_ns, after);
		EXPECT_LE(crossing->before_ns, read);
		EXPECT_GE(crossing->after_ns, read);
		// no wider than the reading and what the looks leave open
		EXPECT_LE(crossing->after_ns - crossing->before_ns, after - before + 200 + 2);
	}
}

TEST(ToMonotonic, crossing__of_no_time_stays_of_none)
{
	std::optional<Crossing> crossing = to_monotonic(
		look(kStart, 0), {kStart + kAhead, 7, kStart + kAhead}, look(kStart, 0));

	ASSERT_TRUE(crossing);
	EXPECT_EQ(crossing->before_ns, kStart);
	EXPECT_EQ(crossing->after_ns, kStart);
}

TEST(ToMonotonic, crossing__none_when_the_system_clock_was_set)
{
	for (std::int64_t step : {1000LL, -1000LL, 1000000000LL, -1000000000LL}) {
		EXPECT_FALSE(to_monotonic(look(kStart, 100), {kStart + kAhead + 500, 7, kStart + kAhead + 600},
					  look(kStart + 1000, 100, kAhead + step)));
		// and set back before the second look
		EXPECT_FALSE(to_monotonic(look(kStart, 100),
					  {kStart + kAhead + 500 + 3 * step, 7, kStart + kAhead + 600 + 3 * step},
					  look(kStart + 1000, 100)));
	}
}

TEST(WayAfter, precise__any_failure_leads_to_the_next)
{
	// ENODEV: the hardware captured another clock than the one that keeps time
	for (int why : {EOPNOTSUPP, ENOTTY, EINVAL, ENODEV, ETIMEDOUT, EBUSY, EIO})
		EXPECT_EQ(way_after(PhcWay::kPrecise, why), PhcWay::kExtended) << why;
	EXPECT_EQ(way_after(PhcWay::kPrecise, EINTR), PhcWay::kPrecise);
}

TEST(WayAfter, others__kept_while_they_fail_for_a_moment)
{
	for (int why : {EBUSY, EIO, ETIMEDOUT, EINTR}) {
		EXPECT_EQ(way_after(PhcWay::kExtended, why), PhcWay::kExtended) << why;
		EXPECT_EQ(way_after(PhcWay::kPlain, why), PhcWay::kPlain) << why;
	}
}

TEST(WayAfter, none__is_left_of_a_clock_that_is_gone)
{
	PhcWay way = PhcWay::kPrecise;

	for (PhcWay next : {PhcWay::kExtended, PhcWay::kPlain, PhcWay::kNone}) {
		way = way_after(way, ENODEV);
		EXPECT_EQ(way, next);
	}
}

}  // namespace
}  // namespace turnpike
