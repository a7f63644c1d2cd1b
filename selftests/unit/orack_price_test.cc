// SPDX-License-Identifier: GPL-2.0
// The price on which flows to one receiver agree: sch_onramp/orack/orack_price.h

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_price.h"

namespace {

constexpr u64 kStart = 7'000'000'000;
constexpr u64 kWindow = ORACK_PRICE_WINDOW_NS;
constexpr u64 kMs = 1'000'000;
constexpr u32 kOne = 1 << 20;

TEST(orack_price_next_window, window__has_the_mean_by_weight_when_it_ends)
{
	orack_price_window w{};
	u32 mean = 99;

	EXPECT_EQ(orack_price_next_window(&w, kStart, &mean), 0u);
	orack_price_add(&w, 100, 3);
	orack_price_add(&w, 200, 1);
	EXPECT_EQ(orack_price_next_window(&w, kStart + kWindow - 1, &mean), 0u);
	EXPECT_EQ(mean, 99u);
	EXPECT_EQ(orack_price_next_window(&w, kStart + kWindow, &mean), 4u);
	EXPECT_EQ(mean, 125u);
	EXPECT_EQ(w.weight, 0u);
	EXPECT_EQ(w.sum_q, 0u);
	EXPECT_EQ(w.end_ns, kStart + 2 * kWindow);
}

TEST(orack_price_next_window, window_long_gone__tells_nothing)
{
	orack_price_window w{};
	u32 mean;

	orack_price_next_window(&w, kStart, &mean);
	orack_price_add(&w, 100, 1);
	EXPECT_EQ(orack_price_next_window(&w, kStart + kWindow + ORACK_PRICE_STALE_NS, &mean), 0u);
	EXPECT_EQ(w.weight, 0u);
}

TEST(orack_price_add, most__does_not_wrap)
{
	orack_price_window w{};
	u32 mean;

	orack_price_next_window(&w, kStart, &mean);
	for (int i = 0; i < 70000; i++)
		orack_price_add(&w, ORACK_PRICE_MAX_Q, ORACK_WEIGHT_MAX);
	EXPECT_NE(orack_price_next_window(&w, kStart + kWindow, &mean), 0u);
	EXPECT_EQ(mean, ORACK_PRICE_MAX_Q);
}

// A report is due once a window, and has the mean of what flows said in it.
TEST(orack_price_said, report__is_due_once_a_window)
{
	orack_price_entry report;
	orack_price p{};
	int reports = 0;

	for (u64 ms = 0; ms < 40; ms++) {
		if (!orack_price_said(&p, (ms % 4 + 1) * 100, kStart + ms * kMs, &report))
			continue;
		reports++;
		p.unanswered = 0;
		EXPECT_EQ(report.price_q, 250u);
		EXPECT_EQ(report.weight, 4u);
		EXPECT_EQ(p.told_ns, kStart + ms * kMs);
	}
	EXPECT_EQ(reports, 9);
}

// A receiver that is gone has no more than a report a second.
TEST(orack_price_said, receiver_that_is_silent__has_fewer_reports)
{
	orack_price_entry report;
	orack_price p{};
	int first = 0, last = 0;

	for (u64 ms = 0; ms < 10000; ms++) {
		bool due = orack_price_said(&p, kOne, kStart + ms * kMs, &report);

		first += due && ms < 17;
		last += due && ms >= 5000;
	}
	EXPECT_EQ(first, 4);
	EXPECT_NEAR(last, 5, 1);
	orack_price_entry answer = {kOne, 1, kOne};
	EXPECT_TRUE(orack_price_answered(&p, p.told_ns, &answer, kStart));
	EXPECT_EQ(p.unanswered, 0u);
}

TEST(orack_price_said, flows_after_a_silence__begin_anew)
{
	orack_price_entry report;
	orack_price p{};

	orack_price_said(&p, 1000, kStart, &report);
	EXPECT_FALSE(orack_price_said(&p, 9000, kStart + 1000 * kMs, &report));
	EXPECT_EQ(orack_price_gap_q(&p, 9000, kStart + 1000 * kMs), 0);
}

TEST(orack_price_said, weight__is_bounded)
{
	orack_price_entry report;
	orack_price p{};

	for (u32 i = 0; i < 2 * ORACK_WEIGHT_MAX; i++)
		orack_price_said(&p, kOne, kStart, &report);
	EXPECT_TRUE(orack_price_said(&p, kOne, kStart + kWindow, &report));
	EXPECT_EQ(report.weight, ORACK_WEIGHT_MAX);
	EXPECT_EQ(report.price_q, kOne);
}

// Two flows of one host, and no receiver that answers.
TEST(orack_price_gap_q, flows_of_a_host__agree_without_a_receiver)
{
	orack_price_entry report;
	orack_price p{};
	s32 low = 0, high = 0;

	for (u64 ms = 0; ms < 20; ms++) {
		orack_price_said(&p, 1 * kOne, kStart + ms * kMs, &report);
		low = orack_price_gap_q(&p, 1 * kOne, kStart + ms * kMs);
		orack_price_said(&p, 3 * kOne, kStart + ms * kMs, &report);
		high = orack_price_gap_q(&p, 3 * kOne, kStart + ms * kMs);
	}
	EXPECT_NEAR(low, kOne, kOne / 4);
	EXPECT_NEAR(high, -static_cast<s32>(kOne), kOne / 4);
}

class Answered : public testing::Test {
 protected:
	void SetUp() override
	{
		orack_price_said(&p_, 500, kStart, &report_);
		ASSERT_TRUE(orack_price_said(&p_, 500, told_, &report_));
	}

	bool Answer(u64 told_ns, u32 told_q, u32 price_q = 700, u64 at_ns = told_ + 50'000)
	{
		orack_price_entry answer = {price_q, 9, told_q};

		return orack_price_answered(&p_, told_ns, &answer, at_ns);
	}

	static constexpr u64 told_ = kStart + kWindow;
	orack_price p_{};
	orack_price_entry report_;
};

TEST_F(Answered, answer__adds_what_others_have_more)
{
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_), 0);
	EXPECT_TRUE(Answer(told_, 500));
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_ + kMs), 200);
	EXPECT_EQ(orack_price_gap_q(&p_, 650, told_ + kMs), 50);
}

TEST_F(Answered, answer__may_be_lower)
{
	EXPECT_TRUE(Answer(told_, 500, 100));
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_ + kMs), -400);
}

TEST_F(Answered, second_answer__has_no_effect)
{
	EXPECT_TRUE(Answer(told_, 500));
	EXPECT_FALSE(Answer(told_, 500, 9000));
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_ + kMs), 200);
}

TEST_F(Answered, answer_to_another_report__has_no_effect)
{
	EXPECT_FALSE(Answer(told_ - kWindow, 500));
	EXPECT_FALSE(Answer(told_, 501));
	EXPECT_FALSE(Answer(0, 0));
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_ + kMs), 0);
}

TEST_F(Answered, answer__is_forgotten)
{
	EXPECT_TRUE(Answer(told_, 500, 700, told_));
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_ + ORACK_PRICE_STALE_NS - 1), 200);
	EXPECT_EQ(orack_price_gap_q(&p_, 500, told_ + ORACK_PRICE_STALE_NS), 0);
}

class Reported : public testing::Test {
 protected:
	orack_price_entry Report(u32 price_q, u32 weight, u64 at_ns)
	{
		orack_price_entry report = {price_q, weight, 0}, answer{};

		orack_price_reported(&all_, &report, at_ns, &answer);
		EXPECT_EQ(answer.told_q, price_q);
		return answer;
	}

	orack_price_all all_{};
};

TEST_F(Reported, answer__is_of_the_window_before)
{
	Report(100, 1, kStart);
	Report(400, 2, kStart + kMs);
	orack_price_entry answer = Report(900, 5, kStart + kWindow);
	EXPECT_EQ(answer.price_q, 300u);
	EXPECT_EQ(answer.weight, 3u);
}

TEST_F(Reported, without_a_window_before__answer_moves_nothing)
{
	orack_price_entry answer = Report(100, 1, kStart);
	EXPECT_EQ(answer.price_q, 100u);
	EXPECT_EQ(answer.weight, 1u);
	answer = Report(400, 2, kStart + kMs);
	EXPECT_EQ(answer.price_q, 400u);
	EXPECT_EQ(answer.weight, 2u);
}

// Hosts that waited in vain report once a second.
TEST_F(Reported, seldom__has_an_answer)
{
	Report(100, 1, kStart);
	EXPECT_EQ(Report(700, 2, kStart + 1000 * kMs).price_q, 700u);
}

TEST_F(Reported, weight__fits_the_answer)
{
	Report(100, ORACK_WEIGHT_MAX, kStart);
	EXPECT_EQ(Report(100, ORACK_WEIGHT_MAX, kStart).weight, ORACK_WEIGHT_MAX);
	EXPECT_EQ(Report(100, ORACK_WEIGHT_MAX, kStart + kWindow).weight, ORACK_WEIGHT_MAX);
}

// The receiver's On-Ramp comes again after hosts have waited long.
TEST(orack_price, hosts_that_waited__have_answers_again)
{
	orack_price_entry report, answer;
	orack_price price{};
	orack_price_all all{};
	u64 now_ns = kStart;
	int answers = 0;

	for (; now_ns < kStart + 10'000 * kMs; now_ns += kMs)
		orack_price_said(&price, kOne, now_ns, &report);
	EXPECT_EQ(orack_price_window_ns(price.unanswered), kWindow << ORACK_PRICE_PATIENCE);
	for (; now_ns < kStart + 12'000 * kMs; now_ns += kMs)
		if (orack_price_said(&price, kOne, now_ns, &report)) {
			orack_price_reported(&all, &report, now_ns, &answer);
			answers += orack_price_answered(&price, now_ns, &answer, now_ns);
		}
	EXPECT_GT(answers, 100);
}

// Ten hosts of four flows move their prices by a hundredth part in each ten milliseconds of
// difference, as timely_agree() does. All have one after a tenth of a second, and it is the mean.
TEST(orack_price, hosts__agree_on_the_mean)
{
	struct Host {
		orack_price price{};
		std::vector<double> flows;
	};
	std::vector<Host> hosts(10);
	orack_price_all all{};
	double mean = 0;

	for (int h = 0; h < 10; h++)
		for (int f = 0; f < 4; f++) {
			hosts[h].flows.push_back((1 + h + f % 2) * kOne);
			mean += hosts[h].flows.back() / 40;
		}
	for (u64 ms = 0; ms < 200; ms++) {
		u64 now_ns = kStart + ms * kMs;

		for (Host &host : hosts)
			for (double &flow : host.flows) {
				orack_price_entry report, answer;
				u32 price_q = static_cast<u32>(flow);

				if (orack_price_said(&host.price, price_q, now_ns, &report)) {
					orack_price_reported(&all, &report, now_ns, &answer);
					orack_price_answered(&host.price, now_ns, &answer, now_ns);
				}
				flow += orack_price_gap_q(&host.price, price_q, now_ns) * 0.1;
			}
	}
	for (const Host &host : hosts)
		for (double flow : host.flows)
			EXPECT_NEAR(flow, mean, mean / 20);
}

}  // namespace
