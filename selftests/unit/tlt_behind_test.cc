// SPDX-License-Identifier: GPL-2.0
// tlt_behind.h: is TCP's window the last that the peer told, where packets pass before IP?
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tlt/tlt_behind.h"

namespace {

TEST(TltBehind, known__when_tcp_had_all)
{
	tlt_behind b = {};

	tlt_behind_pass(&b, 10, 500);
	EXPECT_TRUE(tlt_behind_window_is_known(&b, 11, 700));
}

TEST(TltBehind, known__where_all_that_wait_say_the_same)
{
	tlt_behind b = {};

	tlt_behind_pass(&b, 10, 500);
	tlt_behind_pass(&b, 10, 500);
	EXPECT_TRUE(tlt_behind_window_is_known(&b, 10, 500));
	EXPECT_FALSE(tlt_behind_window_is_known(&b, 10, 501));
}

TEST(TltBehind, unknown__after_one_that_differed)
{
	tlt_behind b = {};

	tlt_behind_pass(&b, 10, 500);
	tlt_behind_pass(&b, 10, 0);
	tlt_behind_pass(&b, 10, 500);
	EXPECT_FALSE(tlt_behind_window_is_known(&b, 10, 500));
}

TEST(TltBehind, known_again__with_the_next_batch)
{
	tlt_behind b = {};

	tlt_behind_pass(&b, 10, 500);
	tlt_behind_pass(&b, 10, 0);
	tlt_behind_pass(&b, 12, 500);
	EXPECT_TRUE(tlt_behind_window_is_known(&b, 12, 500));
}

// Batches of a queue, each handed to TCP as a whole: never "known" while one waits that
// says another window.
TEST(TltBehind, never_known__while_another_window_waits)
{
	std::mt19937 dice(1);
	unsigned known = 0;

	for (int run = 0; run < 2000; run++) {
		std::vector<u16> waiting;
		tlt_behind b = {};
		u32 segments = 1;

		for (int step = 0; step < 100; step++) {
			u16 window = dice() % 3;
			bool another = false;

			for (u16 other : waiting)
				another |= other != window;
			if (tlt_behind_window_is_known(&b, segments, window)) {
				EXPECT_FALSE(another);
				known++;
			}
			tlt_behind_pass(&b, segments, window);
			waiting.push_back(window);
			if (dice() % 4 == 0) {
				segments += waiting.size();
				waiting.clear();
			}
		}
	}
	EXPECT_GT(known, 1000u);
}

}  // namespace
