/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate engine as a C compiler makes it, for timely_c_test.cc.
 */
#ifndef TURNPIKE_SELFTESTS_TIMELY_C_ENGINE_H
#define TURNPIKE_SELFTESTS_TIMELY_C_ENGINE_H

#include "tcp_timely/timely_rate.h"

#ifdef __cplusplus
extern "C" {
#endif

void timely_c_start(struct timely_state *s, const struct timely_params *p, u64 rate_bps, u64 base_ns);
void timely_c_sample(struct timely_state *s, const struct timely_params *p,
		     const struct timely_sample *sample, struct timely_outcome *out);
void timely_c_loss(struct timely_state *s, const struct timely_params *p, u64 now_ns, bool heavy);

#ifdef __cplusplus
}
#endif

#endif /* TURNPIKE_SELFTESTS_TIMELY_C_ENGINE_H */
