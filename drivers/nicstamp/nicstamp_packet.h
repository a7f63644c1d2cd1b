/* SPDX-License-Identifier: GPL-2.0 */
/* Stamps of packets (TIMELY15), from drivers and the generic feed (nicstamp_packet.c). */
#ifndef NICSTAMP_PACKET_H
#define NICSTAMP_PACKET_H

#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>

#include "nicstamp_arrive.h"
#include "nicstamp_flow.h"
#include "nicstamp_followed.h"
#include "nicstamp_match.h"
#include "nicstamp_port.h"

/* All of these: RCU read side, and only while nicstamp_may_lock(). */
enum nicstamp_verdict nicstamp_post(struct nicstamp_port *port, const struct sk_buff *skb,
				    bool slot);
bool nicstamp_ask(struct nicstamp_port *port, const struct sk_buff *skb, bool slot);
void nicstamp_sent(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw);
void nicstamp_received(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw);

/*
 * They take locks with bottom halves off. Netpoll sends and completes packets with interrupts
 * off, and may have interrupted a holder of such a lock: its packets get no stamps.
 */
static inline bool nicstamp_may_lock(void)
{
	return !irqs_disabled();
}

/* Does nicstamp use received packets? */
static inline bool nicstamp_rx_matters(void)
{
	return nicstamp_flow_any() || nicstamp_arrive_asked();
}

/* Takes a stamp here and now, by the host's clock. RCU read side. */
static inline void nicstamp_host_tx(struct nicstamp_port *port, const struct sk_buff *skb)
{
	if (nicstamp_may_lock() && nicstamp_post(port, skb, true) == NICSTAMP_OK)
		nicstamp_sent(port, skb, ktime_get_ns());
}

static inline void nicstamp_host_rx(struct nicstamp_port *port, const struct sk_buff *skb)
{
	if (nicstamp_may_lock() && (nicstamp_flow_any() || nicstamp_follow_is_on(port)))
		nicstamp_received(port, skb, ktime_get_ns());
}

#endif /* NICSTAMP_PACKET_H */
