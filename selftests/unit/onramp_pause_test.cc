// SPDX-License-Identifier: GPL-2.0
// The pausing rule against a reference in double precision: sch_onramp/onramp_pause.h

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/onramp_pause.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kStart = 1000000000;

onramp_pause_params Params(u8 mode = ONRAMP_MODE_PAPER)
{
	return {.threshold_ns = 50 * kUs, .max_ns = 50000 * kUs, .gain_shift = 4, .mode = mode};
}

// Section 3 of the paper, word for word but for final_, with a list of all pauses instead of a
// counter.
class Reference {
 public:
	Reference(double threshold, const onramp_pause_params &c, bool alone, double far)
		: threshold_(threshold), far_(c.mode == ONRAMP_MODE_FINAL ? far : 0),
		  strawman_(c.mode == ONRAMP_MODE_STRAWMAN), final_(c.mode == ONRAMP_MODE_FINAL && !alone)
	{
	}

	double Paused(double from, double to) const
	{
		double sum = 0;

		for (auto [begin, end] : pauses_)
			sum += std::max(0.0, std::min(end, to) - std::max(begin, from));
		return sum;
	}

	void Sample(double now, double delay, double sent)
	{
		if (!pauses_.empty() && pauses_.back().second > now)
			last_end_ = pauses_.back().second;
		if (has_black_ && sent > black_sent_) {
			double between = Paused(black_sent_, sent);

			if (between > 0) {
				double beta = std::clamp((black_delay_ - delay) / between, 0.0, 1.0);

				beta_ += (beta - beta_) / 16;
			}
		}
		has_black_ = true;
		black_delay_ = delay;
		black_sent_ = sent;

		double part = strawman_ ? 0 : final_ ? (0.25 + beta_) / 4 : beta_;
		double own = (part + (1 - part) * far_) * Paused(sent, now);

		if (delay - own > threshold_)
			Set(now, now + delay - own - threshold_);
	}

	double beta() const { return beta_; }
	double until() const { return pauses_.empty() ? 0 : pauses_.back().second; }

 private:
	// A pause under way ends where the new one begins.
	void Set(double now, double until)
	{
		if (!pauses_.empty() && pauses_.back().second > now)
			pauses_.back().second = now;
		pauses_.emplace_back(now, until);
	}

	double threshold_, far_, beta_ = 0, black_delay_ = 0, black_sent_ = 0, last_end_ = 0;
	bool strawman_, final_, has_black_ = false;
	std::vector<std::pair<double, double>> pauses_;
};

void FollowsReference(const onramp_pause_params &c, bool alone = false, double far = 0)
{
	std::mt19937 random(7);
	onramp_pause p;
	Reference reference(50e3, c, alone, far);
	u64 now = kStart;

	onramp_pause_init(&p, now);
	p.alone = alone;
	p.far = std::lround(far * ONRAMP_BETA_ONE);
	for (int i = 0; i < 5000; i++) {
		u64 delay = 20 * kUs + random() % (200 * kUs);
		u64 sent = std::max(now + random() % (30 * kUs), p.until_ns);
		u64 note = onramp_pause_sent(&p, sent);
		onramp_verdict v;

		now = sent + delay + random() % (20 * kUs);
		onramp_pause_sample(&p, &c, now, delay, note, &v);
		reference.Sample(now - kStart, delay, sent - kStart);
		ASSERT_NEAR(p.beta / double(ONRAMP_BETA_ONE), reference.beta(), 1e-6) << i;
		if (v.pause_ns) {
			ASSERT_NEAR(double(p.until_ns - kStart), reference.until(), 2) << i;
		}
	}
	EXPECT_GT(p.paused_ns, 0u);
}

TEST(onramp_pause_sample, paper__follows_the_reference)
{
	FollowsReference(Params(ONRAMP_MODE_PAPER));
}

TEST(onramp_pause_sample, final__follows_the_reference)
{
	FollowsReference(Params(ONRAMP_MODE_FINAL));
}

TEST(onramp_pause_sample, final__alone_on_its_line__follows_the_paper)
{
	FollowsReference(Params(ONRAMP_MODE_FINAL), true);
}

TEST(onramp_pause_sample, final__far_away__counts_more_of_its_pauses)
{
	FollowsReference(Params(ONRAMP_MODE_FINAL), false, 0.3);
	FollowsReference(Params(ONRAMP_MODE_FINAL), true, 1.0);
}

// Equations 2 to 4 know no round trip.
TEST(onramp_pause_sample, paper__far_away__follows_the_reference)
{
	FollowsReference(Params(ONRAMP_MODE_PAPER), false, 1.0);
}

TEST(onramp_pause_far, round_trip__grows_from_two_thresholds_to_five_at_most)
{
	onramp_pause_params c = Params();

	for (u64 threshold : {1ULL, 999ULL, 50000ULL, 1000000000ULL}) {
		c.threshold_ns = threshold;
		EXPECT_EQ(onramp_pause_far(&c, 0), 0u);
		EXPECT_EQ(onramp_pause_far(&c, 2 * threshold), 0u);
		EXPECT_EQ(onramp_pause_far(&c, 5 * threshold), ONRAMP_BETA_ONE);
		EXPECT_EQ(onramp_pause_far(&c, ~0ULL), ONRAMP_BETA_ONE);
	}
	c.threshold_ns = 50 * kUs;
	EXPECT_NEAR(onramp_pause_far(&c, 100 * kUs + 65536) / double(ONRAMP_BETA_ONE), 0.5, 0.001);
	// Three thresholds are just below a power of two.
	c.threshold_ns = 43 * kUs;
	EXPECT_LT(onramp_pause_far(&c, 86 * kUs + 65535), ONRAMP_BETA_ONE);
	EXPECT_EQ(onramp_pause_far(&c, 86 * kUs + 65536), ONRAMP_BETA_ONE);
	c.threshold_ns = 0;
	EXPECT_EQ(onramp_pause_far(&c, 2), ONRAMP_BETA_ONE);
}

TEST(onramp_pause_sample, strawman__follows_the_reference)
{
	FollowsReference(Params(ONRAMP_MODE_STRAWMAN));
}

TEST(onramp_pause_sample, below_threshold__asks_for_nothing)
{
	onramp_pause_params c = Params();
	onramp_verdict v;
	onramp_pause p;

	onramp_pause_init(&p, kStart);
	onramp_pause_sample(&p, &c, kStart, 50 * kUs, 0, &v);
	EXPECT_EQ(v.pause_ns, 0u);
	EXPECT_EQ(p.until_ns, 0u);
	onramp_pause_sample(&p, &c, kStart, 50 * kUs + 1, 0, &v);
	EXPECT_EQ(v.pause_ns, 1u);
}

TEST(onramp_pause_sample, shorter__replaces_longer)
{
	onramp_pause_params c = Params();
	onramp_verdict v;
	onramp_pause p;

	onramp_pause_init(&p, kStart);
	onramp_pause_sample(&p, &c, kStart, 1050 * kUs, 0, &v);
	onramp_pause_sample(&p, &c, kStart + 10 * kUs, 150 * kUs, 0, &v);
	EXPECT_EQ(p.until_ns, kStart + 110 * kUs);
	// Only what was asserted counts.
	onramp_pause_count(&p, kStart + 2000 * kUs);
	EXPECT_EQ(p.paused_ns, 110 * kUs);
}

TEST(onramp_pause_assert, any_stream_of_samples__holds_no_longer_than_max)
{
	onramp_pause_params c = Params();
	std::mt19937_64 random(3);
	onramp_verdict v;
	onramp_pause p;
	u64 now = kStart;

	onramp_pause_init(&p, now);
	onramp_pause_sample(&p, &c, now, 1000 * kUs, 0, &v);
	for (int i = 0; i < 200000; i++) {
		now += random() % (100 * kUs);
		onramp_pause_sample(&p, &c, now, random(), random(), &v);
		ASSERT_LE(p.until_ns, kStart + c.max_ns);
	}
	// Only a packet that leaves starts the bound anew.
	onramp_pause_sent(&p, now);
	onramp_pause_sample(&p, &c, now, ONRAMP_DELAY_MAX_NS, p.paused_ns, &v);
	EXPECT_TRUE(v.capped);
	EXPECT_EQ(p.until_ns, now + c.max_ns);
}

TEST(onramp_pause_drain, samples_meanwhile__end_it_no_sooner)
{
	onramp_pause_params c = Params(ONRAMP_MODE_STRAWMAN);
	onramp_verdict v;
	onramp_pause p;

	onramp_pause_init(&p, kStart);
	onramp_pause_sent(&p, kStart);
	onramp_pause_drain(&p, &c, kStart, 150 * kUs);
	EXPECT_EQ(p.until_ns, kStart + 150 * kUs);
	onramp_pause_sample(&p, &c, kStart + 20 * kUs, 60 * kUs, 0, &v);
	EXPECT_EQ(p.until_ns, kStart + 150 * kUs);
	onramp_pause_sample(&p, &c, kStart + 30 * kUs, 20 * kUs, 0, &v);
	EXPECT_EQ(p.until_ns, kStart + 150 * kUs);
	// one that asks for more has it, and after the drain samples count as ever
	onramp_pause_sample(&p, &c, kStart + 40 * kUs, 200 * kUs, 0, &v);
	EXPECT_EQ(p.until_ns, kStart + 190 * kUs);
	onramp_pause_sample(&p, &c, kStart + 300 * kUs, 60 * kUs, p.paused_ns, &v);
	EXPECT_EQ(p.until_ns, kStart + 310 * kUs);
}

TEST(onramp_pause_drain, again_and_again__holds_no_longer_than_max)
{
	onramp_pause_params c = Params();
	onramp_pause p;

	onramp_pause_init(&p, kStart);
	onramp_pause_sent(&p, kStart);
	for (u64 t = 0; t < 2 * c.max_ns; t += 100 * kUs) {
		onramp_pause_drain(&p, &c, kStart + t, c.max_ns / 2);
		ASSERT_LE(p.until_ns, kStart + c.max_ns);
	}
}

TEST(onramp_pause_drain, released__ends)
{
	onramp_pause_params c = Params();
	onramp_verdict v;
	onramp_pause p;

	onramp_pause_init(&p, kStart);
	onramp_pause_drain(&p, &c, kStart, 150 * kUs);
	onramp_pause_release(&p, kStart + 10 * kUs);
	EXPECT_EQ(p.paused_ns, 10 * kUs);
	onramp_pause_sample(&p, &c, kStart + 20 * kUs, 60 * kUs, p.paused_ns, &v);
	EXPECT_EQ(p.until_ns, kStart + 30 * kUs);
}

TEST(onramp_pause_release, pause_under_way__ends_and_counts_what_was)
{
	onramp_pause_params c = Params();
	onramp_verdict v;
	onramp_pause p;

	onramp_pause_init(&p, kStart);
	onramp_pause_sample(&p, &c, kStart, 1050 * kUs, 0, &v);
	onramp_pause_release(&p, kStart + 400 * kUs);
	EXPECT_EQ(p.paused_ns, 400 * kUs);
	onramp_pause_count(&p, kStart + 5000 * kUs);
	EXPECT_EQ(p.paused_ns, 400 * kUs);
}

}  // namespace
