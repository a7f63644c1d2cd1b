/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicstamp for the author of a NIC driver: hand over the stamps that the hardware
 * takes anyway, and TCP's congestion control gets exact round-trip times.
 * Documentation/nicstamp.rst has an example of twenty lines.
 *
 *   probe:        port = nicstamp_port_add(netdev, &info);     this is my clock
 *   xmit:         if (nicstamp_tx_wanted(port, skb))           is a stamp wanted?
 *                         ask the hardware for one
 *   completion:   nicstamp_tx(port, skb, raw);                 sent, with this stamp
 *   receive:      nicstamp_rx(port, skb, raw);                 received, with this one
 *   remove:       nicstamp_port_del(port);
 *
 * While nobody listens each of the three calls of the packet paths is a jump that is
 * not taken. They may be made from any context but hard interrupts, at any rate, for
 * any packet; @port may be NULL. A stamp that was wanted need not come.
 */
#ifndef TURNPIKE_NICSTAMP_H
#define TURNPIKE_NICSTAMP_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct net_device;
struct nicstamp_port;
struct sk_buff;

/* The clock that the stamps are of. All raw values are of the same counter. */
struct nicstamp_info {
	u64 (*read)(void *driver);	/* the counter now; may sleep */
	void *driver;
	u32 bits;		/* of the counter, 32 to 64 */
	u32 mult;		/* ns = raw * mult >> shift */
	u32 shift;		/* 0 to 32 */
	u32 step_ns;		/* resolution of a stamp, 1 to 1000000 */
	bool tx_first;		/* a transmit stamp is of a TSO packet's first frame, not its last */
};

/* ERR_PTR when @info is not sound, or without memory. Sleeps. */
struct nicstamp_port *nicstamp_port_add(struct net_device *dev, const struct nicstamp_info *info);

/* No call with this port is under way or will be made. Sleeps. */
void nicstamp_port_del(struct nicstamp_port *port);

DECLARE_STATIC_KEY_FALSE(nicstamp_listened);

bool __nicstamp_tx_wanted(struct nicstamp_port *port, const struct sk_buff *skb);
void __nicstamp_tx(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw);
void __nicstamp_rx(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw);

/*
 * To be asked when @skb, as ndo_start_xmit() got it, is about to be posted. Ask last:
 * what was wanted is kept in mind until its data are acked.
 */
static inline bool nicstamp_tx_wanted(struct nicstamp_port *port, const struct sk_buff *skb)
{
	return static_branch_unlikely(&nicstamp_listened) && port &&
	       __nicstamp_tx_wanted(port, skb);
}

/* The hardware sent @skb, for which a stamp was wanted. Before @skb is freed. */
static inline void nicstamp_tx(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw)
{
	if (static_branch_unlikely(&nicstamp_listened) && port)
		__nicstamp_tx(port, skb, raw);
}

/* The hardware received @skb. After eth_type_trans(), before GRO. */
static inline void nicstamp_rx(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw)
{
	if (static_branch_unlikely(&nicstamp_listened) && port)
		__nicstamp_rx(port, skb, raw);
}

#endif /* TURNPIKE_NICSTAMP_H */
