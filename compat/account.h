/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Charges memory that a module takes for packets to the control group of their socket.  The
 * kernel by itself charges no group in a softirq.
 */
#ifndef TURNPIKE_COMPAT_ACCOUNT_H
#define TURNPIKE_COMPAT_ACCOUNT_H

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>

/* The group that pays for the socket's memory; NULL: none.  Only a full socket has one. */
static inline struct mem_cgroup *tp_sk_memcg(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return sk && sk_fullsock(sk) ? sk->sk_memcg : NULL;
#else
	return NULL;
#endif
}

/* These two: @sk is any socket, or NULL.  They return NULL if there is no memory. */
static inline void *tp_sk_cache_alloc(struct kmem_cache *cache, const struct sock *sk)
{
	struct mem_cgroup *former = set_active_memcg(tp_sk_memcg(sk));
	void *object = kmem_cache_alloc(cache, GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	set_active_memcg(former);
	return object;
}

static inline void *tp_sk_zalloc(size_t bytes, const struct sock *sk)
{
	struct mem_cgroup *former = set_active_memcg(tp_sk_memcg(sk));
	void *object = kzalloc(bytes, GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	set_active_memcg(former);
	return object;
}

#endif /* TURNPIKE_COMPAT_ACCOUNT_H */
