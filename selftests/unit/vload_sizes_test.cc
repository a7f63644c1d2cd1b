// SPDX-License-Identifier: GPL-2.0
#include "sizes.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace vload;

namespace
{

SizeDist parse(const std::string &text)
{
	std::istringstream in(text);

	return SizeDist::parse(in, "table");
}

std::string parse_error(const std::string &text)
{
	try {
		parse(text);
	} catch (const SizesError &error) {
		return error.what();
	}
	return "";
}

} // namespace

TEST(vload_sizes, quantile__interpolates_between_points)
{
	SizeDist dist = parse("# comment\n0 0\n100 0.5 # half\n\n300 1\n");

	EXPECT_EQ(dist.quantile_bytes(0.25), 50u);
	EXPECT_EQ(dist.quantile_bytes(0.5), 100u);
	EXPECT_EQ(dist.quantile_bytes(0.75), 200u);
	EXPECT_EQ(dist.quantile_bytes(1), 300u);
}

TEST(vload_sizes, quantile__never_zero_bytes)
{
	EXPECT_EQ(parse("0 0\n100 1\n").quantile_bytes(0), 1u);
}

TEST(vload_sizes, quantile__first_point_is_an_atom)
{
	SizeDist dist = parse("64 0.3\n128 1\n");

	EXPECT_EQ(dist.quantile_bytes(0), 64u);
	EXPECT_EQ(dist.quantile_bytes(0.29), 64u);
	EXPECT_EQ(dist.quantile_bytes(0.65), 96u);
	EXPECT_DOUBLE_EQ(dist.mean_bytes(), 0.3 * 64 + 0.7 * 96);
}

TEST(vload_sizes, quantile__flat_part_is_skipped)
{
	SizeDist dist = parse("0 0\n10 0.5\n1000 0.5\n2000 1\n");

	EXPECT_LE(dist.quantile_bytes(0.499), 10u);
	EXPECT_GE(dist.quantile_bytes(0.501), 1000u);
}

TEST(vload_sizes, fixed__always_the_same)
{
	SizeDist dist = SizeDist::fixed(1460);
	Rng rng(1);

	for (int i = 0; i < 100; i++)
		EXPECT_EQ(dist.sample(rng), 1460u);
	EXPECT_DOUBLE_EQ(dist.mean_bytes(), 1460);
}

TEST(vload_sizes, sample__same_seed_same_sizes)
{
	SizeDist dist = parse("0 0\n1000000 1\n");
	Rng a(42, 3), b(42, 3), c(42, 4);
	bool differs = false;

	for (int i = 0; i < 100; i++) {
		uint64_t bytes = dist.sample(a);
		EXPECT_EQ(bytes, dist.sample(b));
		differs |= bytes != dist.sample(c);
	}
	EXPECT_TRUE(differs);
}

TEST(vload_sizes, parse__errors_name_the_line)
{
	EXPECT_EQ(parse_error("0 0\nten 1\n"), "table:2: expected `bytes cumulative_probability`");
	EXPECT_EQ(parse_error("0 0\n10\n"), "table:2: expected `bytes cumulative_probability`");
	EXPECT_EQ(parse_error("0 0 0\n"), "table:1: expected `bytes cumulative_probability`");
	EXPECT_EQ(parse_error("5 0\n5 1\n"), "table:2: sizes must rise");
	EXPECT_EQ(parse_error("0 0.5\n5 0.4\n"), "table:2: cumulative probabilities must not fall");
	EXPECT_EQ(parse_error("0 0\n5 15\n"), "table:2: cumulative probability out of range (0 to 1)");
	EXPECT_EQ(parse_error("-1 0\n"), "table:1: size out of range (0 to 1e12 bytes)");
	EXPECT_EQ(parse_error("0 0\n5 0.9\n"), "table:2: the last cumulative probability is not 1");
	EXPECT_EQ(parse_error("# nothing\n"), "table: no sizes in it");
	EXPECT_EQ(parse_error("0 1\n"), "table: no size above 0 bytes");
}

TEST(vload_sizes, load__missing_file)
{
	EXPECT_THROW(SizeDist::load("/nonexistent/sizes"), SizesError);
}

class vload_shipped_sizes : public testing::TestWithParam<const char *> {};

// 4 standard errors of the mean; a heavy tail makes them wide, so the sample is large.
TEST_P(vload_shipped_sizes, sample__mean_is_that_of_the_table)
{
	constexpr int SAMPLES = 1'000'000;
	SizeDist dist = SizeDist::load(std::string(VLOAD_SIZES_DIR "/") + GetParam());
	Rng rng(7);
	double sum = 0, squares = 0;

	for (int i = 0; i < SAMPLES; i++) {
		auto bytes = static_cast<double>(dist.sample(rng));
		sum += bytes;
		squares += bytes * bytes;
	}
	double mean = sum / SAMPLES;
	double error = std::sqrt((squares / SAMPLES - mean * mean) / SAMPLES);
	EXPECT_NEAR(mean, dist.mean_bytes(), 4 * error + 0.01);
	EXPECT_LT(error, 0.05 * mean);
}

INSTANTIATE_TEST_SUITE_P(all, vload_shipped_sizes,
			 testing::Values("WebSearch", "FB_Hadoop", "GoogleSearchRPC", "WebServer", "CacheFollower"));

TEST(vload_rng, exponential__mean)
{
	Rng rng(3);
	double sum = 0;

	for (int i = 0; i < 1'000'000; i++)
		sum += rng.exponential(250);
	EXPECT_NEAR(sum / 1e6, 250, 1);
}

TEST(vload_rng, below__every_value_and_no_other)
{
	Rng rng(5);
	std::vector<int> seen(7);

	for (int i = 0; i < 7000; i++)
		seen.at(rng.below(7))++;
	for (int count : seen)
		EXPECT_NEAR(count, 1000, 150);
}

TEST(vload_rng, known_sequence__does_not_change)
{
	Rng a(1), b(1);
	EXPECT_EQ(a.next(), b.next());
	EXPECT_NE(a.next(), Rng(2).next());
}
