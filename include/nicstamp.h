/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicstamp for the author of a NIC driver: the driver hands over the hardware's stamps, and
 * TCP's congestion control gets exact round-trip times (TIMELY15, section 5).
 * Documentation/nicstamp.rst has an example of twenty lines.
 *
 *   open:         nicstamp_port_add_ptp(&stamps, netdev, ...);  this is my clock
 *   xmit:         if (nicstamp_tx_wanted(&stamps, skb, slot))   is a stamp wanted?
 *                         ask the hardware for one
 *   completion:   nicstamp_tx(&stamps, skb, raw);               sent, with this stamp
 *   receive:      nicstamp_rx(&stamps, skb, raw);               received, with this one
 *   stop:         nicstamp_port_del(&stamps);
 *
 * The driver keeps a "struct nicstamp_port __rcu *stamps", NULL at first, and uses it through
 * these calls only. Each call of the packet paths is a jump not taken while no consumer listens.
 * The driver may make them from any context, for any packet, without a port too. They do
 * nothing with interrupts off (netpoll). A wanted stamp need not come.
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

/* The clock of the stamps. All raw values are of the same counter. */
struct nicstamp_info {
	u64 (*read)(void *driver);	/* the counter now; may sleep */
	void *driver;
	u32 bits;		/* of the counter, 32 to 64 */
	u32 mult;		/* ns = raw * mult >> shift */
	u32 shift;		/* 0 to 32 */
	u32 step_ns;		/* resolution of a stamp, 1 to 1000000 */
	u32 gap_ns;		/* least time from one packet with a stamp to the next; 0: none */
	bool tx_first;		/* a transmit stamp is of a TSO packet's first frame, not its last */
	bool no_tso;		/* TSO packets get no transmit stamp, or one of unknown meaning */
};

/*
 * -EINVAL when @info is not sound, -EEXIST when there is a port, -ENOMEM. The log then has the
 * reason, and @port does not change.
 */
int nicstamp_port_add(struct nicstamp_port __rcu **port, struct net_device *dev,
		      const struct nicstamp_info *info);

/*
 * As above. Raw stamps are nanoseconds of the PTP clock @ptp, as the driver makes them for
 * skb_hwtstamps(), in steps of @step_ns. TSO packets get no stamp. A kworker asks the hardware
 * for each stamp, so at most one packet in 100 us gets one.
 */
int nicstamp_port_add_ptp(struct nicstamp_port __rcu **port, struct net_device *dev,
			  struct ptp_clock_info *ptp, u32 step_ns);

/*
 * For hardware that does not stamp all packets: nicstamp_tx_wanted() and nicstamp_rx_skb()
 * stamp each packet that passes them, with the host's clock.
 */
int nicstamp_port_add_host(struct nicstamp_port __rcu **port, struct net_device *dev);

/* Does nothing without a port. Waits for all calls with this port that are under way. */
void nicstamp_port_del(struct nicstamp_port __rcu **port);

/* -- packets -------------------------------------------------------------------- */

DECLARE_STATIC_KEY_FALSE(nicstamp_listened);

bool __nicstamp_tx_wanted(struct nicstamp_port __rcu **port, const struct sk_buff *skb,
			  bool slot);
void __nicstamp_tx(struct nicstamp_port __rcu **port, const struct sk_buff *skb, u64 raw);
void __nicstamp_rx(struct nicstamp_port __rcu **port, const struct sk_buff *skb, u64 raw);
void __nicstamp_rx_skb(struct nicstamp_port __rcu **port, struct sk_buff *skb);

/* Does a consumer listen? A driver may ask before it prepares one of the calls. */
static inline bool nicstamp_active(void)
{
	return static_branch_unlikely(&nicstamp_listened);
}

/*
 * The driver asks this of each @skb that ndo_start_xmit() got, just before it posts it. @slot
 * is false when the hardware has no room for a stamp; then the answer is false, too.
 * nicstamp remembers a wanted stamp until the data are acked.
 */
static inline bool nicstamp_tx_wanted(struct nicstamp_port __rcu **port,
				      const struct sk_buff *skb, bool slot)
{
	return nicstamp_active() && __nicstamp_tx_wanted(port, skb, slot);
}

/* The hardware sent @skb, for which a stamp was wanted. To be called before @skb is freed. */
static inline void nicstamp_tx(struct nicstamp_port __rcu **port, const struct sk_buff *skb,
			       u64 raw)
{
	if (nicstamp_active())
		__nicstamp_tx(port, skb, raw);
}

/* The hardware received @skb. To be called after eth_type_trans() and before GRO. */
static inline void nicstamp_rx(struct nicstamp_port __rcu **port, const struct sk_buff *skb,
			       u64 raw)
{
	if (nicstamp_active())
		__nicstamp_rx(port, skb, raw);
}

/* As nicstamp_rx(), with the stamp in skb_hwtstamps(), if there is one. */
static inline void nicstamp_rx_skb(struct nicstamp_port __rcu **port, struct sk_buff *skb)
{
	if (nicstamp_active())
		__nicstamp_rx_skb(port, skb);
}

#endif /* TURNPIKE_NICSTAMP_H */
