/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicstamp for the author of a NIC driver: hand over the stamps that the hardware
 * takes anyway, and TCP's congestion control gets exact round-trip times.
 * Documentation/nicstamp.rst has an example of twenty lines.
 *
 *   open:         nicstamp_port_add_ptp(&stamps, netdev, ...);  this is my clock
 *   xmit:         if (nicstamp_tx_wanted(&stamps, skb, slot))   is a stamp wanted?
 *                         ask the hardware for one
 *   completion:   nicstamp_tx(&stamps, skb, raw);               sent, with this stamp
 *   receive:      nicstamp_rx(&stamps, skb, raw);               received, with this one
 *   stop:         nicstamp_port_del(&stamps);
 *
 * The driver keeps a "struct nicstamp_port __rcu *stamps", NULL at first, and looks
 * at it through these calls only. While nobody listens each call of the packet paths
 * is a jump that is not taken. They may be made from any context, at any rate, for any
 * packet, before the port is added and after it is gone; with interrupts off (netpoll)
 * they do nothing. A stamp that was wanted need not come.
 */
#ifndef TURNPIKE_NICSTAMP_H
#define TURNPIKE_NICSTAMP_H

#include <linux/jump_label.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct net_device;
struct nicstamp_port;
struct ptp_clock_info;
struct sk_buff;

/* -- ports: each call sleeps --------------------------------------------------- */

/* The clock that the stamps are of. All raw values are of the same counter. */
struct nicstamp_info {
	u64 (*read)(void *driver);	/* the counter now; may sleep */
	void *driver;
	u32 bits;		/* of the counter, 32 to 64 */
	u32 mult;		/* ns = raw * mult >> shift */
	u32 shift;		/* 0 to 32 */
	u32 step_ns;		/* resolution of a stamp, 1 to 1000000 */
	u32 gap_ns;		/* least time from one packet with a stamp to the next; 0: none */
	bool tx_first;		/* a transmit stamp is of a TSO packet's first frame, not its last */
	bool no_tso;		/* TSO packets get no transmit stamp, or one of nobody knows what */
};

/*
 * -EINVAL when @info is not sound, -EEXIST when there is a port, -ENOMEM; @port is then as
 * before. The log has it.
 */
int nicstamp_port_add(struct nicstamp_port __rcu **port, struct net_device *dev,
		      const struct nicstamp_info *info);

/*
 * As above: raw stamps are nanoseconds of the PTP clock @ptp, as the driver makes them
 * for skb_hwtstamps(), in steps of @step_ns. No TSO packets; and, since a kworker has to ask
 * the hardware for each, a packet in 100 us at most.
 */
int nicstamp_port_add_ptp(struct nicstamp_port __rcu **port, struct net_device *dev,
			  struct ptp_clock_info *ptp, u32 step_ns);

/*
 * For hardware that does not stamp all packets: those that pass nicstamp_tx_wanted()
 * and nicstamp_rx_skb() are stamped there, with the host's clock.
 */
int nicstamp_port_add_host(struct nicstamp_port __rcu **port, struct net_device *dev);

/* Nothing if there is none. Waits for all calls with this port that are under way. */
void nicstamp_port_del(struct nicstamp_port __rcu **port);

/* -- packets -------------------------------------------------------------------- */

DECLARE_STATIC_KEY_FALSE(nicstamp_listened);

bool __nicstamp_tx_wanted(struct nicstamp_port __rcu **port, const struct sk_buff *skb,
			  bool slot);
void __nicstamp_tx(struct nicstamp_port __rcu **port, const struct sk_buff *skb, u64 raw);
void __nicstamp_rx(struct nicstamp_port __rcu **port, const struct sk_buff *skb, u64 raw);
void __nicstamp_rx_skb(struct nicstamp_port __rcu **port, struct sk_buff *skb);

/* Does anybody listen? For what a driver has to find out before one of the calls. */
static inline bool nicstamp_active(void)
{
	return static_branch_unlikely(&nicstamp_listened);
}

/*
 * To be asked of each @skb, as ndo_start_xmit() got it, when it is about to be posted;
 * with @slot false when the hardware has no room for a stamp, and then always false.
 * What was wanted is kept in mind until its data are acked.
 */
static inline bool nicstamp_tx_wanted(struct nicstamp_port __rcu **port,
				      const struct sk_buff *skb, bool slot)
{
	return nicstamp_active() && __nicstamp_tx_wanted(port, skb, slot);
}

/* The hardware sent @skb, for which a stamp was wanted. Before @skb is freed. */
static inline void nicstamp_tx(struct nicstamp_port __rcu **port, const struct sk_buff *skb,
			       u64 raw)
{
	if (nicstamp_active())
		__nicstamp_tx(port, skb, raw);
}

/* The hardware received @skb. After eth_type_trans(), before GRO. */
static inline void nicstamp_rx(struct nicstamp_port __rcu **port, const struct sk_buff *skb,
			       u64 raw)
{
	if (nicstamp_active())
		__nicstamp_rx(port, skb, raw);
}

/* As nicstamp_rx(), with what skb_hwtstamps() has, if anything. */
static inline void nicstamp_rx_skb(struct nicstamp_port __rcu **port, struct sk_buff *skb)
{
	if (nicstamp_active())
		__nicstamp_rx_skb(port, skb);
}

#endif /* TURNPIKE_NICSTAMP_H */
