/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What arrives in a namespace, and the life of its state (onramp_hook.c).  Model: ONRAMP21.
 */
#ifndef ONRAMP_HOOK_H
#define ONRAMP_HOOK_H

#include <linux/netfilter.h>
#include <linux/types.h>

struct onramp_net;

/* Netfilter hooks: one for each family. */
#define ONRAMP_HOOKS		(IS_ENABLED(CONFIG_IPV6) ? 2 : 1)

/* In a namespace. */
struct onramp_hook_net {
	unsigned int users;		/* qdiscs that pause; RTNL */
	int open_err;			/* why there is no socket; RTNL */
	struct nf_hook_ops ops[ONRAMP_HOOKS];	/* while there are users; constant then */
};

int onramp_hook_get(struct onramp_net *on);
void onramp_hook_put(struct onramp_net *on);
int onramp_hook_set_port(struct onramp_net *on, u16 port);
int onramp_hook_init(void);
void onramp_hook_exit(void);

#endif /* ONRAMP_HOOK_H */
