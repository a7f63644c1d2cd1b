// SPDX-License-Identifier: GPL-2.0
/*
 * The trace events themselves: onramp_trace.h has what they say.  Model: On-Ramp (ONRAMP21).
 */
#define CREATE_TRACE_POINTS
#include "onramp_trace.h"
