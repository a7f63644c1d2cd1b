// SPDX-License-Identifier: GPL-2.0
/*
 * What tcp_timely has from this module, while both are loaded: how long packets were held, and the
 * price on which flows agree.  Neither keeps the other loaded.  Model: ONRAMP21, TIMELY15.
 */
#include <linux/module.h>
#include <linux/notifier.h>

#include "include/onramp_hold.h"
#include "include/onramp_price.h"
#include "onramp_ctl.h"
#include "onramp_timely.h"
#include "orack/orack_price_net.h"

static void onramp_timely_offer_hold(onramp_hold_fn hold)
{
	void (*set_hold)(onramp_hold_fn hold) = symbol_get(timely_set_hold);

	if (!set_hold)
		return;
	set_hold(hold);
	symbol_put(timely_set_hold);
}

static void onramp_timely_offer_price(onramp_price_fn price)
{
	void (*set_price)(onramp_price_fn price) = symbol_get(timely_set_price);

	if (!set_price)
		return;
	set_price(price);
	symbol_put(timely_set_price);
}

static void onramp_timely_offer(void)
{
	onramp_timely_offer_hold(onramp_ctl_hold_ns);
	onramp_timely_offer_price(orack_price_gap);
}

static int onramp_timely_module(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct module *module = ptr;

	if (event == MODULE_STATE_LIVE && !strcmp(module->name, "tcp_timely"))
		onramp_timely_offer();
	return NOTIFY_DONE;
}

static struct notifier_block onramp_timely_notifier = {
	.notifier_call = onramp_timely_module,
};

int onramp_timely_init(void)
{
	int err = register_module_notifier(&onramp_timely_notifier);

	if (!err)
		onramp_timely_offer();
	return err;
}

/* No processor runs a function of ours for tcp_timely any more when this returns. */
void onramp_timely_exit(void)
{
	unregister_module_notifier(&onramp_timely_notifier);
	onramp_timely_offer_hold(NULL);
	onramp_timely_offer_price(NULL);
}
