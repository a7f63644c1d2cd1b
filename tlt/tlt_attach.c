// SPDX-License-Identifier: GPL-2.0
/*
 * Switches TLT (TLT21) on and off in a namespace: its configuration and its hooks.
 */
#include "tlt_attach.h"
#include "tlt_config.h"
#include "tlt_flow.h"
#include "tlt_hook.h"
#include "tlt_net.h"

unsigned int tlt_net_id;

static void tlt_attach_free_rcu(struct rcu_head *rcu)
{
	tlt_config_free(container_of(rcu, struct tlt_config, rcu));
}

/* @old is not in force any more.  Under the mutex. */
static void tlt_attach_drop(struct tlt_config *old)
{
	if (old)
		call_rcu(&old->rcu, tlt_attach_free_rcu);
}

/* Under the mutex. */
static int tlt_attach_hooks(struct tlt_net *tn)
{
	int err;

	if (tn->hooked)
		return 0;
	err = tlt_hook_add(tn);
	tn->hooked = !err;
	return err;
}

/* @config replaces the one before, at once and as a whole. */
int tlt_attach(struct net *net, struct tlt_config *config)
{
	struct tlt_net *tn = tlt_net(net);
	struct tlt_config *old;
	int err;

	tlt_config_index(config);
	mutex_lock(&tn->mutex);
	err = tlt_attach_hooks(tn);
	if (err)
		goto unlock;
	old = rcu_replace_pointer(tn->config, config, lockdep_is_held(&tn->mutex));
	tlt_attach_drop(old);
	tlt_flow_start_reaper(tn);
unlock:
	mutex_unlock(&tn->mutex);
	return err;
}

void tlt_detach(struct net *net)
{
	struct tlt_net *tn = tlt_net(net);
	struct tlt_config *old;

	mutex_lock(&tn->mutex);
	old = rcu_replace_pointer(tn->config, NULL, lockdep_is_held(&tn->mutex));
	tlt_attach_drop(old);
	if (tn->hooked)
		tlt_hook_remove(tn);
	tn->hooked = false;
	mutex_unlock(&tn->mutex);
}
