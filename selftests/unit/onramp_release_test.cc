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

// The same for every rate.
onramp_release_step Plain(u64 most)
{
	return { .most = most, .slope = 0 };
}

// Sends at `rate' until `until', with something left each time.
u64 SendFor(onramp_release *r, u64 now, u64 until, double rate, u64 most, bool more = true)
{
	const onramp_release_step step = Plain(most);

	while (now < until) {
		now += std::llround(kBytes * 1e9 / rate);
		onramp_release_sent(r, now, kBytes, more, &step);
	}
	return now;
}

class Release : public ::testing::Test {
 protected:
	void SetUp() override { onramp_release_init(&r_, kStart); }

	onramp_release r_;
};

onramp_release_step Step(u64 threshold_ns, u64 line_rate)
{
	onramp_release_step step;

	onramp_release_step_init(&step, threshold_ns, line_rate);
	return step;
}

TEST_F(Release, step__without_a_line_is_a_frame_in_every_threshold)
{
	const onramp_release_step step = Step(50 * kUs, 0);

	EXPECT_NEAR(onramp_release_growth(&step, 0), 1514 / 50e-6, 1);
	EXPECT_NEAR(onramp_release_growth(&step, 100000000000), 1514 / 50e-6, 1);
	EXPECT_GT(Step(0, 0).most, 0u);
}

TEST_F(Release, step__shrinks_to_nothing_at_line_rate)
{
	for (u64 threshold = 1; threshold <= 1000000000; threshold *= 10) {
		for (u64 line = 250000; line < 200000000000; line *= 3) {
			const onramp_release_step step = Step(threshold, line);
			const double most = 1.5 * 1514e9 / threshold;

			for (double part = 0; part <= 1; part += 0.125) {
				EXPECT_NEAR(onramp_release_growth(&step, u64(part * line)), most * (1 - part),
					    2 + most * 1e-3 + line * 1e-5) << threshold << " " << line;
			}
			EXPECT_LE(onramp_release_growth(&step, 3 * line), line * 1e-5);
		}
	}
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

	onramp_release_held(&r_);
	const onramp_release_step step = Plain(1000);

	onramp_release_sent(&r_, now + 3600000000000ULL, kBytes, true, &step);
	EXPECT_EQ(r_.rate, 0u);
}

TEST_F(Release, any_speed__follows_double_precision)
{
	const onramp_release_step step = Plain(7);

	for (double gbps = 0.01; gbps < 800; gbps *= 1.7) {
		double rate = gbps * 1.25e8, sent = 0;
		u64 now = kStart, bytes = 0;

		onramp_release_init(&r_, now);
		onramp_release_sent(&r_, now + 2000 * kUs, 1, true, &step);
		now += 2000 * kUs;
		onramp_release_held(&r_);
		while (now - kStart - 2000 * kUs < ONRAMP_RELEASE_WINDOW_NS) {
			now += std::max<u64>(1, std::llround(64000 * 1e9 / rate));
			onramp_release_sent(&r_, now, 64000, true, &step);
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
	const onramp_release_step step = Step(50 * kUs, u64(line));
	u64 now = kStart;

	std::iota(share.begin(), share.end(), 1);
	for (double &s : share)
		s *= line / (kFlows * (kFlows + 1) / 2);
	for (auto &f : flows) {
		onramp_release_init(&f, now);
		onramp_release_sent(&f, now, 0, true, &step);
	}
	for (int window = 0; window < 60; window++) {
		u64 end = now + ONRAMP_RELEASE_WINDOW_NS;
		double wanted = 0;

		for (int i = 0; i < kFlows; i++) {
			onramp_release_held(&flows[i]);
			if (!window)
				flows[i].full = true;
			onramp_release_sent(&flows[i], end, u32(share[i] * 1e-3), true, &step);
			wanted += flows[i].rate;
		}
		for (int i = 0; i < kFlows; i++)
			share[i] = flows[i].rate * std::min(1.0, line / wanted);
		now = end;
	}
	EXPECT_LT(*std::max_element(share.begin(), share.end()),
		  1.02 * *std::min_element(share.begin(), share.end()));
}

// Eq. 3 and 4 pause a flow the less, the larger its part of the traffic is: in the virtual rack
// beta was about as the square root of it.
TEST(onramp_release, larger_flow_is_paused_less__does_not_keep_its_share)
{
	const double line = 1.25e9;
	const onramp_release_step shrinking = Step(50 * kUs, u64(line));
	const onramp_release_step plain = Plain(shrinking.most / 2);

	for (const onramp_release_step *step : { &shrinking, &plain }) {
		double share[2] = { 0.7 * line, 0.3 * line };

		for (int window = 0; window < 400; window++) {
			double wanted[2], paused[2], over;

			for (int i = 0; i < 2; i++) {
				wanted[i] = share[i] + onramp_release_growth(step, u64(share[i]));
				paused[i] = 1 / std::sqrt(share[i]);
			}
			over = wanted[0] + wanted[1] - line;
			share[0] = wanted[0] - over * paused[0] / (paused[0] + paused[1]);
			share[0] = std::min(share[0], 0.999 * line);
			share[1] = line - share[0];
		}
		if (step == &shrinking)
			EXPECT_LT(share[0], 0.55 * line);
		else
			EXPECT_GT(share[0], 0.7 * line);
	}
}

}  // namespace
