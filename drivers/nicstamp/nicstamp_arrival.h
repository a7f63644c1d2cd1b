/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When frames with data came, for a consumer that asks after GRO (NIC stamps of TIMELY15). Pure.
 *
 *   frame --name--> set of 4, the oldest goes --name--> when that frame came
 *
 * GRO makes one packet of many frames. It keeps the first frame's stamp, without the clock of
 * that, and the consumer wants the last one's. So nicstamp enters each frame before GRO, under
 * a name made of its connection and the end of its data; a packet of GRO ends where its last
 * frame does. A name is 64 bits of a keyed hash: two frames do not get the same one.
 */
#ifndef NICSTAMP_ARRIVAL_H
#define NICSTAMP_ARRIVAL_H

#include "include/turnpike_types.h"
#include "include/nicstamp_sample.h"

/* A driver hands over 64 frames at most before the stack looks at them, and GRO may hold some
 * of an earlier poll. With 256 sets of 4 one in 10^5 of these is overwritten too early. The
 * sets of a CPU take 26 KB, of the 32 KB that per-cpu memory gives.
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
	u32 next;			/* the next to overwrite */
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

/* A frame that comes again replaces its first arrival. */
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
