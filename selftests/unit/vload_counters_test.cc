// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace vload;

TEST(vload_counters, parse__names_and_values)
{
	std::istringstream in("Tcp: OutSegs RetransSegs\nTcp: 12 3\nUdp: InDatagrams\nUdp: 7\n");
	auto counters = counters_parse(in);

	EXPECT_EQ(counters.at("OutSegs"), 12u);
	EXPECT_EQ(counters.at("RetransSegs"), 3u);
	EXPECT_EQ(counters.at("InDatagrams"), 7u);
}

TEST(vload_counters, parse__line_without_values)
{
	std::istringstream in("Tcp: OutSegs\n");

	EXPECT_TRUE(counters_parse(in).empty());
}
