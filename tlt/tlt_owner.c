// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of a socket, and the cgroups that TLT's rules (TLT21) hold.
 */
#include <linux/cgroup.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/request_sock.h>
#include <net/tcp.h>

#include "tlt_owner.h"

#ifdef CONFIG_SOCK_CGROUP_DATA
static bool tlt_owner_is_in_cgroup(struct cgroup *cgroup, struct sock *sk)
{
	return cgroup_is_descendant(sock_cgroup_ptr(&sk->sk_cgrp_data), cgroup);
}

/* Looks in the cgroup namespace of the process that asks. */
static struct cgroup *tlt_owner_get_cgroup(const char *path, struct netlink_ext_ack *extack)
{
	struct cgroup *cgroup = cgroup_get_from_path(path);

	if (IS_ERR(cgroup))
		NL_SET_ERR_MSG(extack, "no such cgroup (of version 2)");
	return cgroup;
}

static void tlt_owner_put_cgroup(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}
#else
static bool tlt_owner_is_in_cgroup(struct cgroup *cgroup, struct sock *sk)
{
	return false;
}

static struct cgroup *tlt_owner_get_cgroup(const char *path, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "in this kernel sockets have no cgroup (SOCK_CGROUP_DATA)");
	return ERR_PTR(-EOPNOTSUPP);
}

static void tlt_owner_put_cgroup(struct cgroup *cgroup)
{
}
#endif

/* No rule can name a user for whom the namespace has no number. */
static bool tlt_owner_has_uid(const struct tlt_owner *owner, const struct sock *sk)
{
	uid_t uid = from_kuid(sock_net(sk)->user_ns, READ_ONCE(sk->sk_uid));

	return uid >= owner->uid_low && uid <= owner->uid_high;
}

/*
 * A connection that begins has its listener's owner.  Resets and ACKs in TIME_WAIT are of no
 * connection and have none, although they may come with a socket of the kernel's.
 */
bool tlt_owner_matches(const struct tlt_owner *owner, struct sock *sk)
{
	if (tlt_owner_is_any(owner))
		return true;
	sk = sk_to_full_sk(sk);
	if (!sk || !sk_fullsock(sk) || !sk_is_tcp(sk))
		return false;
	return (!owner->by_uid || tlt_owner_has_uid(owner, sk)) &&
	       (!owner->cgroup || tlt_owner_is_in_cgroup(owner->cgroup, sk));
}

/* @owner holds the cgroup until tlt_owner_free(). */
int tlt_owner_find_cgroup(struct tlt_owner *owner, const struct nlattr *path,
			  struct netlink_ext_ack *extack)
{
	struct cgroup *cgroup;

	if (*(const char *)nla_data(path) != '/') {
		NL_SET_ERR_MSG_ATTR(extack, path, "the path of a cgroup begins with /");
		return -EINVAL;
	}
	cgroup = tlt_owner_get_cgroup(nla_data(path), extack);
	if (IS_ERR(cgroup)) {
		NL_SET_BAD_ATTR(extack, path);
		return PTR_ERR(cgroup);
	}
	owner->cgroup = cgroup;
	owner->path = nla_strdup(path, GFP_KERNEL_ACCOUNT);
	return owner->path ? 0 : -ENOMEM;
}

/* From any context, except an interrupt. */
void tlt_owner_free(struct tlt_owner *owner)
{
	if (owner->cgroup)
		tlt_owner_put_cgroup(owner->cgroup);
	kfree(owner->path);
}
