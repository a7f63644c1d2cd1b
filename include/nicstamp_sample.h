/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicstamp for who wants its samples. A consumer does not link against nicstamp.ko,
 * so that each loads and unloads without the other: it finds nicstamp_subscribe() by
 * symbol_get(), and is told when nicstamp goes away.
 */
#ifndef TURNPIKE_NICSTAMP_SAMPLE_H
#define TURNPIKE_NICSTAMP_SAMPLE_H

#ifdef __KERNEL__
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/types.h>
#endif

struct sock;

/* One round trip by the NIC's clock. */
struct nicstamp_sample {
	u64 rtt_ns;		/* from the transmit stamp to the ACK's */
	u32 error_ns;		/* it is no further off */
	u32 tx_seq;		/* the transmit stamp is that of the last byte before this */
	u32 run_bytes;		/* payload posted at once */
	u32 wait_ns;		/* from posting to the transmit stamp, */
	u32 wait_error_ns;	/* no further off; U32_MAX: not known */
	u32 clock;		/* both stamps are of this one */
	u32 missed;		/* requests since the last sample; U32_MAX: there was none yet */
	bool host;		/* the clock is the host's: stamps are the driver's, not the NIC's */
};

#ifdef __KERNEL__

struct nicstamp_ops {
	/*
	 * TCP has taken the ACK of all before @una, and makes of it @tcp_rtt_ns (0: nothing,
	 * kept for those who compare). True and a sample if the stamps tell one. A socket
	 * is followed from the first request on. The socket is locked.
	 */
	bool (*sample)(struct sock *sk, u32 una, u64 tcp_rtt_ns, struct nicstamp_sample *s);
	/* Its samples are not wanted any more; of any socket, followed or not. */
	void (*forget)(struct sock *sk);
};

struct nicstamp_subscriber {
	/* Both are called once, in turn; detach() returns when no CPU uses the ops any more. */
	void (*attach)(const struct nicstamp_ops *ops);
	void (*detach)(void);
	/* COMPLETION_INITIALIZER(); it outlives nicstamp, whose lock class must not be in it */
	struct completion detached;
	/* nicstamp's own */
	struct list_head list;
	bool attached;
};

/* -EALREADY if attached. */
int nicstamp_subscribe(struct nicstamp_subscriber *subscriber);
void nicstamp_unsubscribe(struct nicstamp_subscriber *subscriber);

#endif /* __KERNEL__ */

#endif /* TURNPIKE_NICSTAMP_SAMPLE_H */
