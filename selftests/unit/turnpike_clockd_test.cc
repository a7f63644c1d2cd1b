// SPDX-License-Identifier: GPL-2.0
//
// What turnpike clockd makes of stamps: strips, purity, the mesh, the network effect.
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tools/turnpike/clockd/empty_trip.h"
#include "tools/turnpike/clockd/mesh.h"
#include "tools/turnpike/clockd/purity.h"
#include "tools/turnpike/clockd/strip_fit.h"
#include "tools/turnpike/clockd/surplus.h"

using namespace turnpike;

namespace {

// -- strip_fit

// All points of a way, whose delay is `trip_ns' and what `more' says of the i-th.
template <typename More>
std::vector<StripPoint> way(double sign, int count, double offset_ns, double slope, double trip_ns, const More &more)
{
	std::vector<StripPoint> points;

	for (int i = 0; i < count; i++) {
		double at_ns = (i - count / 2) * 1e7;
		points.push_back({at_ns, offset_ns + slope * at_ns + sign * (trip_ns + more(i)), 1});
	}
	return points;
}

double none(int) { return 0; }

// Queues that leave the path empty now and then.
double some(int i) { return i % 7 == 3 ? 0 : 1000.0 * (i * 37 % 11); }

TEST(strip_fit, exact_points__give_offset_slope_and_round_trip)
{
	auto strip = strip_fit(way(1, 100, 5000, 3e-5, 700, none), way(-1, 100, 5000, 3e-5, 900, none));

	ASSERT_TRUE(strip);
	// a path that is longer one way is an offset of half of the difference
	EXPECT_NEAR(strip->offset_ns, 5000 - 100, .1);
	EXPECT_NEAR(strip->slope, 3e-5, 1e-10);
	EXPECT_NEAR(strip->width_ns, 1600, .1);
	EXPECT_NEAR(strip->sigma_ns, 0, .1);
}

TEST(strip_fit, queues__do_not_move_it)
{
	for (double slope : {-2.9e-4, -1e-6, 0.0, 2.9e-4}) {
		auto strip = strip_fit(way(1, 200, -1e6, slope, 800, some), way(-1, 200, -1e6, slope, 800, some));
		ASSERT_TRUE(strip);
		EXPECT_NEAR(strip->offset_ns, -1e6, 1);
		EXPECT_NEAR(strip->slope, slope, 1e-9);
	}
}

TEST(strip_fit, few_points__are_nothing)
{
	auto enough = way(1, 100, 0, 0, 800, none), few = way(-1, 7, 0, 0, 800, none);

	EXPECT_FALSE(strip_fit(enough, few));
	EXPECT_FALSE(strip_fit(way(1, 7, 0, 0, 800, none), way(-1, 100, 0, 0, 800, none)));
	EXPECT_FALSE(strip_fit({}, {}));
	EXPECT_TRUE(strip_fit(enough, way(-1, 8, 0, 0, 800, none)));
}

TEST(strip_fit, probe_that_seems_early__does_not_move_it_by_itself)
{
	auto early = [](int i) { return i == 50 ? -5000.0 : 0; };
	auto there = way(1, 400, 0, 0, 8000, early), back = way(-1, 400, 0, 0, 8000, none);

	there[50].weight = .3;
	auto strip = strip_fit(there, back);
	ASSERT_TRUE(strip);
	EXPECT_NEAR(strip->offset_ns, 0, 10);
}

TEST(strip_fit, clock_set_within_the_window__is_nothing)
{
	auto step = [](int i) { return i < 200 ? 0 : 1e6; };
	auto back_step = [&step](int i) { return -step(i); };

	EXPECT_FALSE(strip_fit(way(1, 400, 0, 0, 800, step), way(-1, 400, 0, 0, 800, back_step)));
}

TEST(strip_fit, thin_points_at_the_edge__are_a_larger_sigma)
{
	auto dense = [](int i) { return i % 3 * 100.0; };
	auto thin = [](int i) { return i * 100.0; };
	auto one = strip_fit(way(1, 100, 0, 0, 800, dense), way(-1, 100, 0, 0, 800, dense));
	auto other = strip_fit(way(1, 100, 0, 0, 800, thin), way(-1, 100, 0, 0, 800, thin));

	ASSERT_TRUE(one && other);
	EXPECT_LT(one->sigma_ns, 10);
	EXPECT_GT(other->sigma_ns, 100);
}

// The machine's linear program, by its definition: its best is where one edge goes through two points.
class Oracle {
public:
	Oracle(std::vector<StripPoint> there, std::vector<StripPoint> back, double mass)
		: there_(std::move(there)), back_(std::move(back)), mass_(mass) {}

	double best() const
	{
		double best = -std::numeric_limits<double>::infinity();

		for (const auto *side : {&there_, &back_}) {
			for (const StripPoint &a : *side) {
				for (const StripPoint &b : *side) {
					if (a.at_ns < b.at_ns)
						best = std::max(best,
								at((b.apart_ns - a.apart_ns) / (b.at_ns - a.at_ns)));
				}
			}
		}
		return best;
	}

	// At a slope, the best edges are at points, too.
	double at(double slope) const { return side(there_, 1, slope) + side(back_, -1, slope); }

private:
	double side(const std::vector<StripPoint> &points, double sign, double slope) const
	{
		double best = -std::numeric_limits<double>::infinity();

		for (const StripPoint &edge : points) {
			double u = sign * (edge.apart_ns - slope * edge.at_ns), value = u;
			for (const StripPoint &p : points)
				value -= p.weight * std::max(0.0, u - sign * (p.apart_ns - slope * p.at_ns)) / mass_;
			best = std::max(best, value);
		}
		return best;
	}

	std::vector<StripPoint> there_, back_;
	double mass_;
};

TEST(strip_fit, best_of_the_linear_program__is_found)
{
	std::mt19937_64 random(5);
	std::uniform_real_distribution<> uniform;
	StripOptions options;

	options.within_points = 1.3;
	options.least_weight = 3;
	options.slope_max = 1e-2;
	for (int round = 0; round < 50; round++) {
		std::vector<StripPoint> there, back;
		for (int i = 0; i < 14; i++) {
			there.push_back({(uniform(random) - .5) * 1e6, 5000 + 1000 * uniform(random),
					 .3 + .7 * uniform(random)});
			back.push_back({(uniform(random) - .5) * 1e6, -5000 - 1000 * uniform(random),
					.3 + .7 * uniform(random)});
		}
		auto strip = strip_fit(there, back, options);
		ASSERT_TRUE(strip);
		Oracle oracle(there, back, options.within_points);
		EXPECT_NEAR(oracle.at(strip->slope), oracle.best(), 1e-3) << "round " << round;
	}
}

// -- purity

TEST(purity, noise__is_that_of_the_purest_quarter)
{
	EXPECT_EQ(purity_noise_ns({}, 8), 8);
	EXPECT_EQ(purity_noise_ns({1, -1, 2, 3}, 8), 8);
	EXPECT_EQ(purity_noise_ns({-20, 30, 5000, 60, 9e5, 7e4, -8e4, 9e4}, 8), 30);
}

TEST(purity, weight__falls_with_the_change_of_the_gap_and_never_to_nothing)
{
	EXPECT_EQ(purity_weight(0, 8), 1);
	EXPECT_NEAR(purity_weight(32, 8), (1 + kImpure) / 2, 1e-9);
	EXPECT_EQ(purity_weight(-32, 8), purity_weight(32, 8));
	EXPECT_GT(purity_weight(1e9, 8), kImpure * .99);
	EXPECT_LT(purity_weight(1e9, 8), kImpure * 1.01);
}

// -- empty_trip

TEST(empty_trip, wide_strip__is_told_by_what_it_is_wider)
{
	EmptyTrip trip;

	for (int i = 0; i < 8; i++)
		EXPECT_GE(trip.sigma_ns({0, 0, 12000, 0}, 8), 8);
	EXPECT_NEAR(trip.sigma_ns({0, 0, 12000, 500}, 8), 8, .1);
	EXPECT_NEAR(trip.sigma_ns({0, 0, 16000, 0}, 8), 2000 / std::sqrt(3), 1);
}

TEST(empty_trip, few_strips__know_nothing_but_their_points)
{
	EmptyTrip trip;

	EXPECT_NEAR(trip.sigma_ns({0, 0, 12000, 300}, 8), std::hypot(8, 300), .1);
	EXPECT_NEAR(trip.sigma_ns({0, 0, 90000, 300}, 8), std::hypot(8, 300), .1);
}

TEST(empty_trip, least_width_alone__is_doubted)
{
	EmptyTrip trip;

	for (int i = 0; i < 20; i++)
		trip.sigma_ns({0, 0, 20000.0 + 4000 * i, 0}, 8);
	// the fourth is 12 us from it
	EXPECT_GE(trip.sigma_ns({0, 0, 20000, 0}, 8), 4000);
}

TEST(empty_trip, path_that_became_longer__is_another_after_some_time)
{
	EmptyTrip trip;

	for (int i = 0; i < 32; i++)
		trip.sigma_ns({0, 0, 12000, 0}, 8);
	EXPECT_GT(trip.sigma_ns({0, 0, 20000, 0}, 8), 2000);
	for (int i = 0; i < 32; i++)
		trip.sigma_ns({0, 0, 20000, 0}, 8);
	EXPECT_LT(trip.sigma_ns({0, 0, 20000, 0}, 8), 10);
}

// -- random_mesh

std::vector<unsigned> degrees(const std::vector<MeshEdge> &edges, std::uint32_t hosts)
{
	std::vector<unsigned> degrees(hosts, 0);

	for (const MeshEdge &edge : edges) {
		degrees[edge.first]++;
		degrees[edge.second]++;
	}
	return degrees;
}

TEST(random_mesh, all_hosts__have_as_many_peers)
{
	for (std::uint32_t hosts : {2u, 3u, 4u, 7u, 11u, 12u, 16u, 101u, 1000u}) {
		for (std::uint32_t peers : {1u, 3u, 4u, 10u}) {
			auto edges = random_mesh(hosts, peers, 1);
			unsigned wanted = std::min(peers + (peers % 2 && hosts % 2), hosts - 1);
			EXPECT_EQ(degrees(edges, hosts), std::vector<unsigned>(hosts, wanted)) << hosts << " " << peers;
			EXPECT_EQ(std::set<MeshEdge>(edges.begin(), edges.end()).size(), edges.size());
			for (const MeshEdge &edge : edges)
				EXPECT_LT(edge.first, edge.second);
		}
	}
	EXPECT_TRUE(random_mesh(1, 10, 1).empty());
	EXPECT_TRUE(random_mesh(0, 10, 1).empty());
}

TEST(random_mesh, seed__makes_it_and_another_makes_another)
{
	auto one = random_mesh(100, 10, 1);

	EXPECT_EQ(one, random_mesh(100, 10, 1));
	EXPECT_NE(one, random_mesh(100, 10, 2));
	// little is left of the ring
	auto ring = mesh::ring(100, 10);
	std::set<MeshEdge> known(ring.begin(), ring.end());
	EXPECT_LT(std::count_if(one.begin(), one.end(), [&known](const MeshEdge &e) { return known.count(e); }), 150);
}

// -- surplus

// A mesh of hosts whose clocks are i^2 ms ahead, and its edges' offsets.
std::int64_t ahead_ns(std::uint32_t host) { return host * host * 1000000LL; }

std::vector<MeshOffset> offsets(std::uint32_t hosts, std::uint32_t peers)
{
	std::vector<MeshOffset> edges;

	for (const MeshEdge &e : random_mesh(hosts, peers, 3))
		edges.push_back({e.first, e.second, ahead_ns(e.second) - ahead_ns(e.first),
				 1e-6 * e.second - 1e-6 * e.first, 10});
	return edges;
}

void all_known(const MeshClocks &clocks, std::uint32_t without, std::int64_t within_ns)
{
	for (std::uint32_t i = 0; i < clocks.hosts.size(); i++) {
		if (i == without)
			continue;
		ASSERT_TRUE(clocks.hosts[i]) << i;
		EXPECT_NEAR(clocks.hosts[i]->ahead_ns - clocks.hosts[0]->ahead_ns, ahead_ns(i), within_ns) << i;
	}
}

TEST(surplus, exact_edges__give_exact_clocks)
{
	MeshClocks clocks = Surplus(30, offsets(30, 6)).solve(0);

	all_known(clocks, 0, 0);
	EXPECT_NEAR(clocks.hosts[7]->slope - clocks.hosts[0]->slope, 7e-6, 1e-12);
	EXPECT_NEAR(clocks.surplus_scale, 0, 1e-3);
	EXPECT_EQ(std::count(clocks.left_out.begin(), clocks.left_out.end(), true), 0);
}

TEST(surplus, error_of_an_edge__is_shared_and_shown)
{
	// a triangle with 30 ns over
	MeshClocks clocks = Surplus(3, {{0, 1, 10, 0, 10}, {1, 2, 10, 0, 10}, {0, 2, 50, 0, 10}}).solve(0);

	EXPECT_NEAR(clocks.surplus_ns[0], -10, 1);
	EXPECT_NEAR(clocks.surplus_ns[2], 10, 1);
	EXPECT_NEAR(clocks.hosts[1]->ahead_ns, 20, 1);
	EXPECT_NEAR(clocks.hosts[2]->ahead_ns, 40, 1);
	EXPECT_GT(clocks.surplus_scale, 1);
}

TEST(surplus, edge_that_says_more_of_its_error__counts_less)
{
	MeshClocks clocks = Surplus(3, {{0, 1, 10, 0, 10}, {1, 2, 10, 0, 10}, {0, 2, 50, 0, 1000}}).solve(0);

	EXPECT_NEAR(clocks.hosts[2]->ahead_ns, 20, 1);
	EXPECT_NEAR(clocks.surplus_ns[2], 30, 1);
}

TEST(surplus, edge_that_is_far_off__is_left_out)
{
	auto edges = offsets(30, 6);

	edges[17].offset_ns += 10000;
	MeshClocks clocks = Surplus(30, edges).solve(0);
	all_known(clocks, 0, 0);
	EXPECT_NEAR(clocks.surplus_ns[17], 10000, 1);
	for (std::size_t e = 0; e < edges.size(); e++)
		EXPECT_EQ(clocks.left_out[e], e == 17) << e;
}

TEST(surplus, liar__is_left_out_with_all_of_its_edges)
{
	auto edges = offsets(30, 6);
	std::mt19937_64 random(1);

	for (MeshOffset &e : edges) {
		if (e.one == 5 || e.other == 5)
			e.offset_ns += static_cast<std::int64_t>(random() % 2000000) - 1000000;
	}
	MeshClocks clocks = Surplus(30, edges).solve(0);
	all_known(clocks, 5, 0);
	EXPECT_FALSE(clocks.hosts[5]);
	for (std::size_t e = 0; e < edges.size(); e++)
		EXPECT_EQ(clocks.left_out[e], edges[e].one == 5 || edges[e].other == 5) << e;
}

// Two of its peers hear the truth, two one lie, which is in the middle of all, and two another each.
TEST(surplus, liar_to_most_of_its_peers__is_left_out_with_all_of_its_edges)
{
	auto edges = offsets(30, 6);
	int told = 0;

	for (MeshOffset &e : edges) {
		if ((e.one == 5 || e.other == 5) && ++told > 2)
			e.offset_ns += 100000 * std::max(told, 4);
	}
	MeshClocks clocks = Surplus(30, edges).solve(0);
	all_known(clocks, 5, 0);
	EXPECT_FALSE(clocks.hosts[5]);
}

TEST(surplus, host_without_edges__is_not_known)
{
	auto edges = offsets(30, 6);

	std::erase_if(edges, [](const MeshOffset &e) { return e.one == 9 || e.other == 9; });
	MeshClocks clocks = Surplus(30, edges).solve(0);
	all_known(clocks, 9, 0);
	EXPECT_FALSE(clocks.hosts[9]);
}

TEST(surplus, clocks_days_apart__are_known_to_the_nanosecond)
{
	auto edges = offsets(30, 6);

	for (MeshOffset &e : edges) {
		if (e.one == 5)
			e.offset_ns -= 900000000000001;
		if (e.other == 5)
			e.offset_ns += 900000000000001;
	}
	MeshClocks clocks = Surplus(30, edges).solve(0);
	ASSERT_TRUE(clocks.hosts[5]);
	EXPECT_NEAR(clocks.hosts[5]->ahead_ns - clocks.hosts[0]->ahead_ns - 900000000000001, ahead_ns(5), 1);
}

TEST(surplus, pair_alone__believes_its_edge)
{
	MeshClocks clocks = Surplus(2, {{0, 1, 777, 1e-6, 25}}).solve(0);

	ASSERT_TRUE(clocks.hosts[1]);
	EXPECT_EQ(clocks.hosts[1]->ahead_ns, 777);
	EXPECT_GE(clocks.hosts[1]->sigma_ns, 20);
}

TEST(surplus, nothing__is_the_reference_alone)
{
	MeshClocks clocks = Surplus(3, {}).solve(1);

	EXPECT_FALSE(clocks.hosts[0]);
	ASSERT_TRUE(clocks.hosts[1]);
	EXPECT_EQ(clocks.hosts[1]->ahead_ns, 0);
}

TEST(surplus, sigma__covers_the_error)
{
	auto edges = offsets(100, 10);
	std::mt19937_64 random(2);
	std::normal_distribution<> normal(0, 40);
	int beyond = 0;

	// four times what they say
	for (MeshOffset &e : edges)
		e.offset_ns += std::lround(normal(random));
	MeshClocks clocks = Surplus(100, edges).solve(0);
	EXPECT_NEAR(clocks.surplus_scale, 4, .5);
	for (std::uint32_t i = 1; i < 100; i++) {
		double error_ns = std::fabs(clocks.hosts[i]->ahead_ns - clocks.hosts[0]->ahead_ns - ahead_ns(i));
		beyond += error_ns > 3 * std::hypot(clocks.hosts[i]->sigma_ns, clocks.hosts[0]->sigma_ns);
		EXPECT_LT(clocks.hosts[i]->sigma_ns, 40);
	}
	EXPECT_LE(beyond, 2);
}

}  // namespace
