// SPDX-License-Identifier: GPL-2.0
/*
 * NICs and their clocks (TIMELY15, section 5). While a user of the clocks is registered here, a
 * work item reads each now and then, between two looks at the system's clock. nicstamp_clock.h
 * makes a map of that.
 */
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "nicstamp_port.h"

/* A crystal's rate hardly changes in this time, and a reading costs microseconds. */
#define NICSTAMP_REFRESH	msecs_to_jiffies(100)

/* One reading gives no rate. The second comes as soon as it tells something of the rate, twice
 * NICSTAMP_SPAN_MIN_NS later.
 */
#define NICSTAMP_REFRESH_FIRST	msecs_to_jiffies(20)

/* Readings further apart than this are no series, since the counter may have wrapped. A
 * quarter of the fastest counter's turn is longer.
 */
#define NICSTAMP_PAUSE_NS	NSEC_PER_SEC
#define NICSTAMP_TURN_MIN_NS	(4 * NICSTAMP_PAUSE_NS + 1)

DEFINE_MUTEX(nicstamp_lock);
LIST_HEAD(nicstamp_ports);
static u32 nicstamp_port_numbers;	/* given out; nicstamp_lock */

/* Each flow is a user, and each consumer of times of arrival or of departure. */
static atomic_t nicstamp_clock_users;

static bool nicstamp_port_is_wanted(void)
{
	return atomic_read(&nicstamp_clock_users);
}

/* Each epoch of a clock is a clock of its own. */
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
		stamp->by_nic = !port->host;
		if (!nicstamp_map_to_sys(&port->map, stamp->ns, &stamp->sys_ns,
					 &stamp->error_ns))
			stamp->error_ns = U64_MAX;
	} while (read_seqretry(&port->lock, seq));
}

/* Begins anew, as if the clock had never been read. */
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
	if (nicstamp_port_is_wanted())
		schedule_delayed_work(&port->work, port->map.readings > 1 ? NICSTAMP_REFRESH :
							    NICSTAMP_REFRESH_FIRST);
}

static void nicstamp_port_wake_all(void)
{
	struct nicstamp_port *port;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &nicstamp_ports, list)
		schedule_delayed_work(&port->work, 0);
	rcu_read_unlock();
}

/* Registers a user of the clocks, until the next call. Any context but a hard interrupt. */
void nicstamp_clocks_want(void)
{
	if (atomic_inc_return(&nicstamp_clock_users) == 1)
		nicstamp_port_wake_all();
}

/* Without users the work of each port ends by itself. */
void nicstamp_clocks_unwant(void)
{
	atomic_dec(&nicstamp_clock_users);
}

/* Can nicstamp read a clock with these properties? */
bool nicstamp_info_is_sound(const struct nicstamp_info *info)
{
	u64 mask;

	if (!info->read || info->bits < 32 || info->bits > 64 || !info->mult ||
	    info->shift > 32 || !info->step_ns || info->step_ns > NICSTAMP_STEP_MAX_NS)
		return false;
	mask = info->bits < 64 ? (1ULL << info->bits) - 1 : U64_MAX;
	return tp_mul_shr(mask, info->mult, info->shift) >= NICSTAMP_TURN_MIN_NS;
}

static u64 nicstamp_read_host(void *driver)
{
	return ktime_get_ns();
}

/* The host stamps a packet before any of it leaves. */
const struct nicstamp_info nicstamp_info_host = {
	.read = nicstamp_read_host,
	.bits = 64,
	.mult = 1,
	.step_ns = 1,
	.tx_first = true,
};

/* A port in no table yet. NULL: no memory. */
struct nicstamp_port *nicstamp_port_alloc(struct net_device *dev, const struct nicstamp_info *info,
					  bool host)
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

/* The caller of these four holds nicstamp_lock. */
struct nicstamp_port *nicstamp_port_of(const struct net_device *dev)
{
	struct nicstamp_port *port;

	list_for_each_entry(port, &nicstamp_ports, list) {
		if (port->dev == dev)
			return port;
	}
	return NULL;
}

struct nicstamp_port *nicstamp_port_of_number(u32 number)
{
	struct nicstamp_port *port;

	list_for_each_entry(port, &nicstamp_ports, list) {
		if (port->number == number)
			return port;
	}
	return NULL;
}

void nicstamp_port_enter(struct nicstamp_port *port)
{
	port->number = ++nicstamp_port_numbers;
	list_add_tail_rcu(&port->list, &nicstamp_ports);
	if (nicstamp_port_is_wanted())
		schedule_delayed_work(&port->work, 0);
}

void nicstamp_port_leave(struct nicstamp_port *port)
{
	list_del_rcu(&port->list);
}

/* @port is in no table any more, or NULL. */
void nicstamp_port_free(struct nicstamp_port *port)
{
	if (!port)
		return;
	/* after this no packet has it, and no CPU finds it to wake its work */
	synchronize_rcu();
	cancel_delayed_work_sync(&port->work);
	free_percpu(port->stats);
	kfree(port);
}

/* Says why the generic feed can neither take the device nor give it up. @port: the device's. */
int nicstamp_port_refuse(const struct nicstamp_port *port, int err,
			 struct netlink_ext_ack *extack)
{
	if (!port)
		NL_SET_ERR_MSG(extack, "the device is not used");
	else if (port->generic)
		NL_SET_ERR_MSG(extack, "the device is used already");
	else
		NL_SET_ERR_MSG(extack, "the driver of the device gives stamps by itself");
	return err;
}

/* Ports, flows and consumers are gone by now. */
void nicstamp_port_exit(void)
{
	WARN_ON(nicstamp_port_is_wanted());
}
