// SPDX-License-Identifier: GPL-2.0
// The rate engine, tcp_timely/timely_rate.h, against the papers' pseudo-code in double precision.

#include <algorithm>
#include <random>
#include <vector>

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr double kTolerance = 1e-3;

// Algorithm 1 of TIMELY, Algorithm 2 of Patched TIMELY and equations 29 and 32 as they are
// printed, in doubles; rates in bit/s, times in microseconds.
class Reference {
public:
	Reference(const timely_params &p, double rate) : p_(p), rate_(rate)
	{
		double cut = rate * p.beta_milli / 1000;

		feedback_ = std::min(p.delta_bps / std::max(cut, 1.0), kMostFeedback);
	}

	double feed(double rtt)
	{
		if (first_) {
			first_ = false;
			previous_ = rtt;
			return rate_;
		}
		double alpha = p_.alpha_milli / 1000.0;

		diff_ = (1 - alpha) * diff_ + alpha * (rtt - previous_);
		if (p_.variant == TIMELY_VARIANT_PI)
			integrate(rtt);
		previous_ = rtt;
		step(rtt, diff_ / p_.min_rtt_us);
		rate_ = std::min(std::max(rate_, double(p_.min_rate_bps)),
				 double(p_.max_rate_bps));
		return rate_;
	}

	void set_rate(double rate) { rate_ = rate; }

private:
	static constexpr double kMostFeedback = 256;

	double error(double rtt, double most) const
	{
		return std::min((rtt - p_.t_low_us) / p_.t_low_us, most);
	}

	// Events are 100 us apart. At the least rate more of p would do nothing.
	void integrate(double rtt)
	{
		double most = TIMELY_PI_ERROR_REFS, sum = p_.pi_k2_per_s * 100e-6 * error(rtt, most);

		if (rate_ <= p_.min_rate_bps)
			sum = std::min(sum, 0.0);
		sum += p_.pi_k1_milli / 1000.0 * (error(rtt, most) - error(previous_, most));
		feedback_ = std::clamp(feedback_ + sum, 0.0, kMostFeedback);
	}

	void step_pi(double rtt, double gradient)
	{
		double w = std::clamp(2 * gradient + 0.5, 0.0, 1.0);
		double beta = p_.beta_milli / 1000.0;
		double high = beta * (1 - p_.t_high_us / rtt), down = beta * w * feedback_;

		if (rtt > p_.t_high_us && high >= down)
			rate_ *= 1 - high;
		else
			rate_ += p_.delta_bps * (1 - w) - rate_ * down;
	}

	void step(double rtt, double gradient)
	{
		double beta = p_.beta_milli / 1000.0;
		double delta = p_.delta_bps;
		int count = count_;

		count_ = 0;
		if (p_.variant == TIMELY_VARIANT_PI) {
			step_pi(rtt, gradient);
		} else if (rtt < p_.t_low_us) {
			rate_ += delta;
		} else if (rtt > p_.t_high_us) {
			rate_ *= 1 - beta * (1 - p_.t_high_us / rtt);
		} else if (p_.variant == TIMELY_VARIANT_PATCHED) {
			double w = std::min(1.0, std::max(0.0, 2 * gradient + 0.5));
			double error = (rtt - p_.t_low_us) / p_.t_low_us;

			rate_ = delta * (1 - w) + rate_ * (1 - beta * w * error);
		} else if (gradient <= 0) {
			count_ = count + 1;
			rate_ += count_ >= 5 ? 5 * delta : delta;
		} else {
			rate_ *= 1 - beta * gradient;
		}
	}

	const timely_params &p_;
	double rate_;
	double previous_ = 0;
	double diff_ = 0;
	double feedback_;	// p of equation 32
	int count_ = 0;
	bool first_ = true;
};

using Trace = std::vector<u64>;

Trace random_trace(u64 seed, u64 low_ns, u64 high_ns, int length)
{
	std::mt19937_64 random(seed);
	std::uniform_int_distribution<u64> rtt(low_ns, high_ns);
	Trace trace;

	for (int i = 0; i < length; i++)
		trace.push_back(rtt(random));
	return trace;
}

Trace walk_trace(u64 seed, u64 step_ns, int length)
{
	std::mt19937_64 random(seed);
	std::uniform_int_distribution<s64> step(-s64(step_ns), s64(step_ns));
	Trace trace;
	s64 rtt_ns = 80000;

	for (int i = 0; i < length; i++) {
		rtt_ns = std::max<s64>(20000, std::min<s64>(600000,
							    rtt_ns + step(random)));
		trace.push_back(rtt_ns);
	}
	return trace;
}

// Every single step from the engine's own rate, and the trace as a whole.
void expect_like_reference(const timely_params &p, const Trace &trace,
			   u64 rate_bps)
{
	Engine engine(p, rate_bps);
	Reference step(p, rate_bps);

	for (std::size_t i = 0; i < trace.size(); i++) {
		step.set_rate(engine.state.rate_bps);

		double want = step.feed(trace[i] / 1000.0);
		double got = engine.feed(trace[i]);

		ASSERT_NEAR(got / want, 1, kTolerance)
			<< "event " << i << " rtt_ns " << trace[i];
	}
}

void expect_like_reference_throughout(const timely_params &p,
				      const Trace &trace, u64 rate_bps)
{
	Engine engine(p, rate_bps);
	Reference whole(p, rate_bps);

	for (std::size_t i = 0; i < trace.size(); i++)
		ASSERT_NEAR(engine.feed(trace[i]) / whole.feed(trace[i] / 1000.0),
			    1, kTolerance)
			<< "event " << i;
}

class Verbatim : public ::testing::TestWithParam<u8> {};

TEST_P(Verbatim, timely_rate_sample__random_rtts_like_reference)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		expect_like_reference(verbatim(GetParam()),
				      random_trace(seed, 20000, 700000, 500),
				      1000000000);
		expect_like_reference(verbatim(GetParam()),
				      random_trace(seed, 40000, 60000, 500),
				      5000000000);
	}
}

TEST_P(Verbatim, timely_rate_sample__random_walk_like_reference)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		Trace trace = walk_trace(seed, 3000, 2000);

		expect_like_reference(verbatim(GetParam()), trace, 500000000);
		expect_like_reference_throughout(verbatim(GetParam()), trace,
						 500000000);
	}
}

TEST_P(Verbatim, timely_rate_sample__adversarial_rtts_like_reference)
{
	const timely_params p = verbatim(GetParam());
	const std::vector<Trace> traces = {
		// On, just under and just over the thresholds.
		{50000, 49999, 50000, 50001, 500000, 500001, 499999, 50000},
		// Exact cancellation: the gradient is zero, hence not positive.
		{60000, 140000, 130000, 130000, 130000, 130000},
		// A decaying gradient keeps its sign.
		{60000, 61000, 61000, 61000, 61000, 61000, 61000, 61000, 61000,
		 61000, 61000, 61000, 61000, 61000, 61000, 61000, 61000, 61000},
		{62000, 61000, 61000, 61000, 61000, 61000, 61000, 61000, 61000},
		// The extremes.
		{1000, 10000000000, 1000, 10000000000, 10000000000, 1000},
		{1, 2, 1, 50000, 1, 500000, 10000000000, 1},
	};

	for (const Trace &trace : traces)
		for (u64 rate_bps : {u64(1000000), u64(3000001), u64(10000000000)})
			expect_like_reference(p, trace, rate_bps);
}

TEST_P(Verbatim, timely_rate_sample__any_constants_like_reference)
{
	std::mt19937_64 random(7);

	for (int i = 0; i < 200; i++) {
		timely_params p = verbatim(GetParam());

		p.t_low_us = 1 + random() % 200;
		p.t_high_us = p.t_low_us + random() % 800;
		p.min_rtt_us = 1 + random() % 100;
		p.alpha_milli = 1 + random() % 1000;
		// p multiplies beta: what is left of a rate that loses nearly all is mere rounding.
		p.beta_milli = random() % (GetParam() == TIMELY_VARIANT_PI ? 51 : 1001);
		p.delta_bps = 1 + random() % 200000000;
		p.max_rate_bps = 400 * TIMELY_GBPS;
		expect_like_reference(p, random_trace(i, 1000, 1200000, 100),
				      40 * TIMELY_GBPS);
	}
}

INSTANTIATE_TEST_SUITE_P(All, Verbatim,
			 ::testing::Values(TIMELY_VARIANT_TIMELY,
					   TIMELY_VARIANT_PATCHED,
					   TIMELY_VARIANT_PI));

// Random walks at random distances, against the same law in doubles.
TEST(TimelyRate, timely_rate_sample__elapsed_gradient_like_reference)
{
	std::mt19937_64 random(11);

	for (int trace = 0; trace < 20; trace++) {
		Engine e(verbatim(), TIMELY_GBPS);
		double previous = 0, diff = 0;
		const double alpha = e.p.alpha_milli / 1000.0;
		const double min_rtt = e.p.min_rtt_us * 1000.0;

		e.p.elapsed_gradient = 1;
		for (u64 rtt_ns : walk_trace(trace, 3000, 1000)) {
			double gap = 1 + random() % 60000;
			double part = std::min(1.0, gap / min_rtt);
			double slope = std::min(1.0, min_rtt / gap);

			e.feed(rtt_ns, gap);
			if (previous)
				diff += alpha * (slope * (rtt_ns - previous) -
						 part * diff);
			previous = rtt_ns;
			ASSERT_NEAR(e.gradient_micro(), diff / min_rtt * 1e6, 2);
		}
	}
}

}  // namespace
