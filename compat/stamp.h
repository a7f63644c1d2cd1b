/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the time in skb->tstamp.  Newer kernels name each clock by which a packet may
 * leave.  Older ones have one bit, "monotonic": without it the time may be of any other clock, or
 * that of the packet's arrival.
 */
#ifndef TURNPIKE_COMPAT_STAMP_H
#define TURNPIKE_COMPAT_STAMP_H

#include <linux/skbuff.h>

#include "compat/compat.h"

static inline bool tp_skb_stamp_is_monotonic(const struct sk_buff *skb)
{
#ifdef TP_HAVE_SKB_TSTAMP_TYPE
	return skb->tstamp_type == SKB_CLOCK_MONOTONIC;
#else
	return skb->mono_delivery_time;
#endif
}

static inline bool tp_skb_stamp_is_tai(const struct sk_buff *skb)
{
#ifdef TP_HAVE_SKB_TSTAMP_TYPE
	return skb->tstamp_type == SKB_CLOCK_TAI;
#else
	return false;
#endif
}

#endif /* TURNPIKE_COMPAT_STAMP_H */
