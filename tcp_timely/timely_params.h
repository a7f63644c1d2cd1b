/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The knobs of the rate engine: names, units, ranges, presets.
 *
 * This table is the one list of parameters. Sysctls, "turnpike replay --list",
 * the man page's test and the validation all read it.
 */
#ifndef TIMELY_PARAMS_H
#define TIMELY_PARAMS_H

#include "timely_rate.h"

struct timely_knob {
	const char *name;
	const char *unit;	/* "" for counts and switches */
	const char *help;
	u64 min;
	u64 max;
	u32 offset;		/* of the field in struct timely_params */
	u32 size;		/* of the field: 1, 4 or 8 bytes */
	const char *const *words;	/* names of the values; NULL: numbers */
};

#define TIMELY_KNOB(field, unit, min, max, help)			\
	{ #field, unit, help, min, max,					\
	  (u32)offsetof(struct timely_params, field),			\
	  (u32)sizeof(((struct timely_params *)0)->field), NULL }

#define TIMELY_GBPS	1000000000ULL
#define TIMELY_MBPS	1000000ULL

static const struct timely_knob timely_knobs[] = {
	TIMELY_KNOB(init_rate_bps, "bit/s", 0, 1600 * TIMELY_GBPS,
		    "first rate of a flow; 0: line rate / (flows + 1)"),
	TIMELY_KNOB(min_rate_bps, "bit/s", 8000, 1600 * TIMELY_GBPS,
		    "the rate never falls below this"),
	TIMELY_KNOB(max_rate_bps, "bit/s", 8000, 1600 * TIMELY_GBPS,
		    "the rate never grows above this"),
	TIMELY_KNOB(delta_bps, "bit/s", 1, 100 * TIMELY_GBPS,
		    "additive step of one update"),
	TIMELY_KNOB(delta_ref_bps, "bit/s", 0, 1600 * TIMELY_GBPS,
		    "the step grows as sqrt(rate / this); 0: fixed step"),
	TIMELY_KNOB(t_low_us, "us", 0, 1000000,
		    "below this RTT the rate only grows"),
	TIMELY_KNOB(t_high_us, "us", 1, 10000000,
		    "above this RTT the rate only shrinks"),
	TIMELY_KNOB(min_rtt_us, "us", 1, 1000000,
		    "normalizes the gradient; about the unloaded RTT"),
	TIMELY_KNOB(alpha_milli, "1/1000", 1, 1000,
		    "weight of the newest RTT difference in the average"),
	TIMELY_KNOB(beta_milli, "1/1000", 0, 1000,
		    "factor of a multiplicative decrease"),
	TIMELY_KNOB(hai_events, "", 0, 255,
		    "events in a row that switch HAI on; 0: no HAI"),
	TIMELY_KNOB(hai_us, "us", 0, 1000000,
		    "and these events must span this time; 0: any time"),
	TIMELY_KNOB(hai_mult, "", 1, 1000,
		    "steps per update while HAI is on"),
	TIMELY_KNOB(scale_max, "", 1, 100,
		    "with scale_updates: most steps that one event stands for"),
	TIMELY_KNOB(seg_bytes, "bytes", 1024, 1048576,
		    "largest burst, and largest completion event"),
	TIMELY_KNOB(burst_us, "us", 0, 1000000,
		    "burst = rate * this, up to seg_bytes; 0: always seg_bytes"),
	TIMELY_KNOB(max_decrease_milli, "1/1000", 1, 1000,
		    "largest part of the rate one decrease below t_high takes; 1000: no bound"),
	TIMELY_KNOB(max_high_milli, "1/1000", 1, 1000,
		    "the same above t_high"),
	TIMELY_KNOB(beta_high_milli, "1/1000", 0, 1000,
		    "beta above t_high; 0: beta_milli"),
	TIMELY_KNOB(loss_milli, "1/1000", 0, 500,
		    "cut on a loss while the RTT is below t_low and little is lost; else half"),
	TIMELY_KNOB(app_limit_milli, "1/1000", 0, 1000,
		    "no growth while the flow sends less than this part of its rate; 0: off"),
	TIMELY_KNOB(rtt_floor_us, "us", 0, 1000000,
		    "RTT samples below this are ignored; 0: off"),
	TIMELY_KNOB(base_slack_us, "us", 0, 1000000,
		    "a base RTT up to min_rtt_us + this moves no threshold"),
	TIMELY_KNOB(base_max_us, "us", 0, 1000000,
		    "a longer base RTT moves t_low and t_high up, as far as this RTT; 0: off"),
	TIMELY_KNOB(low_frames, "frames", 0, 1000,
		    "t_low leaves room for these at line rate; moves t_low and t_high up on slow links; 0: off"),
	TIMELY_KNOB(noise_max_us, "us", 0, 1000,
		    "most that is taken out of a sample as noise; 0: off"),
	TIMELY_KNOB(noise_slack_us, "us", 0, 1000,
		    "jitter of samples up to this is not taken for noise"),
	TIMELY_KNOB(noise_events, "", 1, 15,
		    "samples of half the window whose minimum is without noise"),
	TIMELY_KNOB(rare_rtts, "RTTs", 0, 10000,
		    "events further apart count less, by the fourth root, and for no HAI at 3 times; 0: off"),
	TIMELY_KNOB(elapsed_gradient, "", 0, 1,
		    "gradient by time and not by event"),
	TIMELY_KNOB(scale_updates, "", 0, 1,
		    "steps per RTT instead of per event"),
	TIMELY_KNOB(decrease_once, "", 0, 1,
		    "at most one decrease per RTT"),
	TIMELY_KNOB(hai_low, "", 0, 1,
		    "events below t_low count for HAI too"),
	TIMELY_KNOB(high_drain, "", 0, 1,
		    "above t_high no decrease while the queue falls fast"),
};

#define TIMELY_KNOB_COUNT	ARRAY_SIZE(timely_knobs)

struct timely_preset {
	const char *name;
	const char *source;
	u8 variant;
	struct timely_params params;
};

/*
 * Presets of a source: its constants, and of the departures only what its
 * authors tell of. scale_: updates scaled by events per min_rtt; bound_: the
 * largest decrease in 1/1000.
 */
#define TIMELY_PARAMS_PAPER(variant_, min_, max_, delta_, hai_mult_, low_,	\
			    high_, min_rtt_, alpha_, beta_, hai_, scale_, bound_) \
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = min_, .max_rate_bps = max_,		\
		.delta_bps = delta_, .delta_ref_bps = 0,		\
		.t_low_us = low_, .t_high_us = high_,			\
		.min_rtt_us = min_rtt_,					\
		.alpha_milli = alpha_, .beta_milli = beta_,		\
		.hai_events = hai_, .hai_us = 0, .hai_mult = hai_mult_,	\
		.scale_max = 1,						\
		.seg_bytes = 16384, .burst_us = 0,			\
		.max_decrease_milli = bound_, .max_high_milli = bound_,	\
		.beta_high_milli = 0,					\
		.loss_milli = 500, .app_limit_milli = (scale_) ? 800 : 0,			\
		.rtt_floor_us = 0, .base_slack_us = 0, .base_max_us = 0, \
		.low_frames = 0, .noise_max_us = 0,			\
		.noise_slack_us = 0, .noise_events = 4, .rare_rtts = 0,	\
		.variant = variant_,					\
		.elapsed_gradient = 0, .scale_updates = scale_,		\
		.decrease_once = 0, .hai_low = 0, .high_drain = 0,	\
	}

/* The pseudo-code word for word: every departure off. */
#define TIMELY_PARAMS_VERBATIM(variant_, beta_, hai_)			\
	TIMELY_PARAMS_PAPER(variant_, TIMELY_MBPS, 10 * TIMELY_GBPS,	\
			    10 * TIMELY_MBPS, 5, 50, 500, 20, 875, beta_, \
			    hai_, 0, 1000)

/*
 * What ships: found and measured with selftests/sim, for 4 to 400 flows on
 * 10 to 100 Gbit/s at base RTTs of 8 to 100 us; selftests/sim/frontier.csv.
 */
#define TIMELY_PARAMS_SHIPPED(variant_, low_, high_, beta_, scale_max_)	\
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = TIMELY_MBPS,				\
		.max_rate_bps = 400 * TIMELY_GBPS,			\
		.delta_bps = 1250000,					\
		.delta_ref_bps = 500 * TIMELY_MBPS,			\
		.t_low_us = low_, .t_high_us = high_, .min_rtt_us = 20,	\
		.alpha_milli = 875, .beta_milli = beta_,		\
		.hai_events = 5, .hai_us = 10000, .hai_mult = 5,	\
		.scale_max = scale_max_,				\
		.seg_bytes = 16384, .burst_us = 40,			\
		.max_decrease_milli = 150, .max_high_milli = 500,	\
		.beta_high_milli = 400,					\
		.loss_milli = 30, .app_limit_milli = 800, .rtt_floor_us = 1,		\
		.base_slack_us = 5, .base_max_us = 200, .low_frames = 8, \
		.noise_max_us = 300, .noise_slack_us = 3,		\
		.noise_events = 4, .rare_rtts = 4,			\
		.variant = variant_,					\
		.elapsed_gradient = 1, .scale_updates = 1,		\
		.decrease_once = 1, .hai_low = 1, .high_drain = 1,	\
	}

static const struct timely_preset timely_presets[] = {
	{ "default", "this project", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_SHIPPED(TIMELY_VARIANT_TIMELY, 42, 74, 600, 2) },
	{ "default", "this project", TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_SHIPPED(TIMELY_VARIANT_PATCHED, 35, 70, 200, 3) },
	{ "verbatim", "TIMELY (SIGCOMM 2015), Algorithm 1",
	  TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_VERBATIM(TIMELY_VARIANT_TIMELY, 800, 5) },
	{ "verbatim", "Patched TIMELY (CoNEXT 2016), Algorithm 2",
	  TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_VERBATIM(TIMELY_VARIANT_PATCHED, 8, 0) },
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

static inline u64 timely_knob_get(const struct timely_knob *k,
				  const struct timely_params *p)
{
	const u8 *field = (const u8 *)p + k->offset;

	switch (k->size) {
	case 1:
		return *field;
	case 4:
		return *(const u32 *)field;
	default:
		return *(const u64 *)field;
	}
}

/* Sets a field without looking at its range: timely_params_check() does. */
static inline void timely_knob_set(const struct timely_knob *k,
				   struct timely_params *p, u64 value)
{
	u8 *field = (u8 *)p + k->offset;

	switch (k->size) {
	case 1:
		*field = (u8)value;
		break;
	case 4:
		*(u32 *)field = (u32)value;
		break;
	default:
		*(u64 *)field = value;
		break;
	}
}

/* 0, or -EINVAL and in *why a sentence that names the knob at fault. */
static inline int timely_params_check(const struct timely_params *p,
				      const char **why)
{
	size_t i;

	for (i = 0; i < TIMELY_KNOB_COUNT; i++) {
		u64 value = timely_knob_get(&timely_knobs[i], p);

		if (value < timely_knobs[i].min || value > timely_knobs[i].max) {
			*why = timely_knobs[i].name;
			return -EINVAL;
		}
	}
	if (p->t_low_us > p->t_high_us)
		*why = "t_low_us is above t_high_us";
	else if (p->min_rate_bps > p->max_rate_bps)
		*why = "min_rate_bps is above max_rate_bps";
	else if (p->init_rate_bps && p->init_rate_bps < p->min_rate_bps)
		*why = "init_rate_bps is below min_rate_bps";
	else if (p->init_rate_bps > p->max_rate_bps)
		*why = "init_rate_bps is above max_rate_bps";
	else
		return 0;
	return -EINVAL;
}

#endif /* TIMELY_PARAMS_H */
