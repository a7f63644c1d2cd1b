// SPDX-License-Identifier: GPL-2.0
// Device clocks: drivers/nicstamp/nicstamp_clock.h, against clocks in long double.

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "drivers/nicstamp/nicstamp_clock.h"

namespace {

// -- the counter

u64 Since(const nicstamp_counter &c, u64 raw)
{
	return nicstamp_counter_ns(&c, raw) - (1ULL << 62);
}

TEST(NicstampCounter, ns__counts_on_where_the_raw_counter_wraps)
{
	nicstamp_counter c;

	nicstamp_counter_init(&c, 32, 1, 0, 0xffffff00);
	EXPECT_EQ(Since(c, 0xffffff10), 0x10u);
	EXPECT_EQ(Since(c, 0x10), 0x110u);
}

TEST(NicstampCounter, ns__stamp_from_before_the_base)
{
	nicstamp_counter c;

	nicstamp_counter_init(&c, 40, 1, 0, 5);
	EXPECT_EQ(Since(c, (1ULL << 40) - 5) + 10, 0u);
}

TEST(NicstampCounter, ns__bits_above_the_counter_are_ignored)
{
	nicstamp_counter c;

	nicstamp_counter_init(&c, 32, 1, 0, 0xabcd00000001);
	EXPECT_EQ(Since(c, 0x123400000003), 2u);
}

TEST(NicstampCounter, ns__full_width_counter)
{
	nicstamp_counter c;

	nicstamp_counter_init(&c, 64, 1, 0, ~0ULL - 9);
	EXPECT_EQ(Since(c, 10), 20u);
}

// Any width and rate, read at any interval below half a turn: the sum of all is that
// of the exact counter, but for a nanosecond each time that the base moves.
TEST(NicstampCounter, read__agrees_with_an_exact_counter_for_hours)
{
	std::mt19937_64 random(4);

	for (u32 bits : {24u, 32u, 40u, 56u, 64u}) {
		const u32 shift = 24, mult = (1u << 24) * 10 / 3;	// 300 MHz
		// 20000 steps of 2^38 ticks still fit 64 bits
		u64 ticks = random(), turn = 1ULL << std::min(bits, 40u);
		nicstamp_counter c;
		u64 total = 0, moves = 0;

		nicstamp_counter_init(&c, bits, mult, shift, ticks);
		u64 start = ticks;
		for (int i = 0; i < 20000; i++) {
			u64 step = random() % (turn / 4), base = c.base_raw;

			ticks += step;
			total = nicstamp_counter_read(&c, ticks) - (1ULL << 62);
			moves += c.base_raw != base;
			long double exact = (long double)(ticks - start) * mult / (1 << shift);
			ASSERT_NEAR((double)(exact - total), 0, 1 + moves) << bits;
		}
		EXPECT_TRUE(bits > 40 || moves > 100);
	}
}

// -- the map

// A system clock and a device clock, whose true relation only the test knows.
class Clocks : public ::testing::Test {
 protected:
	// The device's clock at a moment of the system's.
	long double Device(long double sys_ns) const
	{
		return 5e9L + offset_ + sys_ns * (1 + drift_ppb_ * 1e-9L);
	}

	u64 Coarse(long double ns) const { return (u64)(ns / step_ns_) * step_ns_; }

	nicstamp_reading Read(u64 sys_ns, u64 width_ns, double where = 0.5)
	{
		return nicstamp_map_read(&map_, sys_ns,
					 Coarse(Device(sys_ns + width_ns * where)),
					 sys_ns + width_ns, step_ns_);
	}

	// How far the map is off at a moment; it must know its error.
	double Check(u64 sys_ns)
	{
		u64 found = 0, error = 0;

		EXPECT_TRUE(nicstamp_map_to_sys(&map_, Coarse(Device(sys_ns)), &found, &error));
		// the stamp's own steps are not the map's error
		EXPECT_LE(std::fabs((double)((long double)found - sys_ns)),
			  (double)error + step_ns_ + 1);
		return (double)error;
	}

	nicstamp_map map_ = {};
	long double offset_ = 0, drift_ppb_ = 0;
	u32 step_ns_ = 1;
};

TEST_F(Clocks, to_sys__nothing_is_known_before_a_reading)
{
	u64 sys, error;

	EXPECT_FALSE(nicstamp_map_to_sys(&map_, 12345, &sys, &error));
}

TEST_F(Clocks, to_sys__stale_map_is_not_believed)
{
	u64 sys, error;

	Read(1000000, 0);
	EXPECT_FALSE(nicstamp_map_to_sys(&map_, map_.dev_ns + NICSTAMP_MAP_MAX_NS + 1, &sys,
					 &error));
}

TEST_F(Clocks, read__error_bound_holds_for_any_clock)
{
	std::mt19937_64 random(7);

	for (int trial = 0; trial < 200; trial++) {
		map_ = {};
		offset_ = (long double)(random() % 4000000000) - 2e9L;
		drift_ppb_ = (long double)(random() % 200001) - 100000;
		step_ns_ = 1 + random() % 64;
		u64 now = 10000000000;
		ASSERT_EQ(Read(now, random() % 3000), NICSTAMP_READ_FIRST);
		for (int i = 0; i < 40; i++) {
			now += 20000000 + random() % 100000000;
			// the device answers anywhere between the two looks
			auto reading = Read(now, random() % 5000, (random() % 1001) / 1000.0);
			ASSERT_TRUE(reading == NICSTAMP_READ_GOOD ||
				    reading == NICSTAMP_READ_POOR) << reading;
			Check(now + random() % 100000000);
			Check(now - random() % 10000000);
		}
	}
}

TEST_F(Clocks, read__quiet_bracket_gives_tens_of_nanoseconds)
{
	drift_ppb_ = 50000;
	step_ns_ = 8;
	for (u64 now = 1000000000; now < 3000000000; now += 100000000)
		Read(now, 0);
	EXPECT_LT(Check(2950000000), 50);
}

TEST_F(Clocks, read__interrupted_reading_is_passed_over)
{
	Read(1000000000, 100);
	EXPECT_EQ(Read(1100000000, 100), NICSTAMP_READ_GOOD);
	EXPECT_EQ(Read(1200000000, 60000, 1), NICSTAMP_READ_POOR);
	EXPECT_EQ(Read(1300000000, 2000000, 1), NICSTAMP_READ_POOR);
	EXPECT_EQ(map_.epoch, 0u);
	EXPECT_LT(Check(1300000000), 1000);
}

TEST_F(Clocks, read__system_clock_that_ran_backwards_is_passed_over)
{
	EXPECT_EQ(nicstamp_map_read(&map_, 1000, 500, 999, 1), NICSTAMP_READ_POOR);
}

TEST_F(Clocks, read__step_is_seen_and_begins_an_epoch)
{
	for (long double step : {1e6L, -1e6L, 3000.0L, -3000.0L}) {
		map_ = {};
		offset_ = 0;
		Read(1000000000, 100);
		Read(1100000000, 100);
		offset_ += step;
		EXPECT_EQ(Read(1200000000, 100), NICSTAMP_READ_STEP) << (double)step;
		EXPECT_EQ(map_.epoch, 1u);
		EXPECT_EQ(Read(1300000000, 100), NICSTAMP_READ_GOOD);
		Check(1350000000);
	}
}

TEST_F(Clocks, read__changed_rate_is_followed)
{
	Read(1000000000, 100);
	Read(1100000000, 100);
	// adjfine() by 100 ppm at 1.1 s
	drift_ppb_ = 100000;
	offset_ -= 1.1e9L * 1e-4L;
	EXPECT_EQ(Read(1200000000, 100), NICSTAMP_READ_STEP);
	EXPECT_EQ(Read(1300000000, 100), NICSTAMP_READ_GOOD);
	EXPECT_LT(Check(1350000000), 1000);
}

}  // namespace
