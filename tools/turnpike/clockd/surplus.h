// SPDX-License-Identifier: GPL-2.0
//
// The network effect (ONRAMP21 section 3.3): the offsets A-B, B-C and C-A sum up to 0, and what a loop of the mesh has
// over is an error of its edges. Clocks of hosts are such that the surpluses of edges, weighted by what each edge says
// of its own error, have the least sum of squares. What is left over tells how good the clocks are.
//
//   edge e from i to j:   offset_e = clock_j - clock_i + surplus_e
//
// A link whose two ways differ is an error of its edges, and a liar tells each of his peers something else: both leave
// surpluses, and those edges are left out. First all count by the size of their surplus, not by its square, as a median
// does: what is far off then pulls no more than what is close. A host most of whose edges do not fit is left out
// itself.
//
// What no loop shows stays unseen: a host whose only link is longer one way than the other.
#ifndef TURNPIKE_TOOLS_CLOCKD_SURPLUS_H
#define TURNPIKE_TOOLS_CLOCKD_SURPLUS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

namespace turnpike {

// One edge, by its own strip.
struct MeshOffset {
	std::uint32_t one, other;
	std::int64_t offset_ns;		// the other's clock less the one's
	double slope;			// by which that grows
	double sigma_ns;		// above 0
};

struct HostClock {
	std::int64_t ahead_ns;		// of the reference
	double slope;			// by which that grows
	double sigma_ns;		// of the host's own part: that of a pair is the root of both squares
};

struct MeshClocks {
	// Nothing: no edge of it that can be trusted leads to the reference.
	std::vector<std::optional<HostClock>> hosts;
	std::vector<double> surplus_ns;		// of each edge
	std::vector<bool> left_out;
	double surplus_scale;		// of surpluses, to what edges say of themselves: 1 if they say the truth
};

class Surplus {
public:
	// Numbers of hosts are below `hosts'. Offsets are at most 10^15 ns, so that no path overflows.
	Surplus(std::uint32_t hosts, std::vector<MeshOffset> edges)
		: hosts_(hosts), edges_(std::move(edges)), kept_(edges_.size(), true), touched_(hosts, 0),
		  ahead_ns_(hosts, 0), rest_ns_(hosts, 0), reached_(hosts, false)
	{
		for (const MeshOffset &e : edges_) {
			touched_[e.one]++;
			touched_[e.other]++;
		}
	}

	MeshClocks solve(std::uint32_t reference)
	{
		walk(reference);
		for (int round = 0; round < kMedianRounds; round++)
			move([this](std::size_t e) {
				return 1 /
				       (edges_[e].sigma_ns * std::max(std::fabs(surplus_ns(e)), edges_[e].sigma_ns));
			});
		for (int round = 0; round < kCutRounds; round++) {
			cut();
			walk(reference);
			move([this](std::size_t e) { return square_weight(e); });
		}
		return told(reference);
	}

private:
	static constexpr int kMedianRounds = 25, kCutRounds = 4;
	// An edge is left out that is off by so many sigmas, of what it says and of what all show.
	static constexpr double kCut = 8;
	// A host's edges are few: so many of the mesh's count with them.
	static constexpr double kShared = 4;

	double square_weight(std::size_t e) const { return 1 / (edges_[e].sigma_ns * edges_[e].sigma_ns); }

	double surplus_ns(std::size_t e) const
	{
		const MeshOffset &edge = edges_[e];

		return static_cast<double>(edge.offset_ns - (ahead_ns_[edge.other] - ahead_ns_[edge.one])) -
		       (rest_ns_[edge.other] - rest_ns_[edge.one]);
	}

	// Who is reached over kept edges. Who was not before begins where the first of these has him.
	void walk(std::uint32_t reference)
	{
		std::vector<std::vector<std::size_t>> at(hosts_);
		std::vector<bool> known = reached_;
		std::queue<std::uint32_t> next;

		for (std::size_t e = 0; e < edges_.size(); e++) {
			if (!kept_[e])
				continue;
			at[edges_[e].one].push_back(e);
			at[edges_[e].other].push_back(e);
		}
		reached_.assign(hosts_, false);
		reached_[reference] = true;
		for (next.push(reference); !next.empty(); next.pop()) {
			std::uint32_t i = next.front();
			for (std::size_t e : at[i]) {
				bool forward = edges_[e].one == i;
				std::uint32_t j = forward ? edges_[e].other : edges_[e].one;
				if (reached_[j])
					continue;
				reached_[j] = true;
				if (!known[j])
					ahead_ns_[j] =
						ahead_ns_[i] + (forward ? edges_[e].offset_ns : -edges_[e].offset_ns);
				next.push(j);
			}
		}
		reference_ = reference;
	}

	bool counts(std::size_t e) const { return kept_[e] && reached_[edges_[e].one]; }

	// What hosts have to move by for the least sum of weighted squares of `over', a value of each edge.
	template <typename Weight, typename Over>
	Eigen::VectorXd least_squares(const Weight &weight, const Over &over) const
	{
		std::vector<Eigen::Triplet<double>> entries;
		Eigen::VectorXd pull = Eigen::VectorXd::Zero(hosts_), diagonal = Eigen::VectorXd::Zero(hosts_);

		for (std::size_t e = 0; e < edges_.size(); e++) {
			if (!counts(e))
				continue;
			std::uint32_t i = edges_[e].one, j = edges_[e].other;
			double w = weight(e), force = w * over(e);
			entries.emplace_back(i, j, -w);
			entries.emplace_back(j, i, -w);
			diagonal[i] += w;
			diagonal[j] += w;
			pull[i] -= force;
			pull[j] += force;
		}
		// the reference stays, and those do that nothing pulls
		diagonal[reference_] *= 2;
		for (std::uint32_t i = 0; i < hosts_; i++)
			entries.emplace_back(i, i, diagonal[i] > 0 ? diagonal[i] : 1);
		Eigen::SparseMatrix<double> matrix(hosts_, hosts_);
		matrix.setFromTriplets(entries.begin(), entries.end());
		// A random mesh mixes fast: the loops of a direct solver's fill would cost more than all steps of this.
		Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver;
		solver.setTolerance(1e-9);
		solver.setMaxIterations(300);
		solver.compute(matrix);
		Eigen::VectorXd by = solver.solve(pull);
		return by.array() - by[reference_];
	}

	// Whole nanoseconds move with whole ones: a clock that is days off leaves no error of a double.
	template <typename Weight> void move(const Weight &weight)
	{
		Eigen::VectorXd by = least_squares(weight, [this](std::size_t e) { return surplus_ns(e); });

		for (std::uint32_t i = 0; i < hosts_; i++) {
			if (!reached_[i])
				continue;
			double to_ns = rest_ns_[i] + by[i], whole_ns = std::nearbyint(to_ns);
			ahead_ns_[i] += static_cast<std::int64_t>(whole_ns);
			rest_ns_[i] = to_ns - whole_ns;
		}
	}

	// The middle of what surpluses are in sigmas, as a normal distribution's sigma.
	double middle() const
	{
		std::vector<double> sizes;

		for (std::size_t e = 0; e < edges_.size(); e++) {
			if (counts(e))
				sizes.push_back(std::fabs(surplus_ns(e)) / edges_[e].sigma_ns);
		}
		if (sizes.empty())
			return 1;
		auto half = sizes.begin() + sizes.size() / 2;
		std::nth_element(sizes.begin(), half, sizes.end());
		return std::max(1.0, *half / 0.6745);
	}

	// Edges that do not fit, and all edges of hosts most of whose do not.
	void cut()
	{
		double most = kCut * middle();
		std::vector<std::uint32_t> bad(hosts_, 0);

		for (std::size_t e = 0; e < edges_.size(); e++) {
			kept_[e] = reached_[edges_[e].one] && reached_[edges_[e].other] &&
				   std::fabs(surplus_ns(e)) <= most * edges_[e].sigma_ns;
			bad[edges_[e].one] += !kept_[e];
			bad[edges_[e].other] += !kept_[e];
		}
		for (std::size_t e = 0; e < edges_.size(); e++) {
			if (is_liar(bad, edges_[e].one) || is_liar(bad, edges_[e].other))
				kept_[e] = false;
		}
	}

	bool is_liar(const std::vector<std::uint32_t> &bad, std::uint32_t host) const
	{
		return host != reference_ && 2 * bad[host] > touched_[host];
	}

	// Squares of surpluses in sigmas, and how many.
	struct Squares {
		double sum = 0;
		double count = 0;
	};

	MeshClocks told(std::uint32_t reference) const
	{
		MeshClocks clocks = {{}, {}, {}, 0};
		Eigen::VectorXd slopes = least_squares([this](std::size_t e) { return square_weight(e); },
						       [this](std::size_t e) { return edges_[e].slope; });
		std::vector<Squares> own(hosts_);
		std::vector<double> weights(hosts_, 0);
		Squares all;

		for (std::size_t e = 0; e < edges_.size(); e++) {
			clocks.surplus_ns.push_back(surplus_ns(e));
			clocks.left_out.push_back(!counts(e));
			if (!counts(e))
				continue;
			double square = surplus_ns(e) * surplus_ns(e) * square_weight(e);
			all.sum += square;
			all.count++;
			for (std::uint32_t i : {edges_[e].one, edges_[e].other}) {
				own[i].sum += square;
				own[i].count++;
				weights[i] += square_weight(e);
			}
		}
		double hosts = std::count(reached_.begin(), reached_.end(), true), spare = all.count - hosts + 1;
		// Without a loop, edges are believed.
		double scale = spare > 0 ? all.sum / spare : 1, free = spare > 0 ? spare / all.count : 1;
		clocks.surplus_scale = std::sqrt(scale);
		for (std::uint32_t i = 0; i < hosts_; i++) {
			clocks.hosts.emplace_back();
			if (!reached_[i] || (i != reference && !(weights[i] > 0)))
				continue;
			double here = (own[i].sum / free + kShared * scale) / (own[i].count + kShared);
			clocks.hosts[i] = {ahead_ns_[i] + static_cast<std::int64_t>(std::nearbyint(rest_ns_[i])),
					   slopes[i], weights[i] > 0 ? std::sqrt(here / weights[i]) : 0};
		}
		return clocks;
	}

	std::uint32_t hosts_, reference_ = 0;
	std::vector<MeshOffset> edges_;
	std::vector<bool> kept_;
	std::vector<std::uint32_t> touched_;	// edges of each host
	std::vector<std::int64_t> ahead_ns_;
	std::vector<double> rest_ns_;		// and parts of a nanosecond
	std::vector<bool> reached_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_SURPLUS_H
