// SPDX-License-Identifier: GPL-2.0
//
// Numbers with units, percentiles and tables, as people see them.
#include <gtest/gtest.h>

#include "tools/turnpike/percentile.h"
#include "tools/turnpike/table.h"
#include "tools/turnpike/units.h"

using namespace turnpike;

TEST(Units, duration__has_three_digits_in_the_unit_that_fits)
{
	EXPECT_EQ(duration_text(0), "0 ns");
	EXPECT_EQ(duration_text(999), "999 ns");
	EXPECT_EQ(duration_text(999.6), "1.00 us");
	EXPECT_EQ(duration_text(31234), "31.2 us");
	EXPECT_EQ(duration_text(-31234), "-31.2 us");
	EXPECT_EQ(duration_text(9996), "10.0 us");
	EXPECT_EQ(duration_text(99960), "100 us");
	EXPECT_EQ(duration_text(999600), "1.00 ms");
	EXPECT_EQ(duration_text(1e13), "10000 s");
}

TEST(Units, rate_and_bytes__count_in_thousands)
{
	EXPECT_EQ(rate_text(9.41e9), "9.41 Gbit/s");
	EXPECT_EQ(rate_text(120), "120 bit/s");
	EXPECT_EQ(bytes_text(64000), "64.0 kB");
	EXPECT_EQ(bytes_text(12), "12 B");
}

TEST(Units, text__names_one_and_many)
{
	EXPECT_EQ(count_text(1, "flow"), "1 flow");
	EXPECT_EQ(count_text(0, "flow"), "0 flows");
	EXPECT_EQ(percent_text(.0312), "3.1 %");
	EXPECT_EQ(age_text(119), "119 s");
	EXPECT_EQ(age_text(120), "2 min");
	EXPECT_EQ(age_text(7200), "2 h");
	EXPECT_EQ(age_text(172800), "2 days");
}

TEST(Units, or_dash__has_a_dash_for_what_is_no_number)
{
	EXPECT_EQ(or_dash(nullptr, duration_text), "-");
	EXPECT_EQ(or_dash("word", duration_text), "-");
	EXPECT_EQ(or_dash(31234, duration_text), "31.2 us");
}

TEST(Units, printable__leaves_nothing_that_a_terminal_obeys)
{
	EXPECT_EQ(printable("eth0.7"), "eth0.7");
	EXPECT_EQ(printable("a\x1b[2J~\x7f\xff"), "a\\x1b[2J~\\x7f\\xff");
}

TEST(Percentile, percentile__is_of_the_nearest_rank)
{
	std::vector<unsigned> four = {10, 20, 30, 40};

	EXPECT_EQ(percentile(four, 0), 10u);
	EXPECT_EQ(percentile(four, 25), 10u);
	EXPECT_EQ(percentile(four, 26), 20u);
	EXPECT_EQ(percentile(four, 50), 20u);
	EXPECT_EQ(percentile(four, 99), 40u);
	EXPECT_EQ(percentile(four, 100), 40u);
}

TEST(Table, text__aligns_words_left_and_numbers_right)
{
	Table table({{"dev", Align::left}, {"flows"}, {"note", Align::left}});

	EXPECT_TRUE(table.empty());
	table.add({"eth0", "7", "x"});
	table.add({"lo", "1234567"});
	EXPECT_FALSE(table.empty());
	EXPECT_EQ(table.text(),
		  "dev     flows  note\n"
		  "eth0        7  x\n"
		  "lo    1234567\n");
}

TEST(Table, text__has_titles_alone_without_rows)
{
	EXPECT_EQ(Table({{"dev", Align::left}, {"flows"}}).text(), "dev  flows\n");
}

TEST(Table, text__escapes_names)
{
	Table table({{"dev", Align::left}});

	table.add({"a\nb"});
	EXPECT_EQ(table.text(), "dev\na\\x0ab\n");
}
