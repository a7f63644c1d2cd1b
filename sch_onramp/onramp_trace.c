// SPDX-License-Identifier: GPL-2.0
/*
 * The trace events themselves: include/trace/events/turnpike_onramp.h has what they say.
 */
#define CREATE_TRACE_POINTS
#include "include/trace/events/turnpike_onramp.h"
