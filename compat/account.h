/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that packets make a module take, charged to the control group of the socket whose packets
 * they are.  In a softirq the kernel by itself charges nobody.
 */
#ifndef TURNPIKE_COMPAT_ACCOUNT_H
#define TURNPIKE_COMPAT_ACCOUNT_H

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>

/* Whose memory the socket's counts as; NULL: nobody's.  Only a full socket has one. */
static inline struct mem_cgroup *tp_sk_memcg(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return sk && sk_fullsock(sk) ? sk->sk_memcg : NULL;
#else
	return NULL;
#endif
}

/* @sk: any, or NULL, for these two.  They return NULL where there is no memory. */
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
