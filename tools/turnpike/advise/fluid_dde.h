// SPDX-License-Identifier: GPL-2.0
//
// A fluid model in time: delay differential equations, whose delay hangs on the queue (ECNDELAY16 eq. 24).
//
// Fixed steps of the midpoint rule. What is older than the start is as it was at the start.
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_DDE_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_DDE_H

#include <cmath>
#include <vector>

#include "fluid_path.h"

namespace turnpike {

// Flows that are alike count as one.
template <std::size_t States> struct FluidFlow {
	FluidState<States> state = {};
	double count = 1;
	double start_s = 0;
};

// Values at equal steps, and between them by a line.
class FluidHistory {
public:
	explicit FluidHistory(double step_s) : step_s_(step_s) {}

	void add(double value) { values_.push_back(value); }
	const std::vector<double> &values() const { return values_; }

	double at(double time_s) const
	{
		double place = std::max(time_s / step_s_, 0.0);
		std::size_t before = std::min(static_cast<std::size_t>(place), values_.size() - 1);
		std::size_t next = std::min(before + 1, values_.size() - 1);

		return values_[before] + (place - before) * (values_[next] - values_[before]);
	}

private:
	double step_s_;
	std::vector<double> values_;
};

template <typename Law> class FluidRun {
public:
	using Flow = FluidFlow<Law::kStates>;

	FluidRun(const Law &law, const std::vector<Flow> &flows, double queue, double step_s = 1e-6)
		: law_(law), flows_(flows), queue_(queue), step_s_(step_s), queues_(step_s)
	{
		rates_.assign(flows.size(), FluidHistory(step_s));
		keep();
	}

	void run(double seconds)
	{
		for (auto steps = std::llround(seconds / step_s_); steps > 0; steps--)
			step();
	}

	const std::vector<Flow> &flows() const { return flows_; }

	// Of each step.
	const std::vector<double> &queues() const { return queues_.values(); }

private:
	void keep()
	{
		queues_.add(queue_);
		for (std::size_t i = 0; i < flows_.size(); i++)
			rates_[i].add(flows_[i].state[0]);
	}

	bool on(const Flow &flow) const { return time_s_ >= flow.start_s; }

	double queue_slope(const std::vector<Flow> &flows) const
	{
		double sum = -law_.path.capacity;

		for (const Flow &flow : flows)
			sum += on(flow) ? flow.count * flow.state[0] : 0;
		return sum;
	}

	FluidSeen seen(double time_s, double queue, double rate) const
	{
		double then_s = time_s - law_.feedback_s(queue);

		return {queues_.at(then_s), queues_.at(then_s - law_.interval_s(rate))};
	}

	// from: where slopes are taken, at time_s; to: what they move for `seconds'.
	void move(std::vector<Flow> &to, const std::vector<Flow> &from, double queue, double time_s, double seconds) const
	{
		double then_s = time_s - law_.feedback_s(queue);

		for (std::size_t i = 0; i < from.size(); i++) {
			const auto &state = from[i].state;
			FluidSeen what = seen(time_s, queue, state[0]);
			auto slope = law_.slopes(state, rates_[i].at(then_s), what);

			if (!on(from[i]))
				continue;
			for (std::size_t k = 0; k < Law::kStates; k++)
				to[i].state[k] += seconds * slope[k];
			law_.bound(to[i].state, what);
		}
	}

	void step()
	{
		std::vector<Flow> &middle = middle_;
		double half_s = step_s_ / 2;

		middle = flows_;
		move(middle, flows_, queue_, time_s_, half_s);
		double queue = std::max(queue_ + half_s * queue_slope(flows_), 0.0);
		move(flows_, middle, queue, time_s_ + half_s, step_s_);
		queue_ = std::max(queue_ + step_s_ * queue_slope(middle), 0.0);
		time_s_ += step_s_;
		keep();
	}

	Law law_;
	std::vector<Flow> flows_, middle_;
	double queue_, step_s_, time_s_ = 0;
	FluidHistory queues_;
	std::vector<FluidHistory> rates_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_DDE_H
