// SPDX-License-Identifier: GPL-2.0
/*
 * The way to nicstamp.ko, which may come and go while flows live. Neither module
 * holds the other: nicstamp is found by name, when this module or that one is loaded,
 * and says so itself when it goes.
 *
 *   timely_nic_ops:  NULL --attach--> nicstamp's --detach, grace period--> NULL
 */
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>

#include "timely.h"

static const struct nicstamp_ops __rcu *timely_nic_ops;

/* nicstamp holds its lock around both. */
static void timely_nic_attach(const struct nicstamp_ops *ops)
{
	rcu_assign_pointer(timely_nic_ops, ops);
}

static void timely_nic_detach(void)
{
	RCU_INIT_POINTER(timely_nic_ops, NULL);
	synchronize_rcu();
}

static struct nicstamp_subscriber timely_nic_subscriber = {
	.attach = timely_nic_attach,
	.detach = timely_nic_detach,
	.detached = COMPLETION_INITIALIZER(timely_nic_subscriber.detached),
};

/* It may be anywhere between not loaded and unloading: then there is no symbol. */
static void timely_nic_subscribe(void)
{
	int (*subscribe)(struct nicstamp_subscriber *subscriber);

	subscribe = symbol_get(nicstamp_subscribe);
	if (!subscribe)
		return;
	subscribe(&timely_nic_subscriber);
	symbol_put(nicstamp_subscribe);
}

static int timely_nic_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *module = data;

	if (state == MODULE_STATE_LIVE && !strcmp(module->name, "nicstamp"))
		timely_nic_subscribe();
	return NOTIFY_DONE;
}

static struct notifier_block timely_nic_notifier = {
	.notifier_call = timely_nic_notify,
};

/* RCU read side: what the stamps say of an event, in place of TCP's times. */
void timely_nic_event(struct sock *sk, struct timely_flow *f, const struct timely_config *c,
		      const struct timely_ack *a, struct timely_event *ev)
{
	const struct nicstamp_ops *ops = rcu_dereference(timely_nic_ops);
	bool usable = ev->verdict == TIMELY_ACK_SAMPLE;
	u32 mode = c->host.source;
	struct nicstamp_sample s = { .missed = U32_MAX };

	if (mode == TIMELY_STAMP_TCP)
		return;
	if (ops && ops->sample(sk, a->una, usable ? ev->rtt_ns : 0, &s) &&
	    timely_stamp_is_welcome(mode, &s)) {
		if (usable)
			timely_stamp_use(&f->burst, ev, &s, a);
	} else if (usable && !timely_stamp_leaves_tcp(mode, s.missed)) {
		ev->verdict = TIMELY_DROP_STAMP;
	}
}

void timely_nic_forget(struct sock *sk)
{
	const struct nicstamp_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(timely_nic_ops);
	if (ops)
		ops->forget(sk);
	rcu_read_unlock();
}

int timely_nic_init(void)
{
	int err = register_module_notifier(&timely_nic_notifier);

	if (!err)
		timely_nic_subscribe();
	return err;
}

void timely_nic_exit(void)
{
	void (*unsubscribe)(struct nicstamp_subscriber *subscriber);

	unregister_module_notifier(&timely_nic_notifier);
	unsubscribe = symbol_get(nicstamp_unsubscribe);
	if (unsubscribe) {
		unsubscribe(&timely_nic_subscriber);
		symbol_put(nicstamp_unsubscribe);
	} else if (timely_nic_subscriber.list.next) {
		/* it is being unloaded, or was: its exit has detached us, or will */
		wait_for_completion(&timely_nic_subscriber.detached);
	}
}
