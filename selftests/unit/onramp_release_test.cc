// SPDX-License-Identifier: GPL-2.0
// Rate after a pause: sch_onramp/onramp_release.h

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/onramp_release.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kStart = 1000000000;
constexpr u32 kBytes = 2962;

onramp_release_params Params(u64 step)
{
	return {ONRAMP_RELEASE_WINDOW_NS, step};
}

onramp_release_params ParamsOf(u64 threshold_ns)
{
	onramp_release_params c;

	onramp_release_params_init(&c, threshold_ns);
	return c;
}

// Sends at `rate' until `until', with something left each time.
u64 SendFor(onramp_release *r, u64 now, u64 until, double rate, u64 step, bool more = true)
{
	const onramp_release_params c = Params(step);

	while (now < until) {
		now += std::llround(kBytes * 1e9 / rate);
		onramp_release_sent(r, &c, now, kBytes, more);
	}
	return now;
}

class Release : public ::testing::Test {
 protected:
	void SetUp() override { onramp_release_init(&r_, kStart); }

	onramp_release r_;
};

TEST_F(Release, step__is_a_frame_in_every_threshold)
{
	EXPECT_NEAR(ParamsOf(50 * kUs).step, 1514 / 50e-6, 1);
	EXPECT_GT(ParamsOf(0).step, 0u);
}

TEST_F(Release, window__holds_rounds_of_any_threshold)
{
	EXPECT_EQ(ParamsOf(0).window_ns, u64{ONRAMP_RELEASE_WINDOW_NS});
	EXPECT_EQ(ParamsOf(50 * kUs).window_ns, u64{ONRAMP_RELEASE_WINDOW_NS});
	EXPECT_EQ(ParamsOf(500 * kUs).window_ns, 4000 * kUs);
	EXPECT_EQ(ParamsOf(10000 * kUs).window_ns, 80000 * kUs);
	EXPECT_EQ(ParamsOf(1000000 * kUs).window_ns, u64{ONRAMP_RELEASE_WINDOW_MAX_NS});
}

// Of a sender that paces itself as much comes as leaves at its own rate.
TEST_F(Release, late__without_a_pause_catches_up_with_its_sender)
{
	EXPECT_EQ(onramp_release_late_rate(&r_, 1000000, ~0ULL), 1250000u);
	// what the application allows was not used while the flow waited
	EXPECT_EQ(onramp_release_late_rate(&r_, 1000000, 1000000), 1250000u);
}

TEST_F(Release, late__of_a_sender_that_does_not_pace_leaves_at_once)
{
	EXPECT_EQ(onramp_release_late_rate(&r_, ~0ULL, ~0ULL), ~0ULL);
}

TEST_F(Release, late__after_a_pause_goes_at_its_throughput_within_the_cap)
{
	r_.rate = 5000000;
	EXPECT_EQ(onramp_release_late_rate(&r_, 1000000, ~0ULL), 5000000u);
	EXPECT_EQ(onramp_release_late_rate(&r_, ~0ULL, 3000000), 3000000u);
}

// Of the longest window at 1.28 Tbit/s.
TEST_F(Release, longest_window__rate_does_not_wrap)
{
	const onramp_release_params c = ParamsOf(1000000 * kUs);
	const double rate = 1.6e11;

	onramp_release_held(&r_);
	r_.full = true;
	for (u64 now = kStart; now < kStart + c.window_ns;) {
		now += 1000 * kUs;
		onramp_release_sent(&r_, &c, now, 160000000, true);
	}
	EXPECT_NEAR(r_.rate, rate + c.step, 2);
}

TEST_F(Release, not_paused__congestion_control_decides)
{
	SendFor(&r_, kStart, kStart + 5000 * kUs, 1e8, 1000);
	EXPECT_EQ(r_.rate, 0u);
}

TEST_F(Release, paused__throughput_and_step)
{
	u64 now = kStart;

	for (int i = 0; i < 5; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000000);
	}
	EXPECT_NEAR(r_.rate, 1e8 + 1000000, 1e8 * kBytes / 1e5);
}

TEST_F(Release, little_throughput__half_of_it_at_most)
{
	u64 now = kStart;

	for (int i = 0; i < 5; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 100000000);
	}
	EXPECT_NEAR(r_.rate, 1.5e8, 1.5e8 * kBytes / 1e5);
}

// Noisy delay: pauses are rare, and what comes between two of them is no reason to send at any rate.
TEST_F(Release, rare_pauses__rate_grows_by_a_quarter)
{
	u64 now = kStart, rate;

	r_.rare = true;
	for (int i = 0; i < 3; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000000);
	}
	rate = r_.rate;
	EXPECT_NEAR(rate, 1.01e8, 1e6);
	SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000000);
	EXPECT_EQ(r_.rate, rate + rate / 4);
}

TEST_F(Release, rare_pauses__a_rate_that_limits_nothing_goes)
{
	u64 now = kStart;

	r_.rare = true;
	for (int i = 0; i < 3; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000000);
	}
	EXPECT_GT(r_.rate, 0u);
	for (int i = 0; i < 5; i++)
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000000);
	EXPECT_EQ(r_.rate, 0u);
}

TEST_F(Release, pauses_over__congestion_control_decides)
{
	u64 now = kStart;

	for (int i = 0; i < 5; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000);
	}
	ASSERT_NE(r_.rate, 0u);
	SendFor(&r_, now, now + 2500 * kUs, 1e8, 1000);
	EXPECT_EQ(r_.rate, 0u);
}

TEST_F(Release, little_to_send__rate_stays)
{
	u64 now = kStart, before;

	for (int i = 0; i < 5; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e8, 1000);
	}
	before = r_.rate;
	for (int i = 0; i < 5; i++) {
		onramp_release_held(&r_);
		now = SendFor(&r_, now, now + 1001 * kUs, 1e7, 1000, false);
	}
	EXPECT_EQ(r_.rate, before);
}

// An idle hour is one window with few bytes, and its end no full one.
TEST_F(Release, after_idling__no_rate_of_nothing)
{
	u64 now = SendFor(&r_, kStart, kStart + 100 * kUs, 1e8, 1000, false);
	const onramp_release_params c = Params(1000);

	onramp_release_held(&r_);
	onramp_release_sent(&r_, &c, now + 3600000000000ULL, kBytes, true);
	EXPECT_EQ(r_.rate, 0u);
}

TEST_F(Release, any_speed__follows_double_precision)
{
	const onramp_release_params c = Params(7);

	for (double gbps = 0.01; gbps < 800; gbps *= 1.7) {
		double rate = gbps * 1.25e8, sent = 0;
		u64 now = kStart, bytes = 0;

		onramp_release_init(&r_, now);
		onramp_release_sent(&r_, &c, now + 2000 * kUs, 1, true);
		now += 2000 * kUs;
		onramp_release_held(&r_);
		while (now - kStart - 2000 * kUs < ONRAMP_RELEASE_WINDOW_NS) {
			now += std::max<u64>(1, std::llround(64000 * 1e9 / rate));
			onramp_release_sent(&r_, &c, now, 64000, true);
			bytes += 64000;
		}
		sent = bytes * 1e9 / (now - kStart - 2000 * kUs) + 7;
		EXPECT_NEAR(r_.rate, sent, 2) << gbps;
	}
}

// Why the step is added and not multiplied: flows that are all paused for the same share
// of the time become equal from any beginning.
TEST(onramp_release, flows_of_one_queue__become_equal)
{
	constexpr int kFlows = 12;
	std::vector<onramp_release> flows(kFlows);
	std::vector<double> share(kFlows);
	const double line = 1.25e9;
	const onramp_release_params c = ParamsOf(50 * kUs);
	u64 now = kStart;

	std::iota(share.begin(), share.end(), 1);
	for (double &s : share)
		s *= line / (kFlows * (kFlows + 1) / 2);
	for (auto &f : flows) {
		onramp_release_init(&f, now);
		onramp_release_sent(&f, &c, now, 0, true);
	}
	for (int window = 0; window < 60; window++) {
		u64 end = now + ONRAMP_RELEASE_WINDOW_NS;
		double wanted = 0;

		for (int i = 0; i < kFlows; i++) {
			onramp_release_held(&flows[i]);
			if (!window)
				flows[i].full = true;
			onramp_release_sent(&flows[i], &c, end, u32(share[i] * 1e-3), true);
			wanted += flows[i].rate;
		}
		for (int i = 0; i < kFlows; i++)
			share[i] = flows[i].rate * std::min(1.0, line / wanted);
		now = end;
	}
	EXPECT_LT(*std::max_element(share.begin(), share.end()),
		  1.02 * *std::min_element(share.begin(), share.end()));
}

}  // namespace
