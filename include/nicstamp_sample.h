/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicstamp for who wants its samples, or times of arrival or departure. A consumer does not link
 * against nicstamp.ko, so that each loads and unloads without the other: it finds
 * nicstamp_subscribe() by symbol_get() (nicstamp_find.h does), and is told when nicstamp
 * goes away.
 */
#ifndef TURNPIKE_NICSTAMP_SAMPLE_H
#define TURNPIKE_NICSTAMP_SAMPLE_H

#ifdef __KERNEL__
#include <linux/completion.h>
#include <linux/in6.h>
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
	bool host;		/* the clock is the host's: stamps are the driver's, not the NIC's, */
	bool ack_by_nic;	/* but the ACK's, brought to the host's clock; its error is in error_ns */
};

/* When the NIC had data that the host now looks at. */
struct nicstamp_arrived {
	u64 at_ns;		/* CLOCK_MONOTONIC, by the map from the NIC's clock */
	u32 error_ns;		/* it is no further off, while neither clock stepped */
};

/* When data left the NIC. */
struct nicstamp_departed {
	u64 at_ns;		/* CLOCK_MONOTONIC, by the map from the NIC's clock */
	u32 error_ns;		/* it is no further off, while neither clock stepped */
	u32 tx_seq;		/* the stamp is that of the last byte before this */
};

#ifdef __KERNEL__

/* A connection as the host that gets the data has it; IPv4 addresses are mapped ones.
 * No padding: it is hashed as it is.
 */
struct nicstamp_tuple {
	struct in6_addr local;
	struct in6_addr remote;
	__be16 local_port;
	__be16 remote_port;
};

struct nicstamp_ops {
	/*
	 * TCP has taken the ACK of all before @una, and makes of it @tcp_rtt_ns (0: nothing,
	 * kept for those who compare). True and a sample if the stamps tell one. A socket
	 * is followed from the first request on. The socket is locked.
	 */
	bool (*sample)(struct sock *sk, u32 una, u64 tcp_rtt_ns, struct nicstamp_sample *s);
	/* Its samples are not wanted any more; of any socket, followed or not. */
	void (*forget)(struct sock *sk);
	/*
	 * The frame of @tuple's that ended at @end_seq, if it came lately, to this processor, by
	 * a NIC whose own stamps and clock are known. Bottom halves are off.
	 */
	bool (*arrival)(const struct nicstamp_tuple *tuple, u32 end_seq,
			struct nicstamp_arrived *arrived);
};

/*
 * For who wants to know when data left, by a NIC's own stamps and a clock that is known: the
 * consumer says which data, and keeps the times. Both are called under RCU, with interrupts
 * on, from a driver's packet paths.
 */
struct nicstamp_departures {
	/* Data of the TCP socket @sk that end before @end_seq go to a NIC: are they to be stamped? */
	bool (*wanted)(const struct sock *sk, u32 end_seq);
	/* They left. False when they are nobody's any more. */
	bool (*left)(const struct sock *sk, u32 end_seq, const struct nicstamp_departed *departed);
};

struct nicstamp_subscriber {
	/* Both are called once, in turn; detach() returns when no CPU uses the ops any more. */
	void (*attach)(const struct nicstamp_ops *ops);
	void (*detach)(void);
	/* COMPLETION_INITIALIZER(); it outlives nicstamp, whose lock class must not be in it */
	struct completion detached;
	/*
	 * NULL, or not 0 while times of arrival are to be kept. While it is subscribed clocks
	 * are read, so that they are known when this begins. One subscriber has it: to another
	 * there are no arrivals.
	 */
	const atomic_t *arrivals;
	/* NULL, or what departures are wanted. One subscriber has it, and clocks are read for it. */
	const struct nicstamp_departures *departures;
	/* nicstamp's own */
	struct list_head list;
	bool attached;
};

/* -EALREADY if attached. */
int nicstamp_subscribe(struct nicstamp_subscriber *subscriber);
void nicstamp_unsubscribe(struct nicstamp_subscriber *subscriber);

#endif /* __KERNEL__ */

#endif /* TURNPIKE_NICSTAMP_SAMPLE_H */
