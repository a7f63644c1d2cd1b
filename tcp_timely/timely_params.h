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
};

#define TIMELY_KNOB(field, unit, min, max, help)			\
	{ #field, unit, help, min, max,					\
	  (u32)offsetof(struct timely_params, field),			\
	  (u32)sizeof(((struct timely_params *)0)->field) }

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
	TIMELY_KNOB(hai_mult, "", 1, 1000,
		    "steps per update while HAI is on"),
	TIMELY_KNOB(seg_bytes, "bytes", 1024, 1048576,
		    "largest burst, and largest completion event"),
	TIMELY_KNOB(burst_us, "us", 0, 1000000,
		    "burst = rate * this, up to seg_bytes; 0: always seg_bytes"),
	TIMELY_KNOB(max_decrease_milli, "1/1000", 1, 1000,
		    "largest part of the rate one decrease takes; 1000: no bound"),
	TIMELY_KNOB(app_limit_milli, "1/1000", 0, 1000,
		    "no growth while the flow sends less than this part of its rate; 0: off"),
	TIMELY_KNOB(rtt_floor_us, "us", 0, 1000000,
		    "RTT samples below this are ignored; 0: off"),
	TIMELY_KNOB(elapsed_gradient, "", 0, 1,
		    "gradient over the time since the last event, if longer than min_rtt"),
	TIMELY_KNOB(scale_updates, "", 0, 1,
		    "events closer than min_rtt count in proportion"),
	TIMELY_KNOB(decrease_once, "", 0, 1,
		    "at most one decrease per RTT"),
	TIMELY_KNOB(hai_low, "", 0, 1,
		    "events below t_low count for HAI too"),
};

#define TIMELY_KNOB_COUNT	ARRAY_SIZE(timely_knobs)

struct timely_preset {
	const char *name;
	const char *source;
	u8 variant;
	struct timely_params params;
};

/* The pseudo-code's constants; every departure off. */
#define TIMELY_PARAMS_VERBATIM(variant_, beta_, hai_)			\
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = TIMELY_MBPS,				\
		.max_rate_bps = 10 * TIMELY_GBPS,			\
		.delta_bps = 10 * TIMELY_MBPS, .delta_ref_bps = 0,	\
		.t_low_us = 50, .t_high_us = 500, .min_rtt_us = 20,	\
		.alpha_milli = 875, .beta_milli = beta_,		\
		.hai_events = hai_, .hai_mult = 5,			\
		.seg_bytes = 16384, .burst_us = 0,			\
		.max_decrease_milli = 1000,				\
		.app_limit_milli = 0, .rtt_floor_us = 0,		\
		.variant = variant_,					\
		.elapsed_gradient = 0, .scale_updates = 0,		\
		.decrease_once = 0, .hai_low = 0,			\
	}

#define TIMELY_PARAMS_SHIPPED(variant_, delta_, beta_)			\
	{								\
		.init_rate_bps = 0,					\
		.min_rate_bps = TIMELY_MBPS,				\
		.max_rate_bps = 400 * TIMELY_GBPS,			\
		.delta_bps = delta_,					\
		.delta_ref_bps = 500 * TIMELY_MBPS,			\
		.t_low_us = 30, .t_high_us = 200, .min_rtt_us = 20,	\
		.alpha_milli = 875, .beta_milli = beta_,		\
		.hai_events = 5, .hai_mult = 5,				\
		.seg_bytes = 16384, .burst_us = 64,			\
		.max_decrease_milli = 500,				\
		.app_limit_milli = 800, .rtt_floor_us = 1,		\
		.variant = variant_,					\
		.elapsed_gradient = 1, .scale_updates = 1,		\
		.decrease_once = 1, .hai_low = 1,			\
	}

static const struct timely_preset timely_presets[] = {
	{ "default", "this project", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_SHIPPED(TIMELY_VARIANT_TIMELY, 2500000, 800) },
	{ "default", "this project", TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_SHIPPED(TIMELY_VARIANT_PATCHED, 1500000, 80) },
	{ "verbatim", "TIMELY, Algorithm 1", TIMELY_VARIANT_TIMELY,
	  TIMELY_PARAMS_VERBATIM(TIMELY_VARIANT_TIMELY, 800, 5) },
	{ "verbatim", "Patched TIMELY, Algorithm 2", TIMELY_VARIANT_PATCHED,
	  TIMELY_PARAMS_VERBATIM(TIMELY_VARIANT_PATCHED, 8, 0) },
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
