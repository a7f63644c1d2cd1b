/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose a connection is, for rules that name users or a cgroup: its socket's on this
 * host.  The user is that of the socket (as for "ip rule ... uidrange"), by number in the
 * user namespace that the network namespace belongs to.  The cgroup is that in which the
 * socket was made, or its listener; of version 2.
 */
#ifndef TLT_OWNER_H
#define TLT_OWNER_H

#include <linux/netlink.h>
#include <net/sock.h>

struct tlt_owner {
	u32 uid_low;
	u32 uid_high;
	bool by_uid;
	struct cgroup *cgroup;		/* held; NULL: any.  One below it is in it */
	char *path;			/* of the cgroup, as it was set */
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
