// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "selftests/vrack/vr_hops.h"

TEST(vr_hops, longest__of_all_in_any_order)
{
	vr_hops h = {};

	vr_hops_add(&h, 500);
	vr_hops_add(&h, 90001);
	vr_hops_add(&h, 0);
	vr_hops_add(&h, 90000);
	EXPECT_EQ(h.max_ns, 90001u);
}

TEST(vr_hops, squares__in_units_of_64_ns)
{
	vr_hops h = {};
	tp_hops tell;

	vr_hops_add(&h, 64 * 30);
	vr_hops_add(&h, 64 * 40);
	EXPECT_EQ(h.squares, 2500u);
	vr_hops_tell(&tell, &h, 64 * 70);
	EXPECT_EQ(tell.squares, 64u * 50 * 64 * 50);
	EXPECT_EQ(tell.sum_ns, 64u * 70);
	EXPECT_EQ(tell.max_ns, 64u * 40);
}

TEST(vr_hops, waits_below_half_a_unit__have_no_square)
{
	vr_hops h = {};

	vr_hops_add(&h, 31);
	EXPECT_EQ(h.squares, 0u);
	EXPECT_EQ(h.max_ns, 31u);
	vr_hops_add(&h, 32);
	EXPECT_EQ(h.squares, 1u);
}

TEST(vr_hops, long_queues__saturate)
{
	vr_hops h = {};

	vr_hops_add(&h, 1ULL << 40);
	EXPECT_EQ(h.max_ns, 0xffffffffu);
	EXPECT_EQ(h.squares, 0xffffu * 0xffffu);
	vr_hops_add(&h, 1ULL << 40);
	EXPECT_EQ(h.squares, 0xffffffffu);
	vr_hops_add(&h, ~0ULL - 1000);
	EXPECT_EQ(h.squares, 0xffffffffu);
}

TEST(vr_hops, root_of_squares__is_right_to_a_unit_a_queue)
{
	std::mt19937 random(2);

	for (int i = 0; i < 10000; i++) {
		vr_hops h = {};
		double squares = 0;

		for (int hop = 0; hop < 5; hop++) {
			u64 ns = random() % 200000;

			squares += (double)ns * ns;
			vr_hops_add(&h, ns);
		}
		ASSERT_NEAR(64 * std::sqrt(h.squares), std::sqrt(squares), 5 * 32);
	}
}

TEST(vr_hops, sum__is_all_waiting_but_the_ring)
{
	EXPECT_EQ(vr_hops_sum_ns(64 * 70, vr_hops_units(64 * 30)), 64u * 40);
	EXPECT_EQ(vr_hops_sum_ns(5000, 0), 5000u);
	// rounded up
	EXPECT_EQ(vr_hops_sum_ns(50, vr_hops_units(50)), 0u);
	// a ring that was full for longer than it has units
	EXPECT_EQ(vr_hops_units(1ULL << 40), 0xffffu);
	EXPECT_EQ(vr_hops_sum_ns(1ULL << 40, 0xffff), (1ULL << 40) - 64 * 0xffff);
}

// A frame under way is one cache line with it.
TEST(vr_hops, size__eight_bytes)
{
	EXPECT_EQ(sizeof(vr_hops), 8u);
}
