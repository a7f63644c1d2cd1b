/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does TCP know the window that its peer told last?  Where packets are seen before IP,
 * several of a connection pass before TCP has the first of them (a NIC's batch).  An ACK
 * that repeats TCP's own window then may undo what one of those before it says, and is
 * no ACK that tells nothing.  Pure.
 */
#ifndef TLT_BEHIND_H
#define TLT_BEHIND_H

#include "include/turnpike_types.h"

struct tlt_behind {
	u32 segments;	/* that TCP had counted when the last packet passed */
	u16 window;	/* that packet's, as it stands in the header */
	bool differ;	/* those that passed with it had others */
};

/* A packet goes on to TCP, which has counted @segments before it. */
static inline void tlt_behind_pass(struct tlt_behind *b, u32 segments, u16 window)
{
	b->differ = segments == b->segments && (b->differ || window != b->window);
	b->segments = segments;
	b->window = window;
}

/* TCP has had them all, or they say the same window as the packet that comes now. */
static inline bool tlt_behind_window_is_known(const struct tlt_behind *b, u32 segments,
					      u16 window)
{
	return segments != b->segments || (!b->differ && window == b->window);
}

#endif /* TLT_BEHIND_H */
