// SPDX-License-Identifier: GPL-2.0
#include "selftests/unit/timely_c_engine.h"

void timely_c_start(struct timely_state *s, const struct timely_params *p, u64 rate_bps, u64 base_ns)
{
	timely_rate_start(s, p, rate_bps, base_ns);
}

void timely_c_sample(struct timely_state *s, const struct timely_params *p,
		     const struct timely_sample *sample, struct timely_outcome *out)
{
	timely_rate_sample(s, p, sample, out);
}

void timely_c_loss(struct timely_state *s, const struct timely_params *p, u64 now_ns, bool heavy)
{
	timely_rate_loss(s, p, now_ns, heavy);
}
