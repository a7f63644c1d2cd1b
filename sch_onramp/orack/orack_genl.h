/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink (orack_genl.c), and the messages of its other files.  Model: ONRAMP21.
 */
#ifndef ORACK_GENL_H
#define ORACK_GENL_H

struct genl_family;
struct genl_info;
struct netlink_callback;
struct sk_buff;

int orack_genl_clock_set(struct sk_buff *skb, struct genl_info *info);
int orack_genl_clock_clear(struct sk_buff *skb, struct genl_info *info);
int orack_genl_clock_own(struct sk_buff *skb, struct genl_info *info);
int orack_genl_clocks(const struct genl_family *family, struct sk_buff *msg,
		      struct netlink_callback *cb);
int orack_genl_flows_start(struct netlink_callback *cb);
int orack_genl_flows(const struct genl_family *family, struct sk_buff *msg,
		     struct netlink_callback *cb);
int orack_genl_flows_done(struct netlink_callback *cb);
int orack_genl_init(void);
void orack_genl_exit(void);

#endif /* ORACK_GENL_H */
