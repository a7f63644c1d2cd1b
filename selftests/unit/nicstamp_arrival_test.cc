// SPDX-License-Identifier: GPL-2.0
// drivers/nicstamp/nicstamp_arrival.h: when frames with data came.
#include <map>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "drivers/nicstamp/nicstamp_arrival.h"

namespace {

class Arrivals {
public:
	void Enter(u64 name, u64 at_ns, u32 error_ns = 0)
	{
		nicstamp_arrival_enter(all_.get(), name, at_ns, error_ns);
	}

	// 0: not there
	u64 Get(u64 name)
	{
		nicstamp_arrived arrived{};

		return nicstamp_arrival_get(all_.get(), name, &arrived) ? arrived.at_ns : 0;
	}

	nicstamp_arrivals *all() { return all_.get(); }

private:
	std::unique_ptr<nicstamp_arrivals> all_ = std::make_unique<nicstamp_arrivals>();
};

TEST(nicstamp_arrival_get, never_entered__is_not_there)
{
	Arrivals arrivals;

	EXPECT_EQ(arrivals.Get(1), 0U);
	// what marks an empty place is nobody's name
	EXPECT_EQ(arrivals.Get(0), 0U);
}

TEST(nicstamp_arrival_get, entered__time_and_error)
{
	Arrivals arrivals;
	nicstamp_arrived arrived{};

	arrivals.Enter(77, 1000, 9);
	ASSERT_TRUE(nicstamp_arrival_get(arrivals.all(), 77, &arrived));
	EXPECT_EQ(arrived.at_ns, 1000U);
	EXPECT_EQ(arrived.error_ns, 9U);
	EXPECT_EQ(arrivals.Get(78), 0U);
}

TEST(nicstamp_arrival_enter, came_again__the_last_time_counts)
{
	Arrivals arrivals;

	arrivals.Enter(77, 1000);
	arrivals.Enter(77, 2000);
	arrivals.Enter(78, 3000);
	arrivals.Enter(79, 3000);
	arrivals.Enter(80, 3000);
	EXPECT_EQ(arrivals.Get(77), 2000U);
}

TEST(nicstamp_arrival_enter, set_is_full__the_oldest_goes)
{
	Arrivals arrivals;

	for (u64 i = 1; i <= NICSTAMP_ARRIVAL_WAYS + 1; i++)
		arrivals.Enter(i, 1000 * i);
	EXPECT_EQ(arrivals.Get(1), 0U);
	for (u64 i = 2; i <= NICSTAMP_ARRIVAL_WAYS + 1; i++)
		EXPECT_EQ(arrivals.Get(i), 1000 * i);
}

// A poll of 64 frames, after which each is asked for; seeds as they come.
TEST(nicstamp_arrival_get, of_a_poll_hardly_one_is_missing)
{
	std::mt19937_64 random(1);
	Arrivals arrivals;
	int missing = 0;

	for (int poll = 0; poll < 1000; poll++) {
		std::map<u64, u64> entered;

		for (u64 i = 1; i <= 64; i++) {
			u64 name = random();

			entered[name] = i;
			arrivals.Enter(name, i);
		}
		for (const auto &[name, at_ns] : entered) {
			u64 got = arrivals.Get(name);

			EXPECT_TRUE(got == at_ns || !got);
			missing += !got;
		}
	}
	EXPECT_LE(missing, 64);
}

} // namespace
