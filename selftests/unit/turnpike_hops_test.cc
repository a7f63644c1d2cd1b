// SPDX-License-Identifier: GPL-2.0
// Queues of two ways: include/turnpike_hops.h

#include <gtest/gtest.h>

#include "include/turnpike_hops.h"

namespace {

TEST(TpHops, join__queues_of_both_ways)
{
	tp_hops h = {30000, 20000, 500000000};
	tp_hops back = {50000, 40000, 1700000000};

	tp_hops_join(&h, &back);
	EXPECT_EQ(h.sum_ns, 80000u);
	EXPECT_EQ(h.max_ns, 40000u);
	EXPECT_EQ(h.squares, 2200000000u);
}

TEST(TpHops, join__longest_stays_that_of_the_way_there)
{
	tp_hops h = {30000, 20000, 500000000};
	tp_hops back = {10000, 10000, 100000000};

	tp_hops_join(&h, &back);
	EXPECT_EQ(h.max_ns, 20000u);
}

TEST(TpHops, join__nothing_changes_nothing)
{
	tp_hops h = {30000, 20000, 500000000};
	tp_hops none = {};

	tp_hops_join(&h, &none);
	EXPECT_EQ(h.sum_ns, 30000u);
	EXPECT_EQ(h.max_ns, 20000u);
	EXPECT_EQ(h.squares, 500000000u);
}

TEST(TpHops, join__squares_do_not_wrap)
{
	tp_hops h = {1, 1, ~0ULL - 5};
	tp_hops back = {1, 1, 10};

	tp_hops_join(&h, &back);
	EXPECT_EQ(h.squares, ~0ULL);
}

}  // namespace
