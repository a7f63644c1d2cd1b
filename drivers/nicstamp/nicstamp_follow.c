// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of the generic feed whose NICs stamp received frames (TIMELY15). A program keeps that
 * switched on, reads the NIC's clock beside the system's, and reports its readings.
 *
 *   use --> generic port --follow--> followed --socket closed--> generic port --> drop
 *                                     | ^
 *                                     +-+ readings; without them the host's stamps serve
 *
 * nicstamp follows a device for the netlink socket that asked for it, and refuses readings of
 * others. It uses the NIC's stamps no more when that socket closes, however its program ends.
 */
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "nicstamp_followed.h"
#include "nicstamp_port.h"

/* -- the program ------------------------------------------------------------------ */

/* nicstamp_lock. */
static void nicstamp_follow_set(struct nicstamp_port *port, u32 owner, u32 step_ns)
{
	write_seqlock_bh(&port->lock);
	nicstamp_follow_begin(&port->follow, step_ns);
	write_sequnlock_bh(&port->lock);
	WRITE_ONCE(port->owner, owner);
}

/* nicstamp_lock. */
static int nicstamp_follow_enter(struct nicstamp_port *port, u32 owner, u32 step_ns,
				 struct netlink_ext_ack *extack)
{
	if (!port)
		return nicstamp_port_refuse(port, -ENOENT, extack);
	if (!port->generic)
		return nicstamp_port_refuse(port, -EEXIST, extack);
	if (port->owner) {
		NL_SET_ERR_MSG(extack, "the device is followed already");
		return -EBUSY;
	}
	nicstamp_follow_set(port, owner, step_ns);
	return 0;
}

/* RTNL. The program reports its readings for @number. */
int nicstamp_follow_device(struct net_device *dev, u32 owner, u32 step_ns, u32 *number,
			   struct netlink_ext_ack *extack)
{
	struct nicstamp_port *port;
	int err;

	mutex_lock(&nicstamp_lock);
	port = nicstamp_port_of(dev);
	err = nicstamp_follow_enter(port, owner, step_ns, extack);
	if (!err)
		*number = port->number;
	mutex_unlock(&nicstamp_lock);
	return err;
}

static const char * const nicstamp_follow_faults[NICSTAMP_FAULTS] = {
	[NICSTAMP_NO_TIME] = "the NIC's clock cannot say that",
	[NICSTAMP_BACKWARDS] = "the reading ended before it began",
	[NICSTAMP_WIDE] = "the reading took too long",
	[NICSTAMP_AHEAD] = "the reading is of the future",
	[NICSTAMP_OLD] = "the reading is too old",
	[NICSTAMP_EARLIER] = "the reading is older than the last one",
};

static void nicstamp_follow_count(struct nicstamp_port *port, enum nicstamp_reading reading)
{
	nicstamp_port_count(port, STAMPS_STAT_READINGS);
	if (reading == NICSTAMP_READ_POOR)
		nicstamp_port_count(port, STAMPS_STAT_POOR);
	else if (reading == NICSTAMP_READ_STEP)
		nicstamp_port_count(port, STAMPS_STAT_STEPS);
}

/* nicstamp_lock. */
static int nicstamp_follow_take(struct nicstamp_port *port,
				const struct nicstamp_crossing *crossing,
				struct netlink_ext_ack *extack)
{
	enum nicstamp_fault fault = nicstamp_follow_fault(&port->follow, crossing,
							  ktime_get_ns());
	enum nicstamp_reading reading;

	if (fault != NICSTAMP_SOUND) {
		if (extack)
			extack->_msg = nicstamp_follow_faults[fault];
		return -EINVAL;
	}
	write_seqlock_bh(&port->lock);
	reading = nicstamp_follow_read(&port->follow, crossing);
	write_sequnlock_bh(&port->lock);
	nicstamp_follow_count(port, reading);
	return 0;
}

int nicstamp_follow_tell(u32 number, u32 owner, const struct nicstamp_crossing *crossing,
			 struct netlink_ext_ack *extack)
{
	struct nicstamp_port *port;
	int err = -ENOENT;

	mutex_lock(&nicstamp_lock);
	port = nicstamp_port_of_number(number);
	if (port && port->owner == owner)
		err = nicstamp_follow_take(port, crossing, extack);
	else
		NL_SET_ERR_MSG(extack, "the device is not followed for this socket");
	mutex_unlock(&nicstamp_lock);
	return err;
}

/* Only sockets of the first network namespace use the family. */
static int nicstamp_follow_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;
	struct nicstamp_port *port;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    !net_eq(notify->net, &init_net))
		return NOTIFY_DONE;
	mutex_lock(&nicstamp_lock);
	list_for_each_entry(port, &nicstamp_ports, list) {
		if (port->owner && port->owner == notify->portid)
			nicstamp_follow_set(port, 0, 0);
	}
	mutex_unlock(&nicstamp_lock);
	return NOTIFY_DONE;
}

static struct notifier_block nicstamp_follow_notifier = {
	.notifier_call = nicstamp_follow_notify,
};

int __init nicstamp_follow_init(void)
{
	return netlink_register_notifier(&nicstamp_follow_notifier);
}

void nicstamp_follow_exit(void)
{
	netlink_unregister_notifier(&nicstamp_follow_notifier);
}

/* -- packets ----------------------------------------------------------------------- */

/* The stamp that the driver left for sockets, in nanoseconds of the NIC's clock; 0: none. */
static u64 nicstamp_follow_raw(const struct sk_buff *skb)
{
	const struct skb_shared_hwtstamps *stamps = &skb_shinfo(skb)->hwtstamps;

	/* or where the driver will look when asked */
	if (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV)
		return ktime_to_ns(netdev_get_tstamp(skb->dev, stamps, false));
	return ktime_to_ns(stamps->hwtstamp);
}

static void nicstamp_follow_distrust(struct nicstamp_port *port)
{
	write_seqlock_bh(&port->lock);
	nicstamp_follow_doubt(&port->follow);
	write_sequnlock_bh(&port->lock);
	nicstamp_count(STAMPS_STAT_RX_NIC_REFUSED);
}

/* Replaces @stamp, the host's of @now_ns, by the NIC's, if there is one and its time is known. */
void nicstamp_follow_improve(struct nicstamp_port *port, const struct sk_buff *skb, u64 now_ns,
			     struct nicstamp_stamp *stamp)
{
	u64 nic_ns = nicstamp_follow_raw(skb), sys_ns, error_ns;
	enum nicstamp_stamped stamped;
	unsigned int seq;

	if (!nic_ns)
		return;
	do {
		seq = read_seqbegin(&port->lock);
		stamped = nicstamp_follow_stamp(&port->follow, nic_ns, now_ns, &sys_ns, &error_ns);
	} while (read_seqretry(&port->lock, seq));
	if (stamped == NICSTAMP_STAMP_ABSURD)
		nicstamp_follow_distrust(port);
	if (stamped != NICSTAMP_STAMP_KNOWN)
		return;
	/* the port's clock is the system's, except for its zero */
	stamp->ns -= now_ns - sys_ns;
	stamp->sys_ns = sys_ns;
	stamp->error_ns = error_ns;
	stamp->by_nic = true;
	nicstamp_count(STAMPS_STAT_RX_NIC);
}
