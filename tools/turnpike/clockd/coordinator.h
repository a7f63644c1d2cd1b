// SPDX-License-Identifier: GPL-2.0
//
// What a coordinator makes of hosts' reports: one problem of all edges, and of its solution (surplus.h) an answer for
// each host. State in, report in, answers out.
//
//   report of i: j is ahead of i by 5 \                                   / known: ahead of us by so much
//   report of j: i is ahead of j by -5 +-> an edge -> Surplus -> a host  +
//   report of k: ...                  /                                   \ not: its edges do not fit
//
// Reports come at different times: each edge is moved on by its drift to one moment of our clock, from when the report
// came. A report is late by what the network takes: 100 us at 30 us/s are 3 ns.
//
// Both ends of an edge tell it, by the same stamps. Where they differ by more than their errors one of them lies, or
// was set: the edge counts for neither. So a host that tells lies loses its own edges, and no other's.
#ifndef TURNPIKE_TOOLS_CLOCKD_COORDINATOR_H
#define TURNPIKE_TOOLS_CLOCKD_COORDINATOR_H

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordinator_wire.h"
#include "mesh.h"
#include "surplus.h"

namespace turnpike {

// By which a filter of four windows knows a drift, and by which a clock that nobody asks goes wrong.
constexpr double kDriftUnknown = 1e-8;

// What all edges are at one moment of the coordinator's clock.
struct MeshProblem {
	std::int64_t at_ns;
	std::vector<MeshOffset> edges;			// that count
	std::map<MeshEdge, std::size_t> numbers;	// of those
	std::vector<std::vector<MeshOffset>> told;	// of each host, from it, as it says
	std::size_t differ = 0;				// edges whose ends do
	std::uint16_t reporting = 0;			// hosts
};

class Coordinator {
public:
	// mesh: which hosts probe each other; grain_ns: of stamps.
	Coordinator(std::uint32_t hosts, HostNumber own, const std::vector<MeshEdge> &mesh, std::int64_t window_ns,
		    double grain_ns)
		: own_(own), mesh_(mesh.begin(), mesh.end()), window_ns_(window_ns),
		  least_sigma_ns_(kLeastGrains * grain_ns), reports_(hosts)
	{
	}

	// Of a host of the mesh; at_ns: when it came, by our clock.
	void heard(HostNumber host, std::int64_t at_ns, ClockReport report)
	{
		reports_[host] = {at_ns, std::move(report)};
	}

	MeshProblem problem(std::int64_t now_ns) const
	{
		MeshProblem problem = {now_ns, {}, {}, std::vector<std::vector<MeshOffset>>(reports_.size())};
		std::map<MeshEdge, std::vector<MeshOffset>> pairs;

		for (std::uint32_t host = 0; host < reports_.size(); host++) {
			if (!counts(host, now_ns))
				continue;
			problem.reporting++;
			for (const ReportedEdge &edge : reports_[host].report.edges)
				tell(problem, pairs, host, edge, now_ns - reports_[host].at_ns);
		}
		for (const auto &[pair, told] : pairs) {
			std::optional<MeshOffset> one = merged(told);
			problem.differ += !one;
			if (!one)
				continue;
			problem.numbers[pair] = problem.edges.size();
			problem.edges.push_back(*one);
		}
		return problem;
	}

	// By Surplus, in whose own time.
	MeshClocks solve(const MeshProblem &problem) const
	{
		return Surplus(reports_.size(), problem.edges).solve(own_);
	}

	void solved(MeshProblem problem, MeshClocks clocks)
	{
		problem_ = std::move(problem);
		clocks_ = std::move(clocks);
	}

	// For a host that reported, of the clocks that it has edges to, and of those that it wants; without numbers. None:
	// nothing is solved.
	std::vector<ClockAnswer> answers(HostNumber host) const
	{
		std::vector<AnsweredClock> clocks;
		std::vector<ClockAnswer> answers;

		if (clocks_.hosts.empty())
			return {};
		for (const MeshOffset &edge : problem_.told[host])
			clocks.push_back(of_edge(host, edge));
		for (HostNumber other : reports_[host].report.wanted) {
			if (other != host)
				clocks.push_back(of_host(host, other));
		}
		for (std::size_t from = 0; !from || from < clocks.size(); from += coordinator_wire::kClocksMost) {
			std::size_t to = std::min(clocks.size(), from + coordinator_wire::kClocksMost);
			answers.push_back({{}, 0, at_ns(host), summary(), {clocks.begin() + from, clocks.begin() + to}});
		}
		return answers;
	}

	MeshSummary summary() const
	{
		MeshSummary summary;

		summary.known = std::count_if(clocks_.hosts.begin(), clocks_.hosts.end(),
					      [](const auto &host) { return host.has_value(); });
		summary.reporting = problem_.reporting;
		summary.edges = problem_.edges.size() + problem_.differ;
		summary.left_out = std::count(clocks_.left_out.begin(), clocks_.left_out.end(), true) + problem_.differ;
		summary.scale_milli = saturated<std::uint32_t>(clocks_.surplus_scale * 1000);
		return summary;
	}

	// Hosts with edges, none of which fits what the others say.
	std::vector<HostNumber> misfits() const
	{
		std::vector<HostNumber> misfits;

		for (std::uint32_t host = 0; host < clocks_.hosts.size(); host++) {
			if (!clocks_.hosts[host] && !problem_.told[host].empty())
				misfits.push_back(host);
		}
		return misfits;
	}

private:
	// Nobody pulls the others by an error that no stamps have.
	static constexpr double kLeastGrains = 0.25;
	// Both ends of an edge go by the same stamps.
	static constexpr double kDiffer = 8;

	struct Heard {
		std::int64_t at_ns = 0;		// 0: nothing was
		ClockReport report;
	};

	bool counts(std::uint32_t host, std::int64_t now_ns) const
	{
		std::int64_t at_ns = reports_[host].at_ns, most_ns = kWordWindows * window_ns_;

		// Neither is one of a time to come: our clock was set.
		return at_ns && now_ns - at_ns < most_ns && at_ns - now_ns < most_ns;
	}

	void tell(MeshProblem &problem, std::map<MeshEdge, std::vector<MeshOffset>> &pairs, std::uint32_t host,
		  const ReportedEdge &edge, std::int64_t age_ns) const
	{
		MeshEdge pair = mesh::edge(host, edge.host);
		double ns = static_cast<double>(age_ns), slope = edge.drift_ppt * 1e-12;
		double sigma_ns = std::hypot(edge.sigma_ps * 1e-3, kDriftUnknown * ns);
		MeshOffset told = {host, edge.host, edge.offset_ns + std::llround(slope * ns), slope,
				   std::max(sigma_ns, least_sigma_ns_)};

		if (!mesh_.count(pair))
			return;
		problem.told[host].push_back(told);
		if (host != pair.first)
			told = {pair.first, pair.second, -told.offset_ns, -told.slope, told.sigma_ns};
		pairs[pair].push_back(told);
	}

	// Of the one end or both. Nothing: they differ.
	static std::optional<MeshOffset> merged(const std::vector<MeshOffset> &told)
	{
		if (told.size() == 1)
			return told[0];
		const MeshOffset &one = told[0], &other = told[1];
		std::int64_t off_ns = other.offset_ns - one.offset_ns;
		if (std::fabs(static_cast<double>(off_ns)) > kDiffer * std::hypot(one.sigma_ns, other.sigma_ns))
			return std::nullopt;
		return MeshOffset{one.one, one.other, one.offset_ns + off_ns / 2, (one.slope + other.slope) / 2,
				  std::max(one.sigma_ns, other.sigma_ns)};
	}

	// 0: it is not known.
	std::int64_t at_ns(HostNumber host) const
	{
		const auto &clock = clocks_.hosts[host];

		return clock ? std::max<std::int64_t>(problem_.at_ns + clock->ahead_ns - clocks_.hosts[own_]->ahead_ns, 0)
			     : 0;
	}

	AnsweredClock of_host(HostNumber host, HostNumber other) const
	{
		const auto &here = clocks_.hosts[host], &there = clocks_.hosts[other];
		AnsweredClock clock = {other, false, false, false, 0, 0, 0, 0};

		if (!here || !there || !at_ns(host))
			return clock;
		std::int64_t offset_ns = there->ahead_ns - here->ahead_ns;
		double drift_ppt = (there->slope - here->slope) * 1e12;
		if (!coordinator_wire::is_within(offset_ns, coordinator_wire::kApartMostNs) ||
		    std::fabs(drift_ppt) > coordinator_wire::kDriftMostPpt)
			return clock;
		clock.known = true;
		clock.offset_ns = offset_ns;
		clock.drift_ppt = saturated<std::int32_t>(drift_ppt);
		clock.sigma_ps = saturated<std::uint32_t>(std::hypot(here->sigma_ns, there->sigma_ns) * 1e3);
		return clock;
	}

	AnsweredClock of_edge(HostNumber host, const MeshOffset &edge) const
	{
		AnsweredClock clock = of_host(host, edge.other);
		auto number = problem_.numbers.find(mesh::edge(host, edge.other));

		clock.has_edge = true;
		clock.left_out = number == problem_.numbers.end() || clocks_.left_out[number->second];
		if (clock.known)
			clock.surplus_ns =
				saturated<std::int32_t>(static_cast<double>(edge.offset_ns - clock.offset_ns));
		return clock;
	}

	HostNumber own_;
	std::set<MeshEdge> mesh_;
	std::int64_t window_ns_;
	double least_sigma_ns_;
	std::vector<Heard> reports_;
	MeshProblem problem_ = {};
	MeshClocks clocks_ = {};
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_COORDINATOR_H
