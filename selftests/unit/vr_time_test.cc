// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "selftests/vrack/vr_time.h"

TEST(vr_wire_bytes, full_frame__1538)
{
	EXPECT_EQ(vr_wire_bytes(1514), 1538U);
}

TEST(vr_wire_bytes, short_frame__padded_to_84)
{
	EXPECT_EQ(vr_wire_bytes(42), 84U);
}

TEST(vr_serialize_ps, full_frame_at_100g__123040_ps)
{
	u64 rem = 0;

	EXPECT_EQ(vr_serialize_ps(1538, 100000000000ULL, &rem), 123040U);
	EXPECT_EQ(rem, 0U);
}

TEST(vr_serialize_ps, a_million_frames__take_what_their_bytes_take)
{
	for (u64 rate : {VR_RATE_MIN, 33333333ULL, 7300000001ULL, 25000000000ULL, VR_RATE_MAX}) {
		unsigned __int128 exact = (unsigned __int128)1538 * 8 * VR_PS_PER_SEC * 1000000;
		u64 rem = 0, sum = 0;

		for (int i = 0; i < 1000000; i++)
			sum += vr_serialize_ps(1538, rate, &rem);
		EXPECT_EQ(sum, (u64)(exact / rate)) << rate;
	}
}

TEST(vr_serialize_ps, largest_product__does_not_overflow)
{
	u64 rem = VR_RATE_MIN - 1;

	EXPECT_EQ(vr_serialize_ps(2000000, VR_RATE_MIN, &rem), 1600000000000ULL);
}

TEST(vr_jitter_ps, spread__from_nothing_to_just_below_the_most)
{
	EXPECT_EQ(vr_jitter_ps(100000000, 0), 0U);
	EXPECT_EQ(vr_jitter_ps(100000000, 1U << 31), 50000000U);
	EXPECT_EQ(vr_jitter_ps(VR_PS_PER_SEC, ~0U), VR_PS_PER_SEC - 233);
}
