// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of OR-ACKs: SipHash-2-4 over addresses and datagram.  Two may live at a time, so that the
 * operator changes the hosts' keys one after the other: add the new one everywhere, use it
 * everywhere, delete the old one everywhere.  Not in ONRAMP21.
 *
 * With any key set, a datagram without a good MAC has no effect.  Readers hold the RCU read lock,
 * writers the RTNL.
 */
#include <crypto/algapi.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "orack_key.h"
#include "orack_xmit.h"
#include "sch_onramp/onramp_net.h"

static u64 orack_key_mac(const siphash_key_t *key, const struct orack_packet *p, u32 bytes)
{
	return siphash(&p->maced, offsetof(typeof(p->maced), data) + bytes, key);
}

/* The packet is complete but for key id and MAC. */
void orack_key_sign(struct onramp_net *on, struct orack_packet *p)
{
	const struct orack_keys *keys = rcu_dereference(on->keys);

	if (!keys)
		return;
	p->maced.data[ORACK_KEY_OFFSET] = keys->id[keys->use];
	orack_put64(p->maced.data + p->bytes,
		    orack_key_mac(&keys->key[keys->use], p, p->bytes));
	p->bytes += ORACK_MAC_BYTES;
}

static int orack_key_index(const struct orack_keys *keys, u8 id)
{
	int i;

	for (i = 0; keys && i < keys->count; i++) {
		if (keys->id[i] == id)
			return i;
	}
	return -1;
}

bool orack_key_verify(struct onramp_net *on, const struct orack_packet *p,
		      const struct orack_datagram *d)
{
	const struct orack_keys *keys = rcu_dereference(on->keys);
	int i = orack_key_index(keys, d->h.key);
	u8 mac[ORACK_MAC_BYTES];

	if (i < 0) {
		/* Without keys the module cannot tell what a MAC is worth, and asks for none. */
		if (!keys && !d->h.key)
			return true;
		orack_count(on, ONRAMP_STAT_REFUSED_KEY);
		return false;
	}
	orack_put64(mac, orack_key_mac(&keys->key[i], p, d->maced_bytes));
	if (!crypto_memneq(mac, d->mac, sizeof(mac)))
		return true;
	orack_count(on, ONRAMP_STAT_REFUSED_MAC);
	return false;
}

/* A copy to change; zeroed if there are no keys. */
static struct orack_keys *orack_key_copy(const struct onramp_net *on)
{
	const struct orack_keys *keys = rtnl_dereference(on->keys);
	struct orack_keys *copy = kzalloc(sizeof(*copy), GFP_KERNEL_ACCOUNT);

	if (copy && keys)
		*copy = *keys;
	return copy;
}

static void orack_key_free(struct rcu_head *head)
{
	kfree_sensitive(container_of(head, struct orack_keys, rcu));
}

static void orack_key_put(struct onramp_net *on, struct orack_keys *keys)
{
	struct orack_keys *before = rtnl_dereference(on->keys);

	rcu_assign_pointer(on->keys, keys);
	if (before)
		call_rcu(&before->rcu, orack_key_free);
}

static int orack_key_find(const struct onramp_net *on, u8 id, struct netlink_ext_ack *extack)
{
	int i = orack_key_index(rtnl_dereference(on->keys), id);

	if (i >= 0)
		return i;
	NL_SET_ERR_MSG(extack, "there is no key of this number");
	return -ENOENT;
}

/* The first one is used at once. */
int orack_key_add(struct onramp_net *on, u8 id, const u8 *secret, struct netlink_ext_ack *extack)
{
	struct orack_keys *keys;

	if (orack_key_index(rtnl_dereference(on->keys), id) >= 0) {
		NL_SET_ERR_MSG(extack, "there is a key of this number: delete it first");
		return -EEXIST;
	}
	keys = orack_key_copy(on);
	if (!keys)
		return -ENOMEM;
	if (keys->count == ORACK_KEYS_MAX) {
		kfree_sensitive(keys);
		NL_SET_ERR_MSG(extack, "two keys are set: delete one first");
		return -ENOSPC;
	}
	keys->id[keys->count] = id;
	/* Little-endian halves, as SipHash's authors have it: the same key on all hosts. */
	keys->key[keys->count].key[0] = get_unaligned_le64(secret);
	keys->key[keys->count].key[1] = get_unaligned_le64(secret + 8);
	keys->count++;
	orack_key_put(on, keys);
	return 0;
}

int orack_key_use(struct onramp_net *on, u8 id, struct netlink_ext_ack *extack)
{
	int i = orack_key_find(on, id, extack);
	struct orack_keys *keys;

	if (i < 0)
		return i;
	keys = orack_key_copy(on);
	if (!keys)
		return -ENOMEM;
	keys->use = i;
	orack_key_put(on, keys);
	return 0;
}

int orack_key_del(struct onramp_net *on, u8 id, struct netlink_ext_ack *extack)
{
	int i = orack_key_find(on, id, extack), other = !i;
	struct orack_keys *keys;

	if (i < 0)
		return i;
	if (rtnl_dereference(on->keys)->count == 1) {
		orack_key_drop_all(on);
		return 0;
	}
	keys = orack_key_copy(on);
	if (!keys)
		return -ENOMEM;
	keys->id[0] = keys->id[other];
	keys->key[0] = keys->key[other];
	memzero_explicit(&keys->key[1], sizeof(keys->key[1]));
	keys->id[1] = 0;
	keys->count = 1;
	keys->use = 0;
	orack_key_put(on, keys);
	return 0;
}

void orack_key_drop_all(struct onramp_net *on)
{
	orack_key_put(on, NULL);
}
