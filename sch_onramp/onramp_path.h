/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What flows to a destination learned, for those that come (onramp_path.c).  Model: ONRAMP21.
 */
#ifndef ONRAMP_PATH_H
#define ONRAMP_PATH_H

#include <linux/types.h>

struct onramp_ctl;
struct onramp_key;
struct onramp_net;
struct onramp_path;
struct onramp_path_set;

struct onramp_path_visit {
	struct onramp_path_set *set;
	struct onramp_path *path;	/* NULL: another flow is there; nothing is known */
};

int onramp_path_open(struct onramp_net *on);
void onramp_path_close(struct onramp_net *on);
void onramp_path_visit_begin(struct onramp_path_visit *v, const struct onramp_key *key, u64 now_ns);
void onramp_path_visit_end(const struct onramp_path_visit *v);
bool onramp_path_excess_ns(const struct onramp_path_visit *v, u64 rtt_ns, u64 now_ns,
			   u64 *excess_ns);
bool onramp_path_base_us(const struct onramp_path_visit *v, u64 now_ns, u32 *base_us);
void onramp_path_longer(const struct onramp_path_visit *v, u64 rtt_ns);
u64 onramp_path_drain_ns(const struct onramp_path_visit *v, const struct onramp_ctl *ctl,
			 u64 queue_ns, bool lowered, u64 now_ns);
void onramp_path_learn(const struct onramp_path_visit *v, const struct onramp_ctl *ctl, u64 now_ns);
u64 onramp_path_until_ns(const struct onramp_key *key);
void onramp_path_set_coarse(const struct onramp_key *key, u64 now_ns);
bool onramp_path_is_coarse(const struct onramp_key *key, u64 now_ns);

#endif /* ONRAMP_PATH_H */
