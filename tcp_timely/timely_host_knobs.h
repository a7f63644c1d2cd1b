/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names, units and ranges of the knobs in struct timely_host (TIMELY15).
 */
#ifndef TIMELY_HOST_KNOBS_H
#define TIMELY_HOST_KNOBS_H

#include "timely_host.h"
#include "timely_params.h"

#define TIMELY_HOST_KNOB_WORDS(field, unit, min, max, words, help)	\
	{ #field, unit, help, min, max,					\
	  (u32)offsetof(struct timely_host, field),			\
	  (u32)sizeof(((struct timely_host *)0)->field), words }

#define TIMELY_HOST_KNOB(field, unit, min, max, help)			\
	TIMELY_HOST_KNOB_WORDS(field, unit, min, max, NULL, help)

static const char *const timely_source_words[] = { "auto", "hw", "sw", "tcp" };
static const char *const timely_signal_words[] = {
	"rtt", "forward", "sum", "sum_squ", "max"
};

static const struct timely_knob timely_host_knobs[] = {
	TIMELY_HOST_KNOB(line_rate_mbps, "Mbit/s", 0, 1600000,
			 "line rate of the output device; 0: ask the device"),
	TIMELY_HOST_KNOB(default_line_rate_mbps, "Mbit/s", 1, 1600000,
			 "line rate of a device that does not know its own"),
	TIMELY_HOST_KNOB(idle_ms, "ms", 0, 3600000,
			 "the rate halves for each such time without data; 0: it is kept"),
	TIMELY_HOST_KNOB(own_pacing, "", 0, 1,
			 "1: TCP's own timer paces; 0: fq does where it is the qdisc"),
	TIMELY_HOST_KNOB_WORDS(source, "", 0, ARRAY_SIZE(timely_source_words) - 1,
			       timely_source_words,
			       "whose times RTT samples are made of: stamps where they are there, only the NIC's, only those at the driver, TCP's own"),
	TIMELY_HOST_KNOB_WORDS(signal, "", 0, ARRAY_SIZE(timely_signal_words) - 1,
			       timely_signal_words,
			       "what drives the rate: the RTT, the RTT without queues of the way back, or the base RTT with a function of the queues of single hops"),
};

#define TIMELY_HOST_KNOB_COUNT	ARRAY_SIZE(timely_host_knobs)

#endif /* TIMELY_HOST_KNOBS_H */
