// SPDX-License-Identifier: GPL-2.0
//
// The phase margin of a fluid model at its fixed point: Bode's criterion, as ECNDELAY16 section 3.2 has it.
//
// The loop is cut at the queue. With s = jw, and derivatives at the fixed point,
//   L(s) = -N/s * first row of (sI - A - A' e^(-s tau'))^-1 (b e^(-s tau') + b' e^(-s (tau' + tau*)))
// where A is of a flow's states, A' of its rate then, b and b' of the two queues that it sees.
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_MARGIN_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_MARGIN_H

#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include <Eigen/Dense>

#include "fluid_path.h"

namespace turnpike {

template <typename Law> class FluidLoop {
	static constexpr int kStates = Law::kStates;
	using Vector = Eigen::Matrix<double, kStates, 1>;
	using Matrix = Eigen::Matrix<double, kStates, kStates>;

public:
	FluidLoop(const Law &law, const FluidPoint<Law::kStates> &point)
		: flows_(law.path.flows), feedback_s_(law.feedback_s(point.queue)),
		  interval_s_(law.interval_s(point.state[0]))
	{
		const auto &x = point.state;
		const FluidSeen seen = {point.queue, point.queue};

		for (int i = 0; i < kStates; i++)
			now_.col(i) = derivative(x[i], [&](double value) {
				auto state = x;

				state[i] = value;
				return law.slopes(state, x[0], seen);
			});
		then_ = derivative(x[0], [&](double rate) { return law.slopes(x, rate, seen); });
		queue_ = derivative(point.queue, [&](double q) { return law.slopes(x, x[0], {q, point.queue}); });
		before_ = derivative(point.queue, [&](double q) { return law.slopes(x, x[0], {point.queue, q}); });
	}

	// w: radians a second
	std::complex<double> at(double w) const
	{
		using Complex = std::complex<double>;
		const Complex s(0, w), late = std::exp(-s * feedback_s_), later = late * std::exp(-s * interval_s_);
		Eigen::Matrix<Complex, kStates, kStates> m = -now_.template cast<Complex>();
		Eigen::Matrix<Complex, kStates, 1> input = queue_ * late + before_ * later;

		m.diagonal().array() += s;
		m.col(0) -= then_ * late;
		return -flows_ / s * m.partialPivLu().solve(input)(0);
	}

private:
	// Central differences; what is 0 there is a gradient or an error, whose measure is 1.
	template <typename Slopes> static Vector derivative(double at, const Slopes &slopes)
	{
		double h = 1e-6 * std::max(std::fabs(at), 1e-3);
		auto above = slopes(at + h), below = slopes(at - h);
		Vector result;

		for (int i = 0; i < kStates; i++)
			result(i) = (above[i] - below[i]) / (2 * h);
		return result;
	}

	double flows_, feedback_s_, interval_s_;
	Matrix now_;
	Vector then_, queue_, before_;
};

struct FluidMargin {
	double degrees = 0;
	double crossover = 0;	// radians a second
};

// The least of all places where the gain falls below 1; none where it never does.
template <typename Law> std::optional<FluidMargin> fluid_margin(const FluidLoop<Law> &loop)
{
	constexpr double kLow = 10, kHigh = 3e6, kStep = 1.0042;	// the grid of the stored values
	constexpr double kTurn = 2 * std::numbers::pi;
	std::optional<FluidMargin> least;
	std::complex<double> last = loop.at(kLow);
	double phase = std::arg(last);

	// At low frequencies two integrators, or one, are left of the loop: -180 to 0 degrees.
	phase -= kTurn * std::round((phase + kTurn / 4) / kTurn);
	for (double w = kLow * kStep; w < kHigh; w *= kStep) {
		std::complex<double> next = loop.at(w);
		double degrees = 180 + phase * 360 / kTurn;

		if (std::abs(last) >= 1 && std::abs(next) < 1 && (!least || degrees < least->degrees))
			least = {degrees, w};
		phase += std::arg(next / last);
		last = next;
	}
	return least;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_MARGIN_H
