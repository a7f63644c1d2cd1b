// SPDX-License-Identifier: GPL-2.0
//
// Targets of turnpike clockd's mesh in the model of clock_mesh.h: those of ONRAMP21 section 3.3.
#include <cstdio>

#include <gtest/gtest.h>

#include "clock_mesh.h"

using namespace clock_mesh;

namespace {

// Two queues at 80 %, or the three that a leaf-spine has between its leaves, whose uplinks are at 43 % then.
const std::vector<double> kTwo = {.8, .8}, kLeafSpine = {.43, .43, .8};

Options of(bool hardware, const std::vector<double> &loads)
{
	Options options;

	options.hardware = hardware;
	options.loads = loads;
	return options;
}

Result run(const Options &options)
{
	Result result = Mesh(options).run();

	std::printf("# pairs: p50 %.0f, p99 %.0f, max %.0f ns; within what is told: %.4f; solved in %.0f ms of the "
		    "processor\n",
		    percentile(result.pair_ns, .5), percentile(result.pair_ns, .99), percentile(result.pair_ns, 1),
		    result.covered, result.solve_ms);
	return result;
}

class clock_mesh_of : public testing::TestWithParam<bool> {
protected:
	// The paper's: 20 to 40 ns at the 99th percentile; a few hundred ns, and 3 us at the 99th.
	void meets_the_targets(const Result &result) const
	{
		EXPECT_GT(result.pair_ns.size(), 100u);
		EXPECT_LE(percentile(result.pair_ns, .5), GetParam() ? 40 : 500);
		EXPECT_LE(percentile(result.pair_ns, .99), GetParam() ? 40 : 3000);
	}
};

TEST_P(clock_mesh_of, load_of_80_percent__meets_the_targets)
{
	for (const std::vector<double> &loads : {kTwo, kLeafSpine}) {
		Result result = run(of(GetParam(), loads));
		meets_the_targets(result);
		EXPECT_GE(result.covered, .99);
	}
}

TEST_P(clock_mesh_of, thousand_hosts__meet_the_targets_and_are_solved_in_two_seconds)
{
	Options options = of(GetParam(), kTwo);

	options.hosts = 1000;
	options.pairs = 120;
	options.windows = 9;
	options.judged = 1;
	Result result = run(options);
	meets_the_targets(result);
	EXPECT_LT(result.solve_ms, 2000);
}

TEST_P(clock_mesh_of, dead_host__does_no_harm)
{
	Options options = of(GetParam(), kTwo);

	options.dead = 3;
	meets_the_targets(run(options));
}

// All edges of that host agree: it is off by half of the asymmetry, and nothing shows it. The others are as good as
// without.
TEST_P(clock_mesh_of, asymmetric_link_of_a_host__is_seen_by_nothing_and_harms_no_other)
{
	Options options = of(GetParam(), kTwo);
	double before_ns = percentile(run(options).pair_ns, .99);

	options.asymmetric_host = 3;
	Result result = run(options);
	EXPECT_LE(percentile(result.pair_ns, .99), 2 * before_ns);
	EXPECT_NEAR(percentile(result.victim_ns, .5), options.asymmetry_ns / 2, GetParam() ? 40 : 500);
}

TEST_P(clock_mesh_of, asymmetric_links_within__are_left_out)
{
	Options options = of(GetParam(), kTwo);

	options.asymmetric_links = .05;
	Result result = run(options);
	meets_the_targets(result);
	EXPECT_GE(result.left_out, 1u);
}

TEST_P(clock_mesh_of, liar__is_left_out)
{
	Options options = of(GetParam(), kTwo);

	options.liar = 3;
	Result result = run(options);
	meets_the_targets(result);
	EXPECT_TRUE(result.liar_found);
	EXPECT_TRUE(result.victim_ns.empty());
}

TEST_P(clock_mesh_of, step_of_a_clock__is_found_by_the_next_window)
{
	Options options = of(GetParam(), kTwo);

	options.stepping = 3;
	Result result = run(options);
	meets_the_targets(result);
	EXPECT_FALSE(result.step_known[options.step_window]);
	EXPECT_TRUE(result.step_known[options.step_window + 1]);
	EXPECT_LE(result.step_ns[options.step_window + 1], GetParam() ? 40 : 3000);
}

TEST_P(clock_mesh_of, clocks_that_drift_by_60_us_a_second__are_followed)
{
	Options options = of(GetParam(), kTwo);

	options.drift = 6e-5;
	meets_the_targets(run(options));
}

// Nothing is left of an empty path then, and what is told says so.
TEST_P(clock_mesh_of, four_queues_at_80_percent__are_told_to_be_bad)
{
	Result result = run(of(GetParam(), {.8, .8, .8, .8}));

	EXPECT_GE(result.covered, .9);
	EXPECT_LE(percentile(result.pair_ns, .99), 4000);
}

INSTANTIATE_TEST_SUITE_P(stamps, clock_mesh_of, testing::Bool(),
			 [](const auto &info) { return info.param ? "hardware" : "software"; });

}  // namespace
