/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Knobs of the host around the rate engine: line rate, idle restart, times.
 *
 * They stand beside the engine's own in the same sysctl directories but are not
 * part of its presets, since they describe the machine rather than the algorithm.
 */
#ifndef TIMELY_HOST_H
#define TIMELY_HOST_H

#include "timely_types.h"

struct timely_host {
	u64 line_rate_mbps;		/* 0: what the output device says */
	u64 default_line_rate_mbps;	/* for a device that does not say */
	u32 idle_ms;			/* halve the rate per this much idle time; 0: off */
	u32 own_pacing;			/* TCP's timer paces even where fq could */
	u32 source;			/* enum timely_stamp_mode */
	u32 signal;			/* enum timely_signal */
};

#define TIMELY_HOST_DEFAULT {						\
		.line_rate_mbps = 0,					\
		.default_line_rate_mbps = 10000,			\
		.idle_ms = 200,						\
		.own_pacing = 1,					\
		.source = 0,						\
		.signal = 0,						\
	}

#endif /* TIMELY_HOST_H */
