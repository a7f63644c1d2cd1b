// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of a socket, and the cgroups that rules hold.
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

/* In the cgroup namespace of the process that asks. */
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

/* Whom the namespace has no number for is no user that a rule can name. */
static bool tlt_owner_has_uid(const struct tlt_owner *owner, const struct sock *sk)
{
	uid_t uid = from_kuid(sock_net(sk)->user_ns, READ_ONCE(sk->sk_uid));

	return uid >= owner->uid_low && uid <= owner->uid_high;
}

/*
 * A connection that begins has its listener's owner.  What is of no connection has none,
 * though it may come with a socket, of the kernel's: resets, ACKs in TIME_WAIT.
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

/* @owner has it until tlt_owner_free(). */
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

/* Any context but that of an interrupt. */
void tlt_owner_free(struct tlt_owner *owner)
{
	if (owner->cgroup)
		tlt_owner_put_cgroup(owner->cgroup);
	kfree(owner->path);
}
