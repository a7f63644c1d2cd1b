// SPDX-License-Identifier: GPL-2.0
/*
 * NICs and their clocks. While any flow is followed each clock is read now and then,
 * between two looks at the system's clock; nicstamp_clock.h makes a map of that.
 */
#include <linux/module.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "nicstamp_internal.h"

/* A crystal's rate hardly changes in this time, and a reading costs microseconds. */
#define NICSTAMP_REFRESH	msecs_to_jiffies(100)

/* Readings further apart than this are no series: the counter may have turned. A
 * quarter of the fastest counter's turn is longer.
 */
#define NICSTAMP_PAUSE_NS	NSEC_PER_SEC
#define NICSTAMP_TURN_MIN_NS	(4 * NICSTAMP_PAUSE_NS + 1)

/* Longer steps make stamps useless, and shorter ones are not counted. */
#define NICSTAMP_STEP_MAX_NS	1000000

LIST_HEAD(nicstamp_ports);
static u32 nicstamp_port_numbers;	/* given out; nicstamp_lock */

/* Epochs of one clock are clocks of their own. */
static u32 nicstamp_clock_number(const struct nicstamp_port *port)
{
	return port->number << 8 | (port->map.epoch & 0xff);
}

void nicstamp_port_stamp(struct nicstamp_port *port, u64 raw, struct nicstamp_stamp *stamp)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&port->lock);
		stamp->ns = nicstamp_counter_ns(&port->counter, raw);
		stamp->clock = nicstamp_clock_number(port);
		if (!nicstamp_map_to_sys(&port->map, stamp->ns, &stamp->sys_ns,
					 &stamp->error_ns))
			stamp->error_ns = U64_MAX;
	} while (read_seqretry(&port->lock, seq));
}

/* The clock as if it had never been read. */
static void nicstamp_port_restart(struct nicstamp_port *port, u64 raw)
{
	const struct nicstamp_info *info = &port->info;

	nicstamp_counter_init(&port->counter, info->bits, info->mult, info->shift, raw);
	port->map.readings = 0;
	port->map.epoch++;
}

static void nicstamp_port_read(struct nicstamp_port *port)
{
	u64 before_ns = ktime_get_ns();
	u64 raw = port->info.read(port->info.driver);
	u64 after_ns = ktime_get_ns();
	enum nicstamp_reading reading;

	write_seqlock_bh(&port->lock);
	if (after_ns - port->read_ns > NICSTAMP_PAUSE_NS)
		nicstamp_port_restart(port, raw);
	reading = nicstamp_map_read(&port->map, before_ns,
				    nicstamp_counter_read(&port->counter, raw), after_ns,
				    port->info.step_ns);
	write_sequnlock_bh(&port->lock);
	port->read_ns = after_ns;

	nicstamp_port_count(port, STAMPS_STAT_READINGS);
	if (reading == NICSTAMP_READ_POOR)
		nicstamp_port_count(port, STAMPS_STAT_POOR);
	else if (reading == NICSTAMP_READ_STEP)
		nicstamp_port_count(port, STAMPS_STAT_STEPS);
}

static void nicstamp_port_work(struct work_struct *work)
{
	struct nicstamp_port *port = container_of(to_delayed_work(work), struct nicstamp_port,
						  work);

	nicstamp_port_read(port);
	if (nicstamp_flow_any())
		schedule_delayed_work(&port->work, NICSTAMP_REFRESH);
}

/* The first flow is followed: from here on the clocks are needed. */
void nicstamp_port_wake_all(void)
{
	struct nicstamp_port *port;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &nicstamp_ports, list)
		schedule_delayed_work(&port->work, 0);
	rcu_read_unlock();
}

static bool nicstamp_info_is_sound(const struct nicstamp_info *info)
{
	u64 mask;

	if (!info->read || info->bits < 32 || info->bits > 64 || !info->mult ||
	    info->shift > 32 || !info->step_ns || info->step_ns > NICSTAMP_STEP_MAX_NS)
		return false;
	mask = info->bits < 64 ? (1ULL << info->bits) - 1 : U64_MAX;
	return tp_mul_shr(mask, info->mult, info->shift) >= NICSTAMP_TURN_MIN_NS;
}

static struct nicstamp_port *nicstamp_port_alloc(struct net_device *dev,
						 const struct nicstamp_info *info, bool host)
{
	struct nicstamp_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->stats = alloc_percpu(struct nicstamp_stats);
	if (!port->stats) {
		kfree(port);
		return NULL;
	}
	port->info = *info;
	port->dev = dev;
	port->host = host;
	seqlock_init(&port->lock);
	INIT_DELAYED_WORK(&port->work, nicstamp_port_work);
	nicstamp_counter_init(&port->counter, info->bits, info->mult, info->shift,
			      info->read(info->driver));
	port->read_ns = ktime_get_ns();
	return port;
}

static int nicstamp_port_make(struct nicstamp_port __rcu **portp, struct net_device *dev,
			      const struct nicstamp_info *info, bool host)
{
	struct nicstamp_port *port;

	if (rcu_access_pointer(*portp) || !nicstamp_info_is_sound(info)) {
		netdev_err(dev, "nicstamp: no clock with these properties\n");
		return -EINVAL;
	}
	port = nicstamp_port_alloc(dev, info, host);
	if (!port) {
		netdev_err(dev, "nicstamp: no memory\n");
		return -ENOMEM;
	}
	mutex_lock(&nicstamp_lock);
	port->number = ++nicstamp_port_numbers;
	list_add_tail_rcu(&port->list, &nicstamp_ports);
	mutex_unlock(&nicstamp_lock);
	rcu_assign_pointer(*portp, port);
	if (nicstamp_flow_any())
		schedule_delayed_work(&port->work, 0);
	return 0;
}

int nicstamp_port_add(struct nicstamp_port __rcu **portp, struct net_device *dev,
		      const struct nicstamp_info *info)
{
	return nicstamp_port_make(portp, dev, info, false);
}
EXPORT_SYMBOL_GPL(nicstamp_port_add);

static u64 nicstamp_read_ptp(void *driver)
{
	struct ptp_clock_info *ptp = driver;
	struct timespec64 now = {};

	if (ptp->gettimex64)
		ptp->gettimex64(ptp, &now, NULL);
	else
		ptp->gettime64(ptp, &now);
	return timespec64_to_ns(&now);
}

int nicstamp_port_add_ptp(struct nicstamp_port __rcu **portp, struct net_device *dev,
			  struct ptp_clock_info *ptp, u32 step_ns)
{
	struct nicstamp_info info = {
		.read = nicstamp_read_ptp,
		.driver = ptp,
		.bits = 64,
		.mult = 1,
		.step_ns = step_ns,
		.no_tso = true,
	};

	return nicstamp_port_make(portp, dev, &info, false);
}
EXPORT_SYMBOL_GPL(nicstamp_port_add_ptp);

static u64 nicstamp_read_host(void *driver)
{
	return ktime_get_ns();
}

int nicstamp_port_add_host(struct nicstamp_port __rcu **portp, struct net_device *dev)
{
	/* nothing of a packet has left when it is stamped */
	struct nicstamp_info info = {
		.read = nicstamp_read_host,
		.bits = 64,
		.mult = 1,
		.step_ns = 1,
		.tx_first = true,
	};

	return nicstamp_port_make(portp, dev, &info, true);
}
EXPORT_SYMBOL_GPL(nicstamp_port_add_host);

void nicstamp_port_del(struct nicstamp_port __rcu **portp)
{
	struct nicstamp_port *port = rcu_replace_pointer(*portp, NULL, true);

	if (!port)
		return;
	mutex_lock(&nicstamp_lock);
	list_del_rcu(&port->list);
	mutex_unlock(&nicstamp_lock);
	/* after this no packet has it, and nobody finds it to wake its work */
	synchronize_rcu();
	cancel_delayed_work_sync(&port->work);
	free_percpu(port->stats);
	kfree(port);
}
EXPORT_SYMBOL_GPL(nicstamp_port_del);
