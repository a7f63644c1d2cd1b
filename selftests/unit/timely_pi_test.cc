// SPDX-License-Identifier: GPL-2.0
// The controller of timely_pi, tcp_timely/timely_pi.h, against equation 32 in doubles.

#include <algorithm>
#include <cmath>
#include <random>

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr double kOne = TIMELY_PI_ONE;

timely_params pi() { return shipped(TIMELY_VARIANT_PI); }

timely_params paper()
{
	timely_params p = pi();

	p.pi_droop_milli = 0;
	return p;
}

double within(double value, double most)
{
	return std::min(most, std::max(-most, value));
}

// dp = K1 (e - e before) + K2 (e - droop (p - 1)) dt, e in references.
double reference_change(const timely_params &p, double at, double error_ns, double before_ns,
			double elapsed_ns)
{
	double ref_ns = p.t_low_us * 1000.0;
	double e = error_ns / ref_ns, before = before_ns / ref_ns;
	double rest = within((at - 1) * p.pi_droop_milli / 1000.0, 1);
	double most = TIMELY_PI_ERROR_REFS, dt = std::min(elapsed_ns, 2e6) / 1e9;

	return p.pi_k1_milli / 1000.0 * (within(e, most) - within(before, most)) +
	       p.pi_k2_per_s * dt * (within(e, most) - rest);
}

double p_of(const timely_state &s) { return s.pi_p_q / kOne; }

timely_state at_p(double p)
{
	timely_state s{};

	s.pi_p_q = static_cast<u64>(p * kOne);
	return s;
}

double after_step(const timely_params &p, double at, s64 error_ns, s64 before_ns, u64 elapsed_ns,
		  bool held = false)
{
	timely_state s = at_p(at);

	timely_pi_step(&s, &p, error_ns, before_ns, elapsed_ns, held);
	return p_of(s);
}

class PiGains : public ::testing::TestWithParam<u32> {};

// Each from any p: errors of up to 30 references, times of up to 10 ms.
TEST_P(PiGains, timely_pi_step__like_equation_32_in_doubles)
{
	std::mt19937_64 random(GetParam());
	timely_params p = pi();
	double change, got;

	for (int i = 0; i < 20000; i++) {
		p.t_low_us = 1 + random() % 500;
		p.pi_k1_milli = random() % 10001;
		p.pi_k2_per_s = random() % 1000;
		p.pi_droop_milli = GetParam();

		s64 ref_ns = p.t_low_us * 1000LL;
		s64 error_ns = static_cast<s64>(random() % (31 * ref_ns)) - ref_ns;
		s64 before_ns = static_cast<s64>(random() % (31 * ref_ns)) - ref_ns;
		u64 elapsed_ns = random() % 10000000;
		double at = static_cast<double>(random() % 20000) / 1000;

		change = reference_change(p, at, error_ns, before_ns, elapsed_ns);
		got = after_step(p, at, error_ns, before_ns, elapsed_ns);
		// The error at rest counts in whole nanoseconds.
		ASSERT_NEAR(got, within(std::max(at + change, 0.0), 256),
			    1e-4 + std::abs(change) * 1e-4 + p.pi_k2_per_s * .002 / ref_ns)
			<< "event " << i << " ref " << ref_ns << " error " << error_ns;
	}
}

INSTANTIATE_TEST_SUITE_P(Droops, PiGains, ::testing::Values(0u, 60u, 1000u));

// The largest of everything stays in its bounds: no product wraps around.
TEST(TimelyPi, timely_pi_step__the_largest_values_do_not_overflow)
{
	timely_params p = pi();

	p.t_low_us = 1000000;
	p.pi_k1_milli = 10000;
	p.pi_k2_per_s = 100000;
	p.pi_droop_milli = 1000;
	for (s64 error_ns : {-10000000000LL, 10000000000LL})
		for (s64 before_ns : {-10000000000LL, 10000000000LL})
			for (double at : {0.0, 1.0, 255.0}) {
				double change = reference_change(p, at, error_ns, before_ns, 1e10);

				EXPECT_NEAR(after_step(p, at, error_ns, before_ns, 10000000000ULL),
					    within(std::max(at + change, 0.0), 256), .01);
			}
}

TEST(TimelyPi, timely_pi_step__at_the_reference_p_stays)
{
	EXPECT_NEAR(after_step(paper(), 3, 0, 0, 100000), 3, 1e-6);
	EXPECT_NEAR(after_step(pi(), 1, 0, 0, 100000), 1, 1e-6);
}

// A long queue shows at once, and one that lasts adds up.
TEST(TimelyPi, timely_pi_step__follows_the_queue_and_its_time)
{
	timely_params p = paper();
	s64 ref_ns = p.t_low_us * 1000;

	EXPECT_NEAR(after_step(p, 1, ref_ns / 2, 0, 0), 1 + .5 * p.pi_k1_milli / 1000, 1e-4);
	EXPECT_NEAR(after_step(p, 1, ref_ns / 2, ref_ns / 2, 1000000), 1 + .0005 * p.pi_k2_per_s, 1e-4);
	EXPECT_LT(after_step(p, 1, -ref_ns, -ref_ns, 1000000), 1);
}

// A swing as high as the cuts of t_high let one be counts in full, against the time without a queue.
TEST(TimelyPi, timely_pi_step__counts_all_of_a_swing)
{
	timely_params p = paper();
	s64 high_ns = 6 * 1000LL * p.t_low_us;

	EXPECT_NEAR(after_step(p, 1, high_ns, high_ns, 1000000), 1 + .006 * p.pi_k2_per_s, 1e-3);
}

TEST(TimelyPi, timely_pi_step__never_below_nothing)
{
	EXPECT_EQ(after_step(paper(), .001, -24000, 24000, 1000000), 0);
}

TEST(TimelyPi, timely_pi_step__held_does_not_grow_and_may_fall)
{
	EXPECT_EQ(after_step(paper(), 2, 24000, 24000, 1000000, true), 2);
	EXPECT_LT(after_step(paper(), 2, -24000, -24000, 1000000, true), 2);
	// K1's part comes and goes, so it cannot wind up.
	EXPECT_EQ(after_step(paper(), 2, 24000, 0, 1000000, true), after_step(paper(), 2, 24000, 0, 0));
}

// With a droop flows with equal errors come to one p, where none moves it.
TEST(TimelyPi, timely_pi_step__droop_brings_any_two_p_together)
{
	for (bool fair : {false, true}) {
		timely_params p = fair ? pi() : paper();
		timely_state less = at_p(.5), more = at_p(3);

		for (int i = 0; i < 200000; i++) {
			timely_pi_step(&less, &p, 0, 0, 20000, false);
			timely_pi_step(&more, &p, 0, 0, 20000, false);
		}
		if (fair)
			EXPECT_NEAR(p_of(less), p_of(more), .1);
		else
			EXPECT_NEAR(p_of(more) - p_of(less), 2.5, .01);
	}
}

TEST(TimelyPi, timely_pi_root__near_the_root_and_never_falls)
{
	u64 last = 0;

	for (u64 value : {0, 1, 2, 3, 4, 5, 15, 16, 17})
		EXPECT_NEAR(timely_pi_root(value), std::sqrt(std::max<double>(value, 1)), 1) << value;
	for (double value = 1e7; value < 1.8e19; value *= 1.01) {
		u64 root = timely_pi_root(static_cast<u64>(value));

		EXPECT_NEAR(root / std::sqrt(value), 1, .06) << value;
		EXPECT_GE(root, last);
		last = root;
	}
}

TEST(TimelyPi, timely_pi_step_bps__as_the_root_of_the_rate_or_fixed)
{
	timely_params p = pi();

	EXPECT_NEAR(timely_pi_step_bps(&p, TIMELY_STEP_REF_BPS), p.delta_bps, p.delta_bps / 16);
	EXPECT_NEAR(timely_pi_step_bps(&p, 100 * TIMELY_STEP_REF_BPS), 10 * p.delta_bps, p.delta_bps * .6);
	p.root_step = 0;
	EXPECT_EQ(timely_pi_step_bps(&p, 100 * TIMELY_STEP_REF_BPS), p.delta_bps);
}

// The step is what p takes there, at gradient 0.
TEST(TimelyPi, timely_pi_rest_q__keeps_the_rate)
{
	for (u64 rate_bps : {50000000ULL, 1000000000ULL, 40000000000ULL}) {
		timely_params p = pi();
		timely_state s{};

		s.rate_bps = rate_bps;
		timely_pi_start(&s, &p);

		double cut = static_cast<double>(timely_pi_factor_q(&s, &p, TIMELY_ONE)) / TIMELY_ONE;

		EXPECT_NEAR(cut * rate_bps / timely_pi_step_bps(&p, rate_bps), 1, .001);
	}
}

// A p beyond any: a flow at the least rate.
TEST(TimelyPi, timely_pi_rest_q__within_what_p_can_be)
{
	timely_params p = pi();

	p.beta_milli = 0;
	EXPECT_EQ(timely_pi_rest_q(&p, 1000000), TIMELY_PI_MAX_Q);
}

TEST(TimelyPi, timely_pi_factor_q__is_beta_w_p)
{
	timely_params p = pi();
	timely_state s = at_p(2.5);
	double half = static_cast<double>(timely_pi_factor_q(&s, &p, TIMELY_ONE / 2)) / TIMELY_ONE;

	EXPECT_NEAR(half, p.beta_milli / 1000.0 * 2.5 / 2, 1e-6);
	EXPECT_EQ(timely_pi_factor_q(&s, &p, 0), 0u);
}

// -- in the engine

TEST(TimelyPi, timely_rate_start__p_of_the_first_rate)
{
	Engine slow(pi(), 100000000), fast(pi(), 10 * TIMELY_GBPS);

	EXPECT_GT(p_of(slow.state), p_of(fast.state));
	EXPECT_EQ(slow.state.pi_p_q, timely_pi_rest_q(&slow.p, 100000000));
}

// Others have events that count for HAI in its place.
TEST(TimelyPi, timely_rate_start__leaves_those_of_others_alone)
{
	for (u8 variant : {TIMELY_VARIANT_TIMELY, TIMELY_VARIANT_PATCHED}) {
		Engine e(shipped(variant), 100000000);

		EXPECT_EQ(e.state.hai_count, 0);
		EXPECT_EQ(e.state.hai_span_us, 0u);
	}
}

// Losses, timeouts and idle times leave p alone: the fair share is what it was.
TEST(TimelyPi, timely_rate_loss__p_outlives_what_ends_hai)
{
	Engine e(pi(), TIMELY_GBPS);
	u64 p_q;

	for (int i = 0; i < 10; i++)
		e.feed(50000);
	p_q = e.state.pi_p_q;
	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	EXPECT_EQ(e.state.pi_p_q, p_q);
	timely_rate_rto(&e.state, &e.p);
	EXPECT_EQ(e.state.pi_p_q, p_q);
	timely_rate_idle(&e.state, &e.p, TIMELY_GBPS);
	EXPECT_EQ(e.state.pi_p_q, p_q);
}

// p moves while the flow sends all that it may, and not while its application has nothing to send.
TEST(TimelyPi, timely_rate_sample__no_windup_without_data)
{
	Engine busy(pi(), TIMELY_GBPS), idle(pi(), TIMELY_GBPS);

	idle.app_limited = true;
	for (int i = 0; i < 100; i++) {
		busy.feed(60000, 20000);
		idle.feed(60000, 20000);
	}
	EXPECT_GT(p_of(busy.state), p_of(idle.state) + .1);
}

TEST(TimelyPi, timely_rate_sample__no_windup_at_the_floor)
{
	Engine e(pi(), 2000000);

	for (int i = 0; i < 2000; i++)
		e.feed(90000);

	double p = p_of(e.state);

	for (int i = 0; i < 2000; i++)
		e.feed(90000);
	EXPECT_EQ(p_of(e.state), p);
}

// The reference moves with the base RTT: 24 us over 20 and over 200 us are the same to it.
TEST(TimelyPi, timely_path_find__reference_is_over_the_base)
{
	for (u64 base_ns : {5000, 20000, 200000}) {
		timely_params p = pi();
		timely_sample sample{};
		timely_path path;
		timely_state s{};

		s.rate_bps = 20000000;
		s.base_ns = base_ns;
		sample.frame_ns = 12304;
		sample.frame_bytes = 1538;
		timely_path_find(&path, &s, &p, &sample);
		// A frame's time and half a microsecond: what the handshake's RTT does not have.
		EXPECT_EQ(path.low_ns, base_ns + p.t_low_us * 1000 + 12304 + 500);
	}
}

// What the queue asks for: growth below the reference, cuts above it, more of them above t_high.
TEST(TimelyPi, timely_judge__grows_below_and_cuts_above_the_reference)
{
	Engine below(pi(), TIMELY_GBPS), above(pi(), TIMELY_GBPS);
	u64 below_bps = 0, above_bps = 0;

	for (int i = 0; i < 500; i++) {
		below_bps = below.feed(30000, 20000);
		above_bps = above.feed(60000, 20000);
	}
	EXPECT_GT(below_bps, TIMELY_GBPS);
	EXPECT_EQ(below.out.branch, TIMELY_BRANCH_BLEND);
	EXPECT_LT(above_bps, TIMELY_GBPS);
	EXPECT_EQ(above.out.branch, TIMELY_BRANCH_BLEND);
	above.feed(1000000, 20000);
	above.feed(1000000, 20000);
	EXPECT_EQ(above.out.branch, TIMELY_BRANCH_HIGH);
}

// With p at nothing the flow grows, from below the reference and above it.
TEST(TimelyPi, timely_judge__without_p_only_grows)
{
	Engine e(paper(), TIMELY_GBPS);

	e.feed(30000);
	e.state.pi_p_q = 0;
	EXPECT_GT(e.feed(30000), TIMELY_GBPS);
}

// Its word for bursts is not HAI's.
TEST(TimelyPi, timely_burst_bytes__p_is_no_calm_time)
{
	timely_params p = pi();
	timely_state s = at_p(200);

	s.rate_bps = TIMELY_GBPS;
	EXPECT_EQ(timely_burst_bytes(&s, &p, 1448), 2896u);
}

// The queue of flows that share a link, in doubles beside the engine: it comes to the reference.
class Link {
public:
	Link(const timely_params &p, int flows, double link_bps) : link_bps_(link_bps)
	{
		for (int i = 0; i < flows; i++)
			flows_.emplace_back(p, static_cast<u64>(link_bps / flows));
	}

	void run(int rounds)
	{
		for (int i = 0; i < rounds; i++) {
			double sum = 0;

			for (Engine &e : flows_)
				sum += static_cast<double>(e.feed(20000 + static_cast<u64>(queue_ns_), 40000));
			queue_ns_ = std::max(0.0, queue_ns_ + 40000 * (sum / link_bps_ - 1));
		}
	}

	double queue_ns() const { return queue_ns_; }
	Engine &flow(int i) { return flows_[i]; }

private:
	std::vector<Engine> flows_;
	double link_bps_;
	double queue_ns_ = 0;
};

TEST(TimelyPi, timely_rate_sample__holds_the_queue_for_any_number_of_flows)
{
	for (int flows : {2, 5, 10, 40}) {
		Link link(paper(), flows, 10e9);

		for (int i = 0; i < flows; i++)
			link.flow(i).state.drained = TIMELY_PATH_DRAINS;
		link.run(20000);
		EXPECT_NEAR(link.queue_ns(), 24000, 2400) << flows << " flows";
	}
}

// Theorem 6: shares of 4 to 1 stay with the paper's law, and meet with a droop.
TEST(TimelyPi, timely_rate_sample__shares_stay_without_a_droop_and_meet_with_one)
{
	for (bool fair : {false, true}) {
		Link link(fair ? pi() : paper(), 2, 10e9);

		for (int i = 0; i < 2; i++) {
			Engine &e = link.flow(i);

			e.state.rate_bps = i ? 2000000000 : 8000000000;
			e.state.drained = TIMELY_PATH_DRAINS;
			timely_pi_start(&e.state, &e.p);
		}
		link.run(80000);

		double ratio = static_cast<double>(link.flow(0).state.rate_bps) /
			       static_cast<double>(link.flow(1).state.rate_bps);

		if (fair)
			EXPECT_NEAR(ratio, 1, .1);
		else
			EXPECT_GT(ratio, 3);
	}
}

}  // namespace
