/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the delays of a connection come from.  Model: On-Ramp (ONRAMP21).
 */
#ifndef ONRAMP_SOURCE_H
#define ONRAMP_SOURCE_H

#include "include/uapi/turnpike.h"
#include "onramp_option.h"

enum onramp_source {
	ONRAMP_SOURCE_NONE,
	ONRAMP_SOURCE_TCPTS,		/* microsecond TCP timestamps */
	ONRAMP_SOURCE_ORACK,		/* receipts of the peer */
	ONRAMP_SOURCES,
};

/* The source that is left where the peer's timestamps are not in microseconds. */
static inline enum onramp_source onramp_source_instead(const struct onramp_config *c)
{
	return c->feedback == ONRAMP_FEEDBACK_AUTO ? ONRAMP_SOURCE_ORACK : ONRAMP_SOURCE_NONE;
}

#endif /* ONRAMP_SOURCE_H */
