/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner of a connection's socket on this host, for TLT's rules (TLT21) of users or a cgroup.
 * The user is the socket's (as for "ip rule ... uidrange"), by number in the user namespace that
 * the network namespace belongs to.  The cgroup (version 2) is that in which a process made
 * the socket, or its listener.
 */
#ifndef TLT_OWNER_H
#define TLT_OWNER_H

#include <linux/netlink.h>
#include <net/sock.h>

struct tlt_owner {
	u32 uid_low;
	u32 uid_high;
	bool by_uid;
	struct cgroup *cgroup;		/* held; those below belong to it; NULL: any */
	char *path;			/* of the cgroup, as the operator gave it */
};

static inline bool tlt_owner_is_any(const struct tlt_owner *owner)
{
	return !owner->by_uid && !owner->cgroup;
}

bool tlt_owner_matches(const struct tlt_owner *owner, struct sock *sk);
int tlt_owner_find_cgroup(struct tlt_owner *owner, const struct nlattr *path,
			  struct netlink_ext_ack *extack);
void tlt_owner_free(struct tlt_owner *owner);

#endif /* TLT_OWNER_H */
