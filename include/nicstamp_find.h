/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a consumer finds nicstamp.ko (TIMELY15), which may load and unload while it lives.
 * Neither module holds the other. The consumer finds nicstamp by name, when either of them
 * loads, and nicstamp tells its consumers when it unloads.
 *
 *   consumer:  without --attach--> nicstamp's ops --detach, grace period--> without
 */
#ifndef TURNPIKE_NICSTAMP_FIND_H
#define TURNPIKE_NICSTAMP_FIND_H

#include <linux/module.h>
#include <linux/notifier.h>

#include "nicstamp_sample.h"

struct nicstamp_finder {
	struct nicstamp_subscriber subscriber;
	struct notifier_block notifier;
};

/* While nicstamp is not loaded, loads or unloads, there is no symbol. */
static inline void nicstamp_find(struct nicstamp_finder *finder)
{
	int (*subscribe)(struct nicstamp_subscriber *subscriber);

	subscribe = symbol_get(nicstamp_subscribe);
	if (!subscribe)
		return;
	subscribe(&finder->subscriber);
	symbol_put(nicstamp_subscribe);
}

static inline int nicstamp_find_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *module = data;

	if (state == MODULE_STATE_LIVE && !strcmp(module->name, "nicstamp"))
		nicstamp_find(container_of(nb, struct nicstamp_finder, notifier));
	return NOTIFY_DONE;
}

static inline int nicstamp_find_begin(struct nicstamp_finder *finder)
{
	int err;

	finder->notifier.notifier_call = nicstamp_find_notify;
	err = register_module_notifier(&finder->notifier);
	if (!err)
		nicstamp_find(finder);
	return err;
}

static inline void nicstamp_find_end(struct nicstamp_finder *finder)
{
	void (*unsubscribe)(struct nicstamp_subscriber *subscriber);

	unregister_module_notifier(&finder->notifier);
	unsubscribe = symbol_get(nicstamp_unsubscribe);
	if (unsubscribe) {
		unsubscribe(&finder->subscriber);
		symbol_put(nicstamp_unsubscribe);
	} else if (finder->subscriber.list.next) {
		/* nicstamp unloads, or did: its exit has detached the consumer, or will */
		wait_for_completion(&finder->subscriber.detached);
	}
}

#endif /* TURNPIKE_NICSTAMP_FIND_H */
