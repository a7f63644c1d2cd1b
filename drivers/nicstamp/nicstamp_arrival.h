/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When frames with data came, for who asks after GRO. Pure.
 *
 *   frame --name--> set of 4, the oldest goes --name--> when that frame came
 *
 * GRO makes one packet of many frames and keeps the first one's stamp, where that of the
 * last is wanted, and it does not say which clock it is of. So each frame is entered
 * before GRO, under a name made of its connection and where its data end; the packet that
 * GRO made ends where its last frame does. A name has 64 bits of a keyed hash: two frames
 * that have the same one do not happen.
 */
#ifndef NICSTAMP_ARRIVAL_H
#define NICSTAMP_ARRIVAL_H

#include "include/turnpike_types.h"
#include "include/nicstamp_sample.h"

/* A driver hands over 64 frames at most before the stack has looked at them, GRO may hold
 * some of a poll before. With 256 sets of 4 one in 10^5 of these is overwritten before; a
 * processor's have 26 KB, of the 32 that per-cpu memory gives.
 */
#define NICSTAMP_ARRIVAL_SETS_LOG	8
#define NICSTAMP_ARRIVAL_SETS		(1 << NICSTAMP_ARRIVAL_SETS_LOG)
#define NICSTAMP_ARRIVAL_WAYS		4

struct nicstamp_arrival {
	u64 name;			/* 0: none */
	struct nicstamp_arrived arrived;
};

struct nicstamp_arrival_set {
	struct nicstamp_arrival way[NICSTAMP_ARRIVAL_WAYS];
	u32 next;			/* to be overwritten */
};

struct nicstamp_arrivals {
	struct nicstamp_arrival_set set[NICSTAMP_ARRIVAL_SETS];
};

static inline struct nicstamp_arrival_set *nicstamp_arrival_set(struct nicstamp_arrivals *all,
								u64 name)
{
	return &all->set[name >> (64 - NICSTAMP_ARRIVAL_SETS_LOG)];
}

static inline struct nicstamp_arrival *nicstamp_arrival_find(struct nicstamp_arrival_set *set,
							     u64 name)
{
	u32 i;

	for (i = 0; i < NICSTAMP_ARRIVAL_WAYS; i++) {
		if (name && set->way[i].name == name)
			return &set->way[i];
	}
	return NULL;
}

/* What came again counts from then on. */
static inline void nicstamp_arrival_enter(struct nicstamp_arrivals *all, u64 name, u64 at_ns,
					  u32 error_ns)
{
	struct nicstamp_arrival_set *set = nicstamp_arrival_set(all, name);
	struct nicstamp_arrival *a = nicstamp_arrival_find(set, name);

	if (!a) {
		a = &set->way[set->next];
		set->next = (set->next + 1) % NICSTAMP_ARRIVAL_WAYS;
	}
	a->name = name;
	a->arrived.at_ns = at_ns;
	a->arrived.error_ns = error_ns;
}

static inline bool nicstamp_arrival_get(struct nicstamp_arrivals *all, u64 name,
					struct nicstamp_arrived *arrived)
{
	const struct nicstamp_arrival *a =
		nicstamp_arrival_find(nicstamp_arrival_set(all, name), name);

	if (!a)
		return false;
	*arrived = a->arrived;
	return true;
}

#endif /* NICSTAMP_ARRIVAL_H */
