/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicstamp for consumers of its samples (RTTs as TIMELY15 takes them), or of times of arrival or
 * departure. A consumer does not link against nicstamp.ko, so each loads and unloads without the
 * other. It finds nicstamp_subscribe() by symbol_get() (see nicstamp_find.h), and nicstamp tells
 * it when it goes away.
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
	u32 error_ns;		/* bound of its error */
	u32 tx_seq;		/* the transmit stamp is that of the last byte before this */
	u32 run_bytes;		/* payload posted at once */
	u32 wait_ns;		/* from posting to the transmit stamp */
	u32 wait_error_ns;	/* bound of the wait's error; U32_MAX: not known */
	u32 clock;		/* number of the clock of both stamps */
	u32 missed;		/* requests since the last sample; U32_MAX: there was none yet */
	bool host;		/* the host stamped at the driver, by its own clock */
	bool ack_by_nic;	/* but the NIC stamped the ACK: error_ns has the error of its map */
};

/* When the NIC received data that the host now processes. */
struct nicstamp_arrived {
	u64 at_ns;		/* CLOCK_MONOTONIC, by the map from the NIC's clock */
	u32 error_ns;		/* bound of its error, unless one of the clocks stepped */
};

/* When data left the NIC. */
struct nicstamp_departed {
	u64 at_ns;		/* CLOCK_MONOTONIC, by the map from the NIC's clock */
	u32 error_ns;		/* as above; U32_MAX: at_ns is not known */
	u32 tx_seq;		/* the stamp is that of the last byte before this */
};

#ifdef __KERNEL__

/* A connection as the host that receives the packet sees it; IPv4 addresses are mapped.
 * No padding, since its bytes are hashed.
 */
struct nicstamp_tuple {
	struct in6_addr local;
	struct in6_addr remote;
	__be16 local_port;
	__be16 remote_port;
};

struct nicstamp_ops {
	/*
	 * TCP has processed the ACK of all before @una. Its own RTT is @tcp_rtt_ns (0: none), which
	 * nicstamp keeps for comparison. Returns true and a sample if the stamps give one. nicstamp
	 * follows a socket from the first request on. The socket is locked.
	 */
	bool (*sample)(struct sock *sk, u32 una, u64 tcp_rtt_ns, struct nicstamp_sample *s);
	/* The consumer wants no more samples of the socket, which need not be followed. */
	void (*forget)(struct sock *sk);
	/*
	 * When the frame of @tuple came that ended at @end_seq. True if it came lately, to this
	 * CPU, by a NIC whose own stamps and clock are known. Bottom halves are off.
	 */
	bool (*arrival)(const struct nicstamp_tuple *tuple, u32 end_seq,
			struct nicstamp_arrived *arrived);
};

/*
 * For a consumer that wants to know when data left, by a NIC's own stamps and a known clock. It
 * says which data, and keeps the times. Both are called under RCU, with interrupts on, from a
 * driver's packet paths.
 */
struct nicstamp_departures {
	/* Data of the TCP socket @sk that end before @end_seq go to a NIC: stamp them? */
	bool (*wanted)(const struct sock *sk, u32 end_seq);
	/* They left. False when the consumer does not want their time any more. */
	bool (*left)(const struct sock *sk, u32 end_seq, const struct nicstamp_departed *departed);
};

struct nicstamp_subscriber {
	/* Called in turn, attach() first. detach() returns when no CPU uses the ops any more. */
	void (*attach)(const struct nicstamp_ops *ops);
	void (*detach)(void);
	/* COMPLETION_INITIALIZER(): it outlives nicstamp, so it must not have a lock class of it */
	struct completion detached;
	/*
	 * NULL, or a number that is not 0 while nicstamp keeps times of arrival. nicstamp reads the
	 * clocks while the subscription lasts, so that it knows them when that begins. Only one
	 * subscriber gets arrivals.
	 */
	const atomic_t *arrivals;
	/* NULL, or the departures wanted. Only one subscriber gets any; clocks are read for it. */
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
