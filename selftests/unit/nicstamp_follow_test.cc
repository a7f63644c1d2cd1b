// SPDX-License-Identifier: GPL-2.0
// Receive stamps by a clock that a program tells of: drivers/nicstamp/nicstamp_follow.h, against
// clocks in long double.

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "drivers/nicstamp/nicstamp_follow.h"

namespace {

constexpr u64 kMs = 1000000;
constexpr u64 kBeat = 100 * kMs;
constexpr u32 kStep = 8;

// A NIC's clock, fast by so much, in steps.
class Nic {
 public:
	u64 At(u64 sys_ns) const
	{
		long double ns = 5e15L + offset + (1 + ppm * 1e-6L) * sys_ns;

		return static_cast<u64>(std::floor(ns / kStep)) * kStep;
	}

	long double ppm = 0;
	long double offset = 0;
};

class Follow : public ::testing::Test {
 protected:
	Follow() { nicstamp_follow_begin(&f_, kStep); }

	nicstamp_reading Read(u64 at, u64 width = 2000)
	{
		nicstamp_crossing c = {at - width / 2, nic_.At(at), at + width / 2};

		EXPECT_EQ(nicstamp_follow_fault(&f_, &c, c.after_ns), NICSTAMP_SOUND);
		return nicstamp_follow_read(&f_, &c);
	}

	void ReadTill(u64 end, u64 width = 2000)
	{
		for (; at_ <= end; at_ += kBeat)
			Read(at_, width);
	}

	// Of a frame that came then; the host looks at it `late` after that.
	nicstamp_stamped Stamp(u64 at, u64 late = 5000)
	{
		return nicstamp_follow_stamp(&f_, nic_.At(at), at + late, &sys_ns_, &error_ns_);
	}

	nicstamp_fault Fault(u64 before, u64 nic, u64 after, u64 now)
	{
		nicstamp_crossing c = {before, nic, after};

		return nicstamp_follow_fault(&f_, &c, now);
	}

	Nic nic_;
	nicstamp_follow f_ = {};
	u64 at_ = 10 * 1000 * kMs;
	u64 sys_ns_ = 0;
	u64 error_ns_ = 0;
};

TEST_F(Follow, stamp__unknown_before_a_reading)
{
	EXPECT_EQ(Stamp(at_), NICSTAMP_STAMP_UNKNOWN);
}

TEST_F(Follow, stamp__within_its_error)
{
	std::mt19937_64 random(7);
	long double worst = 0;

	for (long double ppm : {-400.0L, -50.0L, 0.0L, 3.0L, 100.0L, 400.0L}) {
		nicstamp_follow_begin(&f_, kStep);
		nic_.ppm = ppm;
		ReadTill(at_ + 3 * kBeat);
		for (int i = 0; i < 1000; i++) {
			u64 at = at_ - kBeat + random() % kBeat;
			ASSERT_EQ(Stamp(at, random() % 100000), NICSTAMP_STAMP_KNOWN);
			u64 off = nicstamp_distance(sys_ns_, at);
			EXPECT_LE(off, error_ns_);
			worst = std::max<long double>(worst, error_ns_);
		}
	}
	// brackets of 2 us, a line through two of them, as long again to the next
	EXPECT_LE(worst, 3 * (1000 + kStep) + 100);
}

TEST_F(Follow, stamp__never_later_than_the_host_saw_it)
{
	ReadTill(at_ + 3 * kBeat);
	for (u64 late = 0; late < 2000; late += 10) {
		ASSERT_EQ(Stamp(at_ - 1000, late), NICSTAMP_STAMP_KNOWN);
		EXPECT_LE(sys_ns_, at_ - 1000 + late);
	}
}

TEST_F(Follow, stamp__unknown_while_the_rate_is)
{
	Read(at_);
	// 500 ppm of 30 ms
	EXPECT_EQ(Stamp(at_ + 30 * kMs), NICSTAMP_STAMP_UNKNOWN);
	EXPECT_EQ(Stamp(at_ + kMs), NICSTAMP_STAMP_KNOWN);
	Read(at_ + 20 * kMs);
	EXPECT_EQ(Stamp(at_ + 30 * kMs), NICSTAMP_STAMP_KNOWN);
}

TEST_F(Follow, stamp__unknown_by_readings_that_take_too_long)
{
	ReadTill(at_ + 5 * kBeat, 30000);
	EXPECT_EQ(Stamp(at_), NICSTAMP_STAMP_UNKNOWN);
	EXPECT_GT(error_ns_, NICSTAMP_FOLLOW_ERROR_MAX_NS);
}

TEST_F(Follow, stamp__unknown_when_readings_stop)
{
	// narrow ones: by wider ones it is known too badly before
	ReadTill(at_ + 5 * kBeat, 200);
	u64 last = f_.read_ns;
	EXPECT_EQ(Stamp(last + 900 * kMs), NICSTAMP_STAMP_KNOWN);
	EXPECT_EQ(Stamp(last + 1001 * kMs), NICSTAMP_STAMP_UNKNOWN);
	// what was known before the pause says nothing any more
	Read(last + 3000 * kMs);
	EXPECT_EQ(f_.map.readings, 1u);
}

TEST_F(Follow, stamp__absurd_by_a_clock_that_stepped)
{
	for (long double step : {20e3L, 1e6L, 1e9L, 1e14L, -11e6L, -1e9L, -1e14L}) {
		nic_.offset = 0;
		nicstamp_follow_begin(&f_, kStep);
		ReadTill(at_ + 5 * kBeat);
		nic_.offset = step;
		EXPECT_EQ(Stamp(at_ - kBeat / 2), NICSTAMP_STAMP_ABSURD) << step;
		nicstamp_follow_doubt(&f_);
		EXPECT_EQ(Stamp(at_ - kBeat / 2), NICSTAMP_STAMP_UNKNOWN) << step;
		ReadTill(at_ + kBeat);
		ASSERT_EQ(Stamp(at_ - kBeat / 2), NICSTAMP_STAMP_KNOWN) << step;
		EXPECT_LE(nicstamp_distance(sys_ns_, at_ - kBeat / 2), error_ns_);
	}
}

TEST_F(Follow, read__finds_a_step)
{
	ReadTill(at_ + 5 * kBeat);
	nic_.offset = -20000;
	EXPECT_EQ(Read(at_), NICSTAMP_READ_STEP);
	EXPECT_EQ(Stamp(at_ + 50 * kMs), NICSTAMP_STAMP_UNKNOWN);
	EXPECT_EQ(Read(at_ + kBeat), NICSTAMP_READ_GOOD);
	EXPECT_EQ(Stamp(at_ + kBeat + kMs), NICSTAMP_STAMP_KNOWN);
}

TEST_F(Follow, fault__tells_what_is_wrong)
{
	u64 now = 50 * kBeat;

	EXPECT_EQ(Fault(now - 10, 1, now, now), NICSTAMP_SOUND);
	EXPECT_EQ(Fault(now, 1, now, now), NICSTAMP_SOUND);
	EXPECT_EQ(Fault(now - 10, 0, now, now), NICSTAMP_NO_TIME);
	EXPECT_EQ(Fault(now - 10, 1ULL << 63, now, now), NICSTAMP_NO_TIME);
	EXPECT_EQ(Fault(now, 1, now - 1, now), NICSTAMP_BACKWARDS);
	EXPECT_EQ(Fault(~0ULL, 1, 0, now), NICSTAMP_BACKWARDS);
	EXPECT_EQ(Fault(now - kMs - 1, 1, now, now), NICSTAMP_WIDE);
	EXPECT_EQ(Fault(0, 1, ~0ULL, now), NICSTAMP_WIDE);
	EXPECT_EQ(Fault(now, 1, now + 1, now), NICSTAMP_AHEAD);
	EXPECT_EQ(Fault(now - 1001 * kMs, 1, now - 1001 * kMs, now), NICSTAMP_OLD);
	ReadTill(at_);
	now = f_.read_ns + 5;
	EXPECT_EQ(Fault(f_.read_ns - 1, 1, f_.read_ns, now), NICSTAMP_EARLIER);
	EXPECT_EQ(Fault(f_.read_ns, 1, f_.read_ns, now), NICSTAMP_SOUND);
}

// Whatever a program says: no crash, and a stamp that is given is at the host's time or
// before, and known as well as is asked for.
TEST_F(Follow, stamp__bounded_whatever_was_told)
{
	std::mt19937_64 random(11);
	u64 now = at_;

	for (int i = 0; i < 200000; i++) {
		nicstamp_crossing c;

		now += random() % 1000000;
		c.before_ns = now - random() % 2000;
		c.after_ns = c.before_ns + random() % 2000;
		c.nic_ns = random() >> random() % 64;
		if (nicstamp_follow_fault(&f_, &c, now) == NICSTAMP_SOUND)
			nicstamp_follow_read(&f_, &c);
		u64 nic = i % 3 ? c.nic_ns + random() % 20000 : random() >> random() % 64;
		if (nicstamp_follow_stamp(&f_, nic, now, &sys_ns_, &error_ns_) !=
		    NICSTAMP_STAMP_KNOWN)
			continue;
		ASSERT_LE(sys_ns_, now);
		ASSERT_LE(error_ns_, NICSTAMP_FOLLOW_ERROR_MAX_NS);
		ASSERT_LE(now - sys_ns_, NICSTAMP_FOLLOW_LATE_MAX_NS + error_ns_);
	}
}

}  // namespace
