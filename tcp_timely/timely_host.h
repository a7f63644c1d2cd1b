/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Knobs of the host around the rate engine (TIMELY15): line rate, idle restart, pacing, times.
 *
 * They are in the same sysctl directories as the engine's own, but not part of its presets,
 * since they describe the machine and not the algorithm.
 */
#ifndef TIMELY_HOST_H
#define TIMELY_HOST_H

#include "timely_types.h"

struct timely_host {
	u64 line_rate_mbps;		/* 0: the output device's speed */
	u64 default_line_rate_mbps;	/* for a device that does not tell its speed */
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
