// SPDX-License-Identifier: GPL-2.0
//
// turnpike clockd's mesh without sockets: clocks of hosts that drift, coded probes through queues, stamps of hardware
// or of software; strips of all edges, the network effect, and how far what comes out is from the truth.
//
// A queue is empty with the probability 1 - load, and waits else with an exponential distribution; two probes of a pair
// see the same queues unless cross traffic came between them. Hardware stamps have a grain of 8 ns and 4 ns of noise.
// Software stamps are late by 1.5 us on average, and now and then by tens. It is a model: the rack's queues are others.
#ifndef CLOCK_MESH_H
#define CLOCK_MESH_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "tools/turnpike/clockd/empty_trip.h"
#include "tools/turnpike/clockd/mesh.h"
#include "tools/turnpike/clockd/purity.h"
#include "tools/turnpike/clockd/strip_fit.h"
#include "tools/turnpike/clockd/surplus.h"

namespace clock_mesh {

using namespace turnpike;

struct Options {
	std::uint32_t hosts = 16;
	std::uint32_t peers = 10;
	int pairs = 240;		// of a window, each way
	double window_s = 4;
	int windows = 16;
	int judged = 8;			// the last of them are
	bool hardware = true;
	std::vector<double> loads;	// of the queues of a path
	double wait_ns = 20e3;		// mean, of a queue that is not empty
	double early = 0.002;		// of stamps that are wrong, by 5 us on average
	double drift = 3e-5;		// of clocks, uniform up to that
	std::uint64_t seed = 1;

	// What goes wrong; hosts count from 1, since 0 is the reference.
	std::uint32_t dead = 0;
	std::uint32_t liar = 0;
	double lie_ns = 1e6;
	std::uint32_t asymmetric_host = 0;	// all of its edges
	double asymmetric_links = 0;		// share of edges
	double asymmetry_ns = 1e4;		// one way more than the other
	std::uint32_t stepping = 0;
	double step_ns = 1e6;
	int step_window = 9;			// in the middle of that

	double grain_ns() const { return hardware ? 8 : 100; }
};

struct Result {
	std::vector<double> edge_ns;		// errors of single edges,
	std::vector<double> pair_ns;  // of pairs after the network effect: of hosts that nothing is wrong with,
	std::vector<double> victim_ns;		// and with the one that something is wrong with
	std::vector<double> step_ns;		// with the one that steps, window by window
	std::vector<bool> step_known;
	double covered = 0;			// share of pairs that are within what is told
	std::uint32_t left_out = 0;		// edges, of the last window
	double scale = 0;			// of surpluses
	double solve_ms = 0;			// of the processor, the slowest
	bool liar_found = false;
};

inline double percentile(std::vector<double> values, double share)
{
	if (values.empty())
		return 0;
	std::sort(values.begin(), values.end());
	return values[std::min<std::size_t>(values.size() - 1, share * values.size())];
}

// What is told of a pair: three sigmas and the grain of stamps.
inline double told_ns(const HostClock &one, const HostClock &other, double grain_ns)
{
	return 3 * std::hypot(one.sigma_ns, other.sigma_ns) + grain_ns;
}

class Mesh {
public:
	explicit Mesh(const Options &options)
		: o_(options), random_(options.seed), edges_(random_mesh(o_.hosts, o_.peers, options.seed)),
		  trips_(edges_.size()), asymmetry_ns_(edges_.size(), 0)
	{
		for (std::uint32_t i = 0; i < o_.hosts; i++) {
			ahead_ns_.push_back(normal(1e6));
			drift_.push_back((2 * uniform() - 1) * o_.drift);
		}
		for (std::size_t e = 0; e < edges_.size(); e++) {
			if (has(e, o_.asymmetric_host))
				asymmetry_ns_[e] =
					edges_[e].first == o_.asymmetric_host ? o_.asymmetry_ns : -o_.asymmetry_ns;
			else if (uniform() < o_.asymmetric_links)
				asymmetry_ns_[e] = uniform() < .5 ? o_.asymmetry_ns : -o_.asymmetry_ns;
		}
	}

	Result run()
	{
		Result result;

		for (int window = 0; window < o_.windows; window++)
			run_window(window, result);
		result.covered /= std::max<std::size_t>(result.pair_ns.size(), 1);
		return result;
	}

private:
	double uniform() { return std::uniform_real_distribution<>()(random_); }
	double normal(double sigma) { return std::normal_distribution<>(0, sigma)(random_); }
	double exponential(double mean) { return std::exponential_distribution<>(1 / mean)(random_); }

	bool has(std::size_t e, std::uint32_t host) const
	{
		return host && (edges_[e].first == host || edges_[e].second == host);
	}

	double queues()
	{
		double sum = 0;

		for (double load : o_.loads)
			sum += uniform() < load ? exponential(o_.wait_ns) : 0;
		return sum;
	}

	double noise()
	{
		double noise = uniform() < o_.early ? -exponential(5e3) : 0;

		if (o_.hardware)
			return noise + std::floor(uniform() * 8) + normal(4);
		return noise + exponential(1500) + normal(80) + (uniform() < .02 ? exponential(30e3) : 0);
	}

	// By how much a clock is ahead, at a moment of a window.
	double clock_ns(std::uint32_t host, int window, double at_ns) const
	{
		bool stepped = host == o_.stepping && host &&
			       (window > o_.step_window || (window == o_.step_window && at_ns > 0));

		return ahead_ns_[host] + drift_[host] * (window * o_.window_s * 1e9 + at_ns) +
		       (stepped ? o_.step_ns : 0);
	}

	// way: 1 there, -1 back, whose sign is turned already.
	std::vector<StripPoint> probes(std::size_t e, int window, double way, double lie_ns)
	{
		std::vector<StripPoint> points;
		std::vector<double> changes_ns;

		for (int i = 0; i < o_.pairs; i++) {
			double at_ns = (uniform() - .5) * o_.window_s * 1e9, first = queues();
			double second = uniform() < .35 ? std::max(0.0, first + normal(20)) : queues();
			double apart_ns = clock_ns(edges_[e].second, window, at_ns) -
					  clock_ns(edges_[e].first, window, at_ns) + lie_ns;
			double trip_ns = 6000 + (way > 0 ? asymmetry_ns_[e] : 0);
			points.push_back({at_ns, apart_ns + way * (trip_ns + first + noise()), 0});
			points.push_back({at_ns, apart_ns + way * (trip_ns + second + noise()), 0});
			changes_ns.push_back(points[2 * i + 1].apart_ns - points[2 * i].apart_ns);
		}
		double noise_ns = purity_noise_ns(changes_ns, o_.grain_ns());
		for (std::size_t i = 0; i < points.size(); i++)
			points[i].weight = purity_weight(changes_ns[i / 2], noise_ns);
		return points;
	}

	double truth_ns(std::uint32_t one, std::uint32_t other, int window) const
	{
		return clock_ns(other, window, 1) - clock_ns(one, window, 1);
	}

	std::vector<MeshOffset> strips(int window, Result &result)
	{
		std::vector<MeshOffset> offsets;

		for (std::size_t e = 0; e < edges_.size(); e++) {
			double lie_ns = has(e, o_.liar) ? normal(o_.lie_ns) : 0;
			if (has(e, o_.dead) && window >= o_.windows / 2)
				continue;
			std::optional<Strip> strip =
				strip_fit(probes(e, window, 1, lie_ns), probes(e, window, -1, lie_ns));
			if (!strip)
				continue;
			double sigma_ns = trips_[e].sigma_ns(*strip, o_.grain_ns());
			offsets.push_back({edges_[e].first, edges_[e].second, std::llround(strip->offset_ns),
					   strip->slope, sigma_ns});
			if (judged(window) && lie_ns == 0 && !asymmetry_ns_[e])
				result.edge_ns.push_back(std::fabs(
					strip->offset_ns - truth_ns(edges_[e].first, edges_[e].second, window)));
		}
		return offsets;
	}

	bool judged(int window) const { return window >= o_.windows - o_.judged; }

	void judge(const MeshClocks &clocks, int window, Result &result) const
	{
		for (std::uint32_t i = 0; i < o_.hosts; i++) {
			for (std::uint32_t j = i + 1; j < std::min(o_.hosts, i + 32); j++) {
				if (!clocks.hosts[i] || !clocks.hosts[j])
					continue;
				double error_ns = std::fabs(clocks.hosts[j]->ahead_ns - clocks.hosts[i]->ahead_ns -
							    truth_ns(i, j, window));
				if ((o_.asymmetric_host && (i == o_.asymmetric_host || j == o_.asymmetric_host)) ||
				    (o_.liar && (i == o_.liar || j == o_.liar))) {
					result.victim_ns.push_back(error_ns);
					continue;
				}
				result.pair_ns.push_back(error_ns);
				result.covered +=
					error_ns <= told_ns(*clocks.hosts[i], *clocks.hosts[j], o_.grain_ns());
			}
		}
	}

	void run_window(int window, Result &result)
	{
		std::vector<MeshOffset> offsets = strips(window, result);
		std::clock_t begin = std::clock();
		MeshClocks clocks = Surplus(o_.hosts, offsets).solve(0);

		result.solve_ms = std::max(result.solve_ms, (std::clock() - begin) * 1e3 / CLOCKS_PER_SEC);
		result.left_out = std::count(clocks.left_out.begin(), clocks.left_out.end(), true);
		result.scale = clocks.surplus_scale;
		if (o_.stepping) {
			const auto &host = clocks.hosts[o_.stepping];
			result.step_known.push_back(host.has_value());
			result.step_ns.push_back(host ? std::fabs(host->ahead_ns - clocks.hosts[0]->ahead_ns -
								  truth_ns(0, o_.stepping, window))
						      : 0);
		}
		if (o_.liar)
			result.liar_found = !clocks.hosts[o_.liar];
		if (judged(window))
			judge(clocks, window, result);
	}

	Options o_;
	std::mt19937_64 random_;
	std::vector<MeshEdge> edges_;
	std::vector<EmptyTrip> trips_;
	std::vector<double> asymmetry_ns_, ahead_ns_, drift_;
};

}  // namespace clock_mesh

#endif  // CLOCK_MESH_H
