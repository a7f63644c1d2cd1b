/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of the rate engine (TIMELY15, ECNDELAY16): names, units, ranges.
 *
 * timely_knobs[] has the settings of the law, timely_pi_knobs[] those of timely_pi alone, and
 * timely_host_knobs[] (timely_host_knobs.h) those of the host. Sysctls, "turnpike replay --list",
 * the man page's test and the validation read these. timely_constants[] has the other values
 * in which presets differ; only replay and the model can change these.
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
	u32 offset;		/* of the field in struct timely_params, or timely_host */
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
	TIMELY_KNOB(t_low_us, "us", 0, 1000000,
		    "queue below which the rate only grows; RTT in the papers' presets"),
	TIMELY_KNOB(t_high_us, "us", 1, 10000000,
		    "queue above which the rate only shrinks; RTT in the papers' presets"),
	TIMELY_KNOB(seg_bytes, "bytes", 1024, 1048576,
		    "largest burst, and largest completion event"),
	TIMELY_KNOB(burst_us, "us", 0, 1000000,
		    "burst = rate * this, up to seg_bytes; 0: always seg_bytes"),
	TIMELY_KNOB(loss_milli, "1/1000", 0, 500,
		    "cut on a loss while the queue is short and little is lost; else half"),
	TIMELY_KNOB(delta_bps, "bit/s", 1, 100 * TIMELY_GBPS,
		    "additive step of one update"),
	TIMELY_KNOB(beta_milli, "1/1000", 0, 1000,
		    "factor of a multiplicative decrease"),
	TIMELY_KNOB(hai_events, "", 0, 255,
		    "events in a row that switch HAI on; 0: no HAI"),
	TIMELY_KNOB(noise_max_us, "us", 0, 1000,
		    "most that is taken out of a sample as noise; 0: off"),
};

/* Settings of timely_pi alone, which have no effect on others. */
static const struct timely_knob timely_pi_knobs[] = {
	TIMELY_KNOB(pi_k1_milli, "1/1000", 0, 10000,
		    "p grows by this as the queue grows by the reference"),
	TIMELY_KNOB(pi_k2_per_s, "1/s", 0, 100000,
		    "p grows by this a second while the queue is twice the reference"),
	TIMELY_KNOB(pi_droop_milli, "1/1000", 0, 1000,
		    "part of the reference that the queue grows by with each 1 of p; 0: the paper's law"),
};

/* A value without a sysctl. */
#define TIMELY_CONSTANT(...)	TIMELY_KNOB(__VA_ARGS__)

/* The papers' constants and this project's departures from their pseudo-code. */
static const struct timely_knob timely_constants[] = {
	TIMELY_CONSTANT(min_rtt_us, "us", 1, 1000000,
		    "normalizes the gradient of the papers' law"),
	TIMELY_CONSTANT(alpha_milli, "1/1000", 1, 1000,
		    "weight of the newest RTT difference in the average"),
	TIMELY_CONSTANT(beta_high_milli, "1/1000", 0, 1000,
		    "beta above t_high; 0: beta_milli"),
	TIMELY_CONSTANT(max_decrease_milli, "1/1000", 1, 1000,
		    "largest part of the rate one decrease below t_high takes; 1000: no bound"),
	TIMELY_CONSTANT(max_high_milli, "1/1000", 1, 1000,
		    "the same above t_high"),
	TIMELY_CONSTANT(hai_us, "us", 0, 1000000,
		    "and the events of HAI must span this time; 0: any time"),
	TIMELY_CONSTANT(hai_mult, "", 1, 1000,
		    "steps per update while HAI is on"),
	TIMELY_CONSTANT(scale_max, "", 1, 100,
		    "with scale_updates: most steps that one event stands for"),
	TIMELY_CONSTANT(app_limit_milli, "1/1000", 0, 1000,
		    "no growth while the flow sends less than this part of its rate; 0: off"),
	TIMELY_CONSTANT(rtt_floor_us, "us", 0, 1000000,
		    "RTT samples below this are ignored; 0: off"),
	TIMELY_CONSTANT(rare_rtts, "RTTs", 0, 10000,
		    "events further apart count less, by the fourth root, and for no HAI at 3 times; 0: off"),
	TIMELY_CONSTANT(path_law, "", 0, 1,
		    "thresholds are of the queue over the path's base RTT"),
	TIMELY_CONSTANT(own_bursts, "", 0, 1,
		    "half of a flow's own burst counts as queue"),
	TIMELY_CONSTANT(fill_empty, "", 0, 1,
		    "larger steps while the path stays empty"),
	TIMELY_CONSTANT(climb_back, "", 0, 1,
		    "after a burst of other flows, back to the rate before it"),
	TIMELY_CONSTANT(root_step, "", 0, 1,
		    "the step grows as the root of the rate"),
	TIMELY_CONSTANT(elapsed_gradient, "", 0, 1,
		    "gradient by time and not by event"),
	TIMELY_CONSTANT(scale_updates, "", 0, 1,
		    "steps per RTT instead of per event"),
	TIMELY_CONSTANT(decrease_once, "", 0, 1,
		    "at most one decrease per RTT"),
	TIMELY_CONSTANT(hai_low, "", 0, 1,
		    "events below t_low count for HAI too"),
	TIMELY_CONSTANT(high_drain, "", 0, 1,
		    "above t_high no decrease while the queue falls fast"),
};

#define TIMELY_KNOB_COUNT	ARRAY_SIZE(timely_knobs)
#define TIMELY_PI_KNOB_COUNT	ARRAY_SIZE(timely_pi_knobs)
#define TIMELY_CONSTANT_COUNT	ARRAY_SIZE(timely_constants)

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

/* Sets a field without a check of its range: timely_params_check() does that. */
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

/* NULL, or the first of these that is out of its range. */
static inline const struct timely_knob *
timely_knobs_outside(const struct timely_knob *knobs, size_t count,
		     const struct timely_params *p)
{
	size_t i;

	for (i = 0; i < count; i++) {
		u64 value = timely_knob_get(&knobs[i], p);

		if (value < knobs[i].min || value > knobs[i].max)
			return &knobs[i];
	}
	return NULL;
}

/* 0, or -EINVAL and in *why the setting at fault. */
static inline int timely_params_check(const struct timely_params *p,
				      const char **why)
{
	const struct timely_knob *k;

	k = timely_knobs_outside(timely_knobs, TIMELY_KNOB_COUNT, p);
	if (!k)
		k = timely_knobs_outside(timely_pi_knobs, TIMELY_PI_KNOB_COUNT, p);
	if (!k)
		k = timely_knobs_outside(timely_constants, TIMELY_CONSTANT_COUNT, p);
	if (k)
		*why = k->name;
	else if (p->variant == TIMELY_VARIANT_PI && !p->t_low_us)
		*why = "t_low_us is 0, and no reference";
	else if (p->t_low_us > p->t_high_us)
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
