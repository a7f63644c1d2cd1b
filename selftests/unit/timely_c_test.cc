// SPDX-License-Identifier: GPL-2.0
// The rate engine in C, which the kernel runs, against the one in C++, which all other tests and
// the model run. C and C++ disagree about arithmetic with fields that are wider than an int.

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "selftests/unit/timely_c_engine.h"
#include "tcp_timely/timely_presets.h"

namespace {

constexpr int kFlows = 60;
constexpr int kSamples = 2000;

class Flow {
public:
	Flow(const timely_params &params, unsigned seed) : params_(params), random_(seed)
	{
		u64 rate_bps = 1000000ULL << below(22);
		u64 base_ns = 1000ULL << below(22);

		base_ns_ = base_ns;
		params_.max_rate_bps = 1600 * TIMELY_GBPS;
		std::memset(&c_, 0, sizeof(c_));
		std::memset(&cc_, 0, sizeof(cc_));
		timely_c_start(&c_, &params_, rate_bps, base_ns);
		timely_rate_start(&cc_, &params_, rate_bps, base_ns);
	}

	// A sample, or now and then a loss; says whether both engines are alike after it.
	bool step()
	{
		timely_outcome c_out{}, cc_out{};
		timely_sample sample = any_sample();

		if (below(500) == 0) {
			bool heavy = below(2);

			timely_c_loss(&c_, &params_, now_ns_, heavy);
			timely_rate_loss(&cc_, &params_, now_ns_, heavy);
		} else {
			timely_c_sample(&c_, &params_, &sample, &c_out);
			timely_rate_sample(&cc_, &params_, &sample, &cc_out);
		}
		return c_out.branch == cc_out.branch && c_out.rate_bps == cc_out.rate_bps &&
		       std::memcmp(&c_, &cc_, sizeof(c_)) == 0;
	}

private:
	u64 below(u64 bound) { return random_() % bound; }

	// The queue grows for a while and is taken away for a while, up to seconds of it.
	timely_sample any_sample()
	{
		timely_sample sample{};

		now_ns_ += 1000ULL << below(20);
		queue_ns_ = below(3) ? queue_ns_ / 2 : queue_ns_ + (1ULL << below(32));
		sample.now_ns = now_ns_;
		sample.rtt_ns = base_ns_ + queue_ns_;
		sample.frame_ns = 1230;
		sample.cap_bps = below(4) ? 0 : 400 * TIMELY_GBPS;
		sample.app_limited = below(4) == 0;
		sample.acked_bytes = static_cast<u32>(1448ULL << below(10));
		return sample;
	}

	timely_params params_;
	std::mt19937_64 random_;
	timely_state c_, cc_;
	u64 now_ns_ = 1000000000;
	u64 base_ns_;
	u64 queue_ns_ = 0;
};

TEST(TimelyC, timely_rate_sample__computes_as_in_cpp)
{
	unsigned seed = 0;

	for (const timely_preset &preset : timely_presets) {
		for (int i = 0; i < kFlows; i++) {
			Flow flow(preset.params, seed++);

			for (int n = 0; n < kSamples; n++)
				ASSERT_TRUE(flow.step()) << preset.name << " seed " << seed - 1
							 << " sample " << n;
		}
	}
}

}  // namespace
