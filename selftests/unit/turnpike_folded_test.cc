// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "folded.h"

using turnpike::folded;

TEST(folded, no_terminal__lines_stay_whole)
{
	EXPECT_EQ(folded("one two three\n", 0, 2), "one two three\n");
}

TEST(folded, long_line__goes_on_indented_at_a_space)
{
	EXPECT_EQ(folded("onramp   eth0: 3 flows, 2 drops\n", 20, 9), "onramp   eth0: 3\n         flows, 2\n         drops\n");
}

TEST(folded, line_that_just_fits__stays_whole)
{
	EXPECT_EQ(folded("one two\nsix\n", 7, 2), "one two\nsix\n");
	EXPECT_EQ(folded("one two", 6, 2), "one\n  two");
}

TEST(folded, word_longer_than_a_line__stays_whole)
{
	EXPECT_EQ(folded("  abcdefghijkl mn opq\n", 8, 2), "  abcdefghijkl\n  mn opq\n");
	EXPECT_EQ(folded("abcdefghijkl\n", 8, 2), "abcdefghijkl\n");
	EXPECT_EQ(folded("  abcdefghijkl", 8, 4), "  abcdefghijkl");
}

TEST(folded, empty_lines__stay)
{
	EXPECT_EQ(folded("\n\na b\n", 2, 1), "\n\na\n b\n");
	EXPECT_EQ(folded("", 2, 1), "");
	EXPECT_EQ(folded("          \n", 4, 1), "          \n");
}

TEST(folded, screen_narrower_than_the_indent__nothing_is_folded)
{
	EXPECT_EQ(folded("one two three", 3, 9), "one two three");
}
