/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The presets of the rate engine: the values of TIMELY15, ECNDELAY16 and other sources.
 */
#ifndef TIMELY_PRESETS_H
#define TIMELY_PRESETS_H

#include "timely_params.h"

struct timely_preset {
	const char *name;
	const char *source;
	u8 variant;
	struct timely_params params;
};

/*
 * Presets of a source: its constants, and only those departures that its authors
 * describe. scale_: updates scaled by events per min_rtt; bound_: the largest
 * decrease in 1/1000.
 */
#define TIMELY_PARAMS_PAPER(variant_, min_, max_, delta_, hai_mult_, low_,	\
			    high_, min_rtt_, alpha_, beta_, hai_, scale_, bound_) \
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = min_, .max_rate_bps = max_,		\
		.delta_bps = delta_, .t_low_us = low_, .t_high_us = high_, \
		.beta_milli = beta_, .hai_events = hai_,		\
		.loss_milli = 500, .noise_max_us = 0,			\
		.seg_bytes = 16384, .burst_us = 0,			\
		.pi_k1_milli = 0, .pi_k2_per_s = 0, .pi_droop_milli = 0, \
		.min_rtt_us = min_rtt_, .alpha_milli = alpha_,		\
		.beta_high_milli = 0,					\
		.max_decrease_milli = bound_, .max_high_milli = bound_,	\
		.hai_us = 0, .hai_mult = hai_mult_, .scale_max = 1,	\
		.app_limit_milli = (scale_) ? 800 : 0, .rtt_floor_us = 0, \
		.rare_rtts = 0, .variant = variant_, .path_law = 0,	\
		.own_bursts = 0, .fill_empty = 0,			\
		.climb_back = 0,					\
		.root_step = 0, .elapsed_gradient = 0,			\
		.scale_updates = scale_, .decrease_once = 0,		\
		.hai_low = 0, .high_drain = 0,				\
	}

/* The pseudo-code word for word: every departure off. */
#define TIMELY_PARAMS_VERBATIM(variant_, beta_, hai_)			\
	TIMELY_PARAMS_PAPER(variant_, TIMELY_MBPS, 10 * TIMELY_GBPS,	\
			    10 * TIMELY_MBPS, 5, 50, 500, 20, 875, beta_, \
			    hai_, 0, 1000)

/*
 * The shipped values come from selftests/sim, for 4 to 400 flows on 10 to 100 Gbit/s
 * (frontier.csv) and for the paths of matrix.cc. Thresholds are of the queue: 24 us are a
 * 16 KB burst of another flow, and most of the flow's own, at 10 Gbit/s.
 */
#define TIMELY_PARAMS_SHIPPED(variant_, low_, high_, beta_, beta_high_,	\
			      scale_max_, few_)				\
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = TIMELY_MBPS,				\
		.max_rate_bps = 400 * TIMELY_GBPS,			\
		.delta_bps = 1250000, .t_low_us = low_, .t_high_us = high_, \
		.beta_milli = beta_, .hai_events = 5,			\
		.loss_milli = 30, .noise_max_us = 300,			\
		.seg_bytes = 16384, .burst_us = 40,			\
		.pi_k1_milli = 0, .pi_k2_per_s = 0, .pi_droop_milli = 0, \
		.min_rtt_us = 20, .alpha_milli = 875,			\
		.beta_high_milli = beta_high_,				\
		.max_decrease_milli = 150, .max_high_milli = 500,	\
		.hai_us = 10000, .hai_mult = 5, .scale_max = scale_max_, \
		.app_limit_milli = 800, .rtt_floor_us = 1,		\
		.rare_rtts = 4, .variant = variant_, .path_law = 1,	\
		.own_bursts = few_, .fill_empty = few_,			\
		.climb_back = few_,					\
		.root_step = 1, .elapsed_gradient = 1,			\
		.scale_updates = 1, .decrease_once = 1,			\
		.hai_low = 1, .high_drain = 1,				\
	}

/*
 * timely_pi as in section 5.2 of ECNDELAY16: Patched TIMELY's constants, and a reference of
 * 300 KB at 10 Gbit/s. The paper does not print K1 and K2.
 */
#define TIMELY_PARAMS_PI_VERBATIM					\
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = TIMELY_MBPS, .max_rate_bps = 10 * TIMELY_GBPS, \
		.delta_bps = 10 * TIMELY_MBPS, .t_low_us = 240, .t_high_us = 10000, \
		.beta_milli = 8, .hai_events = 0,			\
		.loss_milli = 500, .noise_max_us = 0,			\
		.seg_bytes = 16384, .burst_us = 0,			\
		.pi_k1_milli = 1000, .pi_k2_per_s = 100, .pi_droop_milli = 0, \
		.min_rtt_us = 20, .alpha_milli = 875,			\
		.beta_high_milli = 0,					\
		.max_decrease_milli = 1000, .max_high_milli = 1000,	\
		.hai_us = 0, .hai_mult = 1, .scale_max = 1,		\
		.app_limit_milli = 0, .rtt_floor_us = 0,		\
		.rare_rtts = 0, .variant = TIMELY_VARIANT_PI, .path_law = 0, \
		.own_bursts = 0, .fill_empty = 0,			\
		.climb_back = 0,					\
		.root_step = 0, .elapsed_gradient = 0,			\
		.scale_updates = 0, .decrease_once = 0,			\
		.hai_low = 0, .high_drain = 0,				\
	}

/*
 * What ships as timely_pi: its gains hold 2 to 40 flows at 10 to 100 Gbit/s (patched-fig19-grid).
 * With a higher t_high the queue of a start in overload lasts for tens of milliseconds, and flows
 * take it for the path.
 */
#define TIMELY_PARAMS_PI_SHIPPED					\
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = TIMELY_MBPS, .max_rate_bps = 400 * TIMELY_GBPS, \
		.delta_bps = 12500000, .t_low_us = 24, .t_high_us = 72,	\
		.beta_milli = 8, .hai_events = 0,			\
		.loss_milli = 30, .noise_max_us = 300,			\
		.seg_bytes = 16384, .burst_us = 40,			\
		.pi_k1_milli = 400, .pi_k2_per_s = 100, .pi_droop_milli = 15, \
		.min_rtt_us = 20, .alpha_milli = 875,			\
		.beta_high_milli = 250,					\
		.max_decrease_milli = 150, .max_high_milli = 500,	\
		.hai_us = 0, .hai_mult = 1, .scale_max = 1,		\
		.app_limit_milli = 800, .rtt_floor_us = 1,		\
		.rare_rtts = 0, .variant = TIMELY_VARIANT_PI, .path_law = 1, \
		.own_bursts = 0, .fill_empty = 0,			\
		.climb_back = 0,					\
		.root_step = 1, .elapsed_gradient = 1,			\
		.scale_updates = 1, .decrease_once = 0,			\
		.hai_low = 0, .high_drain = 1,				\
	}

static const struct timely_preset timely_presets[] = {
	{ "default", "this project", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_SHIPPED(TIMELY_VARIANT_TIMELY, 24, 54, 600, 400, 2, 1) },
	{ "default", "this project", TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_SHIPPED(TIMELY_VARIANT_PATCHED, 15, 50, 200, 250, 3, 0) },
	{ "default", "this project", TIMELY_VARIANT_PI, TIMELY_PARAMS_PI_SHIPPED },
	{ "verbatim", "TIMELY (SIGCOMM 2015), Algorithm 1",
	  TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_VERBATIM(TIMELY_VARIANT_TIMELY, 800, 5) },
	{ "verbatim", "Patched TIMELY (CoNEXT 2016), Algorithm 2",
	  TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_VERBATIM(TIMELY_VARIANT_PATCHED, 8, 0) },
	{ "verbatim", "ECN or Delay (CoNEXT 2016), section 5.2", TIMELY_VARIANT_PI,
	  TIMELY_PARAMS_PI_VERBATIM },
	{ "paper_10g", "TIMELY (SIGCOMM 2015), sections 5 and 6",
	  TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_TIMELY, TIMELY_MBPS,
			      10 * TIMELY_GBPS, 10 * TIMELY_MBPS, 5, 50, 500,
			      20, 875, 800, 5, 1, 500) },
	{ "paper_10g", "Patched TIMELY (CoNEXT 2016), section 4.3",
	  TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_PATCHED, TIMELY_MBPS,
			      10 * TIMELY_GBPS, 10 * TIMELY_MBPS, 5, 50, 500,
			      20, 875, 8, 0, 1, 1000) },
	{ "snippet_10g", "snippet published by an author of TIMELY, 64 KB",
	  TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_TIMELY, TIMELY_MBPS,
			      10 * TIMELY_GBPS, 10 * TIMELY_MBPS, 5, 50, 1000,
			      20, 20, 800, 5, 1, 500) },
	{ "erpc", "eRPC, src/cc/timely.h", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_TIMELY, 120 * TIMELY_MBPS,
			      100 * TIMELY_GBPS, 40 * TIMELY_MBPS, 5, 50, 1000,
			      2, 460, 260, 0, 1, 500) },
	{ "hpcc_10g", "HPCC's ns-3 model", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_TIMELY, TIMELY_GBPS,
			      10 * TIMELY_GBPS, 10 * TIMELY_MBPS, 5, 50, 500,
			      20, 875, 800, 5, 1, 1000) },
	{ "hpcc_25g", "HPCC's ns-3 model", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_TIMELY, TIMELY_GBPS,
			      25 * TIMELY_GBPS, 25 * TIMELY_MBPS, 5, 50, 500,
			      20, 875, 800, 5, 1, 1000) },
	{ "hpcc_100g", "HPCC's ns-3 model", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_PAPER(TIMELY_VARIANT_TIMELY, TIMELY_GBPS,
			      100 * TIMELY_GBPS, 100 * TIMELY_MBPS, 5, 50, 500,
			      20, 875, 800, 5, 1, 1000) },
};

#define TIMELY_PRESET_COUNT	ARRAY_SIZE(timely_presets)

#endif /* TIMELY_PRESETS_H */
