/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of OR-ACKs (orack_key.c).  Not in ONRAMP21.
 */
#ifndef ORACK_KEY_H
#define ORACK_KEY_H

#include <linux/siphash.h>
#include <linux/types.h>

struct netlink_ext_ack;
struct onramp_net;
struct orack_datagram;
struct orack_packet;

#define ORACK_KEYS_MAX		2

/* Constant once in place; a new one replaces it (RCU). */
struct orack_keys {
	u32 count;			/* at least 1 */
	u32 use;			/* index of the one that signs */
	u8 id[ORACK_KEYS_MAX];
	siphash_key_t key[ORACK_KEYS_MAX];
	struct rcu_head rcu;
};

void orack_key_sign(struct onramp_net *on, struct orack_packet *p);
bool orack_key_verify(struct onramp_net *on, const struct orack_packet *p,
		      const struct orack_datagram *d);
int orack_key_add(struct onramp_net *on, u8 id, const u8 *secret, struct netlink_ext_ack *extack);
int orack_key_use(struct onramp_net *on, u8 id, struct netlink_ext_ack *extack);
int orack_key_del(struct onramp_net *on, u8 id, struct netlink_ext_ack *extack);
void orack_key_drop_all(struct onramp_net *on);

#define ORACK_SECRET_BYTES	16

#endif /* ORACK_KEY_H */
