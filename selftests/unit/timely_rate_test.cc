// SPDX-License-Identifier: GPL-2.0
// The rate engine: tcp_timely/timely_rate.h, against the papers' pseudo-code in
// double precision, and branch by branch.

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tcp_timely/timely_presets.h"

namespace {

constexpr double kTolerance = 1e-3;

timely_params preset(const std::string &name, u8 variant)
{
	for (const timely_preset &p : timely_presets)
		if (name == p.name && p.variant == variant)
			return p.params;
	ADD_FAILURE() << "no preset " << name;
	return {};
}

timely_params verbatim(u8 variant = TIMELY_VARIANT_TIMELY)
{
	return preset("verbatim", variant);
}

timely_params shipped(u8 variant = TIMELY_VARIANT_TIMELY)
{
	return preset("default", variant);
}

// Algorithm 1 of TIMELY and Algorithm 2 of Patched TIMELY as they are printed,
// in doubles; rates in bit/s, times in microseconds.
class Reference {
public:
	Reference(const timely_params &p, double rate) : p_(p), rate_(rate) {}

	double feed(double rtt)
	{
		if (first_) {
			first_ = false;
			previous_ = rtt;
			return rate_;
		}
		double alpha = p_.alpha_milli / 1000.0;

		diff_ = (1 - alpha) * diff_ + alpha * (rtt - previous_);
		previous_ = rtt;
		step(rtt, diff_ / p_.min_rtt_us);
		rate_ = std::min(std::max(rate_, double(p_.min_rate_bps)),
				 double(p_.max_rate_bps));
		return rate_;
	}

	void set_rate(double rate) { rate_ = rate; }

private:
	void step(double rtt, double gradient)
	{
		double beta = p_.beta_milli / 1000.0;
		double delta = p_.delta_bps;
		int count = count_;

		count_ = 0;
		if (rtt < p_.t_low_us) {
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
	int count_ = 0;
	bool first_ = true;
};

class Engine {
public:
	Engine(const timely_params &p, u64 rate_bps) : p(p)
	{
		timely_rate_start(&state, &p, rate_bps, 20000);
	}

	// One event, gap_ns after the last.
	u64 feed(u64 rtt_ns, u64 gap_ns = 100000)
	{
		now_ns += gap_ns;

		timely_sample sample{
			.now_ns = now_ns,
			.rtt_ns = rtt_ns,
			.cap_bps = cap_bps,
			.acked_bytes = acked_bytes,
			.frame_bytes = 0,
			.frame_ns = 0,
			.burst_ns = 0,
			.coalesce_ns = coalesce_ns,
			.back_load = 0,
			.app_limited = app_limited,
		};
		timely_rate_sample(&state, &p, &sample, &out);
		return out.rate_bps;
	}

	s64 gradient_micro() const
	{
		return timely_gradient_micro(out.rtt_diff_q, out.unit_ns);
	}

	timely_params p;
	timely_state state;
	timely_outcome out{};
	u64 now_ns = 1000000000;
	u32 coalesce_ns = 0;
	u64 cap_bps = 0;
	u32 acked_bytes = 16384;
	bool app_limited = false;
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
		p.beta_milli = random() % 1001;
		p.delta_bps = 1 + random() % 200000000;
		p.max_rate_bps = 400 * TIMELY_GBPS;
		expect_like_reference(p, random_trace(i, 1000, 1200000, 100),
				      40 * TIMELY_GBPS);
	}
}

// The law by name: thresholds are of the queue over the base, on every path.
TEST(TimelyPath, timely_path_find__thresholds_follow_the_base)
{
	for (u64 base_ns : {8000, 20000, 200000, 3000000}) {
		timely_params p = shipped();
		timely_state s;
		timely_path path;
		timely_sample sample{};

		timely_rate_start(&s, &p, 10 * TIMELY_GBPS, base_ns);
		sample.frame_ns = 1230;
		timely_path_find(&path, &s, &p, &sample);
		u64 from_ns = std::max(base_ns, u64{TIMELY_PATH_BASE_MIN_NS});
		EXPECT_EQ(path.low_ns, from_ns + 24000);
		EXPECT_EQ(path.high_ns, from_ns + 54000);
	}
}

// A path that gets longer: no sample near the base, a drain, another base.
TEST(TimelyBase, timely_path_sample__longer_path_is_found)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (int i = 0; i < 100; i++)
		e.feed(20000);
	EXPECT_EQ(e.state.base_ns, 20000u);
	for (int i = 0; i < 5000; i++)
		e.feed(120000);
	EXPECT_EQ(e.state.base_ns, 120000u);
	EXPECT_GT(e.state.rate_bps, TIMELY_GBPS);
}

// What the law has besides: for each of the room's reasons, the lower threshold.
TEST(TimelyPath, timely_path_find__room_for_what_a_path_has)
{
	timely_params p = shipped();
	timely_state s;
	timely_path path;
	timely_sample sample{};

	timely_rate_start(&s, &p, TIMELY_GBPS / 10, 400000);
	sample.rtt_ns = 400000;
	timely_path_find(&path, &s, &p, &sample);
	// Two frames at 100 Mbit/s are 246 us, and the base has more.
	EXPECT_EQ(path.low_ns, 400000u + 246080);
	EXPECT_EQ(path.high_ns, path.low_ns + 123040);
	s.rate_bps = TIMELY_GBPS;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 24608);
	// Half of what a burst of sixteen full frames has more than two.
	sample.frame_ns = 1230;
	sample.burst_ns = 16 * 1230;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 24608 - 7 * 1230);
	sample.burst_ns = 0;
	// Eight jumbo frames at 10 Gbit/s.
	sample.frame_ns = 7230;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 8 * 7230);
	EXPECT_EQ(path.slack_ns, 2 * 7230u);
	sample.coalesce_ns = 50000;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 8 * 7230 + 50000);
	EXPECT_EQ(timely_path_window_ns(&path, &sample), path.high_ns + 50000);
}

TEST(TimelyPath, timely_path_find__room_for_the_way_back)
{
	timely_params p = shipped();
	timely_state s;
	timely_path path;
	timely_sample sample{};
	auto room_us = [&](u32 back_load) {
		sample.back_load = back_load;
		timely_path_find(&path, &s, &p, &sample);
		return (path.low_ns - 20000) / 1000;
	};

	timely_rate_start(&s, &p, TIMELY_GBPS, 20000);
	EXPECT_EQ(room_us(64), p.t_low_us);  // ACKs alone: a sixteenth
	EXPECT_EQ(room_us(64 + 128), p.t_low_us * 5 / 2);
	EXPECT_EQ(room_us(64 + 256), p.t_low_us * 4);
	EXPECT_EQ(room_us(1024), p.t_low_us * 4);
}

// A silence is no path that got longer: no drain at the first sample after it.
TEST(TimelyBase, timely_path_sample__silence_is_no_longer_path)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (int i = 0; i < 100; i++)
		e.feed(20000);
	e.feed(60000, 400000000);
	EXPECT_NE(e.out.branch, TIMELY_BRANCH_DRAIN);
	EXPECT_EQ(e.state.base_ns, 20000u);
	EXPECT_FALSE(e.state.draining);
}

// Flows whose cuts the path's law bounds: what empties the queue in a round trip.
TEST(TimelyRate, timely_rate_sample__long_path_is_cut_by_its_queue)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_start(&e.state, &e.p, TIMELY_GBPS, 3000000);
	e.feed(3060000);
	e.feed(3060000, 3000000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
	EXPECT_GE(e.state.rate_bps, TIMELY_GBPS / 3060 * 3000);
}

// A frame in eight round trips, a tenth of a millisecond added to each.
TEST(TimelyRate, timely_rate_sample__floor_of_the_path)
{
	Engine e(shipped(), 2 * TIMELY_MBPS);

	e.feed(20000);
	for (int i = 0; i < 100; i++)
		e.feed(400000, 400000);
	EXPECT_EQ(e.state.rate_bps, 1538 * 8 * TIMELY_GBPS / (500000 * 8));
}

TEST(TimelyBase, timely_path_sample__one_lucky_sample_is_no_base)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (int i = 0; i < 1000; i++)
		e.feed(i % 100 == 50 ? 15000 : 70000);
	EXPECT_GT(e.state.base_ns, 19999u);
}

INSTANTIATE_TEST_SUITE_P(Both, Verbatim,
			 ::testing::Values(TIMELY_VARIANT_TIMELY,
					   TIMELY_VARIANT_PATCHED));

TEST(TimelyRate, timely_rate_sample__first_sample_is_only_remembered)
{
	Engine e(verbatim(), 1000000000);

	EXPECT_EQ(e.feed(700000), 1000000000u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
	EXPECT_EQ(e.out.rtt_diff_q, 0);
}

TEST(TimelyRate, timely_rate_sample__low_adds_a_step)
{
	Engine e(verbatim(), 1000000000);

	e.feed(30000);
	EXPECT_EQ(e.feed(49999), 1010000000u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_LOW);
}

TEST(TimelyRate, timely_rate_sample__high_decreases_whatever_the_gradient)
{
	Engine e(verbatim(), 1000000000);

	e.feed(2000000);
	EXPECT_NEAR(e.feed(1000000), 600000000, 10);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
	EXPECT_LT(e.gradient_micro(), 0);
}

TEST(TimelyRate, timely_rate_sample__hai_from_the_fifth_event)
{
	Engine e(verbatim(), 1000000000);
	u64 before;

	e.feed(60000);
	for (int i = 1; i <= 4; i++) {
		before = e.state.rate_bps;
		EXPECT_EQ(e.feed(60000 - i), before + 10000000);
		EXPECT_EQ(e.out.branch, TIMELY_BRANCH_INC);
	}
	before = e.state.rate_bps;
	EXPECT_EQ(e.feed(59990), before + 50000000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HAI);
	EXPECT_EQ(e.feed(59980), before + 100000000);
}

TEST(TimelyRate, timely_rate_sample__any_other_branch_restarts_hai)
{
	for (u64 other_ns : {40000, 600000, 61000}) {
		Engine e(verbatim(), 1000000000);

		e.feed(60000);
		for (int i = 1; i <= 4; i++)
			e.feed(60000 - i);
		e.feed(other_ns);
		EXPECT_NE(e.out.branch, TIMELY_BRANCH_INC);
		e.feed(other_ns > 60000 ? 51000 : 60000);
		EXPECT_NE(e.out.branch, TIMELY_BRANCH_HAI) << other_ns;
	}
}

TEST(TimelyRate, timely_rate_sample__steep_gradient_stops_at_the_floor)
{
	Engine e(verbatim(), 1000000000);

	e.feed(50000);
	EXPECT_EQ(e.feed(499000), 1000000u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_DEC);
}

TEST(TimelyRate, timely_rate_sample__patched_blends_without_hai)
{
	Engine e(verbatim(TIMELY_VARIANT_PATCHED), 1000000000);

	e.feed(75000);
	for (int i = 0; i < 8; i++) {
		u64 before = e.state.rate_bps;

		// Gradient 0: w = 1/2, error = 1/2.
		EXPECT_NEAR(e.feed(75000),
			    before * (1 - 0.008 * 0.5 * 0.5) + 5000000, 100);
		EXPECT_EQ(e.out.branch, TIMELY_BRANCH_BLEND);
	}
}

TEST(TimelyRate, timely_rate_sample__no_overflow_at_the_extremes)
{
	for (const timely_preset &preset : timely_presets) {
		timely_params p = preset.params;

		p.max_rate_bps = 1600 * TIMELY_GBPS;
		for (u64 rate_bps : {u64(p.min_rate_bps), u64(400 * TIMELY_GBPS),
				     u64(1600 * TIMELY_GBPS)}) {
			for (u64 gap_ns : {u64(0), u64(1), u64(5000),
					   u64(10000000000), ~u64(0) / 2}) {
				Engine e(p, rate_bps);

				for (int i = 0; i < 40; i++) {
					e.coalesce_ns = i % 3 ? 0 : ~u32(0);
					e.app_limited = i % 2;
					e.acked_bytes = i % 5 ? 1448 : 0xffffffff;
					e.feed(i % 2 ? 1000 : 10000000000, gap_ns);
					ASSERT_GE(e.out.rate_bps, p.min_rate_bps);
					ASSERT_LE(e.out.rate_bps, p.max_rate_bps);
				}
			}
		}
	}
}

TEST(TimelyRate, timely_rate_sample__grows_at_400_gbit_without_wrapping)
{
	Engine e(shipped(), 399 * TIMELY_GBPS);
	u64 before = e.state.rate_bps;

	for (int i = 0; i < 100000; i++) {
		u64 rate_bps = e.feed(1000, 1000);

		if (e.out.branch == TIMELY_BRANCH_DRAIN)
			continue;
		ASSERT_GE(rate_bps, before);
		before = rate_bps;
	}
	EXPECT_EQ(before, 400 * TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_sample__cap_holds_and_floor_wins)
{
	Engine e(shipped(), 10 * TIMELY_GBPS);

	e.cap_bps = 2 * TIMELY_GBPS;
	EXPECT_EQ(e.feed(20000), 2 * TIMELY_GBPS);
	EXPECT_EQ(e.feed(20000), 2 * TIMELY_GBPS);
	e.cap_bps = 10;
	EXPECT_EQ(e.feed(20000), e.p.min_rate_bps);
}

TEST(TimelyRate, timely_rate_sample__below_floor_changes_nothing)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.p.rtt_floor_us = 10;
	e.feed(20000);
	e.feed(9999);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_DROPPED);
	EXPECT_EQ(e.state.prev_rtt_ns, 20000u);
	EXPECT_EQ(e.out.rate_bps, TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_sample__elapsed_gradient_is_the_slope)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.elapsed_gradient = 1;
	e.p.alpha_milli = 1000;
	e.feed(60000);
	e.feed(70000, 100000);  // 10 us more in 100 us
	EXPECT_NEAR(e.gradient_micro(), 100000, 1);
	// A quarter of min_rtt later, that much is forgotten: 3/4 * 0.1 + 5 us / 20 us.
	e.feed(75000, 5000);
	EXPECT_NEAR(e.gradient_micro(), 325000, 1);
}

// A queue that grows by 1 us in 10 us looks the same to flows of any rate.
TEST(TimelyRate, timely_rate_sample__elapsed_gradient_is_the_same_at_any_spacing)
{
	for (u64 gap_ns : {1000, 4000, 20000, 30000, 100000}) {
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.elapsed_gradient = 1;
		for (u64 t_ns = 0; t_ns < 1000000; t_ns += gap_ns)
			e.feed(60000 + t_ns / 10, gap_ns);
		EXPECT_NEAR(e.gradient_micro(), 100000, 2000) << gap_ns;
	}
}

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

TEST(TimelyRate, timely_rate_sample__scaled_step_per_min_rtt)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.scale_updates = 1;
	e.feed(30000);
	EXPECT_NEAR(e.feed(30000, 5000), TIMELY_GBPS + 2500000, 10);
	EXPECT_NEAR(e.feed(30000, 500000), TIMELY_GBPS + 12500000, 10);
}

TEST(TimelyRate, timely_rate_sample__scaled_step_per_rtt_up_to_scale_max)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.scale_updates = 1;
	e.p.decrease_once = 1;
	e.p.scale_max = 3;
	e.feed(40000);
	EXPECT_NEAR(e.feed(40000, 20000), TIMELY_GBPS + 5000000, 10);
	EXPECT_NEAR(e.feed(40000, 80000), TIMELY_GBPS + 25000000, 10);
	EXPECT_NEAR(e.feed(40000, 800000), TIMELY_GBPS + 55000000, 10);
}

TEST(TimelyRate, timely_rate_sample__step_grows_as_root_of_rate)
{
	timely_params p = verbatim();

	p.root_step = 1;
	for (double rate : {1e6, 25e6, 5e8, 1e10, 4e11})
		EXPECT_NEAR(timely_step_bps(&p, u64(rate)) /
				    (1e7 * std::sqrt(rate / 5e8)),
			    1, 0.02)
			<< rate;
}

TEST(TimelyRate, timely_rate_sample__decrease_is_bounded)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.max_decrease_milli = 150;
	e.p.max_high_milli = 500;
	e.feed(60000);
	EXPECT_NEAR(e.feed(160000), 850000000, 10);
	EXPECT_NEAR(e.feed(10000000), 425000000, 10);
}

TEST(TimelyRate, timely_rate_sample__one_decrease_per_round_trip_the_deepest)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.decrease_once = 1;
	e.p.beta_milli = 1000;
	e.feed(500000);
	// Above t_high by 20%, 50%, 20% within one RTT: half, once.
	EXPECT_NEAR(e.feed(625000, 100000), 800000000, 10);
	EXPECT_NEAR(e.feed(1000000, 100000), 500000000, 10);
	EXPECT_NEAR(e.feed(625000, 100000), 500000000, 10);
	// Sent after it: a new one, from the rate of now.
	EXPECT_NEAR(e.feed(1000000, 900000), 250000000, 10);
}

TEST(TimelyRate, timely_rate_sample__draining_queue_is_left_alone)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.high_drain = 1;
	e.feed(900000);
	e.feed(800000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
	EXPECT_EQ(e.out.rate_bps, TIMELY_GBPS);
	e.feed(900000);
	EXPECT_LT(e.out.rate_bps, TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_sample__beta_high_above_t_high_only)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.beta_high_milli = 400;
	e.feed(1000000);
	EXPECT_NEAR(e.feed(1000000), 800000000, 10);
}

TEST(TimelyRate, timely_rate_sample__hai_needs_its_time)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.hai_low = 1;
	e.p.hai_us = 1000;
	e.feed(30000);
	for (int i = 0; i < 9; i++) {
		e.feed(30000);
		ASSERT_EQ(e.out.branch, TIMELY_BRANCH_LOW) << i;
	}
	e.feed(30000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HAI);
	e.feed(600000);
	e.feed(30000, 10000000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_LOW);  // five events still
}

TEST(TimelyRate, timely_rate_sample__hai_off)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.hai_events = 0;
	e.feed(60000);
	for (int i = 0; i < 20; i++) {
		e.feed(60000);
		ASSERT_EQ(e.out.branch, TIMELY_BRANCH_INC);
	}
}

// RTTs that jump back and forth between low and low + width.
void shake(Engine &e, u64 low_ns, u64 width_ns, int events)
{
	for (int i = 0; i < events; i++)
		e.feed(low_ns + (i % 2 ? width_ns : 0));
}

TEST(TimelyRate, timely_rate_sample__noise_is_no_queue)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 22000, 60000, 300);
	for (int i = 0; i < 20; i++) {
		shake(e, 22000, 60000, 2);
		ASSERT_NE(e.out.branch, TIMELY_BRANCH_HIGH);
		ASSERT_NE(e.out.branch, TIMELY_BRANCH_DEC);
	}
	e.p.noise_max_us = 0;
	shake(e, 22000, 60000, 2);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyRate, timely_rate_sample__rare_events_count_less)
{
	// In round trips of 20 us: at rare_rtts, 16 and 81 times as far apart.
	const std::vector<std::pair<u64, double>> cases = {
		{80000, 1}, {80100, 1}, {1280000, 0.5}, {6480000, 1 / 3.0}};

	for (auto [gap_ns, part] : cases) {
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.scale_updates = 1;
		e.p.scale_max = 3;
		e.p.rare_rtts = 4;
		e.feed(20000);
		e.feed(20000, gap_ns);
		EXPECT_NEAR(e.out.rate_bps - double(TIMELY_GBPS),
			    part * 3 * e.p.delta_bps, 0.001 * e.p.delta_bps)
			<< gap_ns;
	}
}

// A slow flow that finds the path empty again and again takes more.
TEST(TimelyRate, timely_rate_sample__slow_flow_takes_an_empty_path)
{
	Engine e(shipped(), 30000000);
	auto growth = [&](u64 rtt_ns) {
		e.state.drained = TIMELY_PATH_DRAINS;  // the next is a second away
		u64 rate_bps = e.state.rate_bps;

		e.feed(rtt_ns, 800000);
		return double(e.state.rate_bps) / rate_bps - 1;
	};

	for (int i = 0; i < TIMELY_SLOW_EVENTS; i++)
		EXPECT_LT(growth(20000), 0.02);
	EXPECT_GT(growth(20000), 0.02);
	EXPECT_LT(growth(20000), 0.07);
	EXPECT_LT(growth(32000), 0.02);  // not empty
	EXPECT_LT(growth(20000), 0.02);
}

// The growth of two paths that stay empty.
TEST(TimelyRate, timely_rate_sample__empty_path_is_filled_in_equal_time)
{
	double grown[2];
	int i = 0;

	for (u64 base_ns : {20000, 200000}) {
		Engine e(shipped(), TIMELY_GBPS);

		e.state.base_ns = base_ns;
		e.state.drained = TIMELY_PATH_DRAINS;  // the next is a second away
		for (u64 ns = 0; ns < 3000000; ns += base_ns)
			e.feed(base_ns, base_ns);
		grown[i++] = e.state.rate_bps - double(TIMELY_GBPS);
	}
	EXPECT_GT(grown[1], 0.3 * grown[0]);  // by the round trip it were a tenth
	EXPECT_LT(grown[1], 2 * grown[0]);
}

TEST(TimelyRate, timely_rate_sample__rare_events_start_no_hai)
{
	for (u64 gap_ns : {240000, 240100}) {
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.rare_rtts = 4;
		e.p.hai_low = 1;
		for (int i = 0; i < 20; i++)
			e.feed(20000, gap_ns);
		EXPECT_EQ(e.out.branch == TIMELY_BRANCH_HAI, gap_ns == 240000);
	}
}

TEST(TimelyRate, timely_rate_sample__queue_under_noise_is_seen)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 22000, 20000, 300);
	shake(e, 222000, 20000, 20);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyRate, timely_rate_sample__noise_whose_least_is_the_base_takes_nothing)
{
	for (u64 width_ns : {20000, 60000}) {
		Engine e(shipped(), TIMELY_GBPS);

		shake(e, 20000, width_ns, 2000);
		EXPECT_GT(e.state.rate_bps, TIMELY_GBPS) << width_ns;
	}
}

TEST(TimelyRate, timely_rate_sample__noise_hides_a_queue_for_a_window_only)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 20000, 20000, 300);
	u64 rate_bps = e.state.rate_bps;
	shake(e, 120000, 20000, 2 * TIMELY_NOISE_EVENTS + 1);
	EXPECT_LT(e.state.rate_bps, rate_bps);
}

TEST(TimelyRate, timely_rate_sample__rising_queue_is_no_noise)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (u64 rtt_ns = 20000; rtt_ns < 80000; rtt_ns += 500)
		e.feed(rtt_ns);
	EXPECT_EQ(e.state.jitter_q, 0u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyRate, timely_rate_sample__jitter_stays_within_its_bits)
{
	Engine e(shipped(), TIMELY_GBPS);
	u64 last = 0;

	for (int i = 0; i < 1000; i++) {
		e.feed(i % 2 ? TIMELY_RTT_MAX_NS : 20000);
		ASSERT_GE(e.state.jitter_q, last);
		last = e.state.jitter_q;
	}
	EXPECT_GT(last >> TIMELY_JITTER_SHIFT, 200000u);
	/* every second sample counts, of which each is the largest */
	EXPECT_NEAR(e.state.spike_ns, TIMELY_SPIKE_MAX_NS / 2, TIMELY_SPIKE_MAX_NS / 64);
}

TEST(TimelyRate, timely_rate_sample__gradient_stays_within_its_bits)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	e.feed(TIMELY_RTT_MAX_NS);
	EXPECT_GT(e.out.rtt_diff_q, 0);
	e.feed(20000);
	EXPECT_LT(e.out.rtt_diff_q, 0);
}

TEST(TimelyRate, timely_rate_sample__app_limited_grows_above_80_percent_only)
{
	for (u32 acked_bytes : {9900, 10100}) {  // of 12500 in 100 us
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.app_limit_milli = 800;
		e.app_limited = true;
		e.acked_bytes = acked_bytes;
		e.feed(30000);
		e.feed(30000);
		EXPECT_EQ(e.out.rate_bps > TIMELY_GBPS, acked_bytes > 10000);
	}
}

TEST(TimelyRate, timely_rate_loss__halves_and_undo_restores)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_loss__of_little_with_a_short_queue_cuts_little)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_loss(&e.state, &e.p, e.now_ns, false);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 1000 * (1000 - e.p.loss_milli));
}

// The queue is short below the same threshold as everywhere, on a short path and by the papers' law.
TEST(TimelyRate, timely_rate_loss__short_is_below_the_lower_threshold)
{
	for (bool path_law : {true, false}) {
		for (u64 rtt_ns : {30000, 50000}) {
			timely_params p = shipped();
			timely_state s;

			p.path_law = path_law;
			p.t_low_us = path_law ? 22 : 42;
			timely_rate_start(&s, &p, TIMELY_GBPS, 5000);
			s.prev_rtt_ns = rtt_ns;
			timely_rate_loss(&s, &p, 1000000, false);
			EXPECT_EQ(s.rate_bps, TIMELY_GBPS / 1000 * (rtt_ns < 42000 ? 1000 - p.loss_milli : 500));
		}
	}
}

TEST(TimelyRate, timely_rate_loss__with_a_long_queue_halves)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(200000);
	timely_rate_loss(&e.state, &e.p, e.now_ns, false);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

TEST(TimelyRate, timely_rate_rto__climbs_to_half_the_former_rate_in_a_few_events)
{
	Engine e(shipped(), TIMELY_GBPS);
	int events = 0;

	timely_rate_rto(&e.state, &e.p);
	while (e.state.rate_bps < TIMELY_GBPS / 2 && events < 100) {
		e.feed(20000);
		events++;
	}
	/* the first only sets the previous RTT, then 1 Mbit/s doubles 9 times */
	EXPECT_LE(events, 11);
	e.feed(20000);
	EXPECT_LT(e.state.rate_bps, TIMELY_GBPS * 6 / 10);
}

TEST(TimelyRate, timely_rate_got_through__doubles_once_a_round_trip)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_rto(&e.state, &e.p);
	u64 now_ns = e.now_ns + 1000000;
	timely_rate_got_through(&e.state, &e.p, now_ns, 20000, 0);
	EXPECT_EQ(e.state.rate_bps, 2 * e.p.min_rate_bps);
	timely_rate_got_through(&e.state, &e.p, now_ns, 20000, 0);
	EXPECT_EQ(e.state.rate_bps, 2 * e.p.min_rate_bps);
	for (int i = 1; i < 100; i++)
		timely_rate_got_through(&e.state, &e.p, now_ns + i * 20000, 20000, 0);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

TEST(TimelyRate, timely_rate_rto__climb_ends_when_the_queue_grows)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_rto(&e.state, &e.p);
	e.feed(20000);
	e.feed(20000);
	e.feed(55000);
	u64 rate_bps = e.state.rate_bps;
	e.feed(20000);
	EXPECT_LT(e.state.rate_bps, rate_bps * 3 / 2);
}

TEST(TimelyRate, timely_rate_recovered__leaves_nothing_to_undo)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	timely_rate_recovered(&e.state);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

TEST(TimelyRate, timely_rate_rto__restarts_from_the_floor)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_rto(&e.state, &e.p);
	EXPECT_EQ(e.state.rate_bps, e.p.min_rate_bps);
	e.feed(900000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_idle__never_raises_and_forgets_the_gradient)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	e.feed(50000);
	timely_rate_idle(&e.state, &e.p, 2 * TIMELY_GBPS);
	EXPECT_LE(e.state.rate_bps, TIMELY_GBPS);
	timely_rate_idle(&e.state, &e.p, 300 * TIMELY_MBPS);
	EXPECT_EQ(e.state.rate_bps, 300 * TIMELY_MBPS);
	EXPECT_EQ(e.state.rtt_diff_q, 0);
	e.feed(20000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
}

TEST(TimelyRate, timely_burst_bytes__follows_the_rate_in_pairs)
{
	timely_params p = shipped();

	EXPECT_EQ(timely_burst_bytes(&p, 1000000, 1448), 2 * 1448u);
	EXPECT_EQ(timely_burst_bytes(&p, 400 * TIMELY_GBPS, 1448), 10 * 1448u);
	for (u64 rate_bps = 1000000; rate_bps < 10 * TIMELY_GBPS;
	     rate_bps += 77777777)
		ASSERT_EQ(timely_burst_bytes(&p, rate_bps, 1448) % (2 * 1448), 0u);
	p.burst_us = 0;
	EXPECT_EQ(timely_burst_bytes(&p, 1000000, 1448), 10 * 1448u);
}

TEST(TimelyRate, timely_state__fits_its_budget)
{
	EXPECT_LE(sizeof(timely_state), 64u);
}

}  // namespace
