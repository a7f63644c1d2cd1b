/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which feedback a connection has (onramp_feedback.c).  Model: On-Ramp (ONRAMP21).
 */
#ifndef ONRAMP_FEEDBACK_H
#define ONRAMP_FEEDBACK_H

#include "onramp_source.h"

struct onramp_ctl;
struct onramp_key;
struct onramp_sched;
struct sk_buff;
struct sock;

bool onramp_feedback_wanted(struct onramp_sched *q, const struct sk_buff *skb, u64 now_ns);
enum onramp_source onramp_feedback_ask(struct onramp_sched *q, const struct sock *sk,
				       const struct onramp_key *key, u64 now_ns);
void onramp_feedback_set(struct onramp_ctl *ctl, const struct onramp_sched *q,
			 const struct sock *sk, enum onramp_source source);
void onramp_feedback_adopt(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns);
void onramp_feedback_begin(struct onramp_sched *q, const struct onramp_key *key,
			   enum onramp_source source, u64 now_ns);
void onramp_feedback_sent(struct onramp_sched *q, const struct onramp_ctl *ctl,
			  const struct sk_buff *skb, u64 now_ns);

#endif /* ONRAMP_FEEDBACK_H */
