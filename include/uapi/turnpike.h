/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What Turnpike's modules and user space say to each other.  The models are On-Ramp (ONRAMP21),
 * TLT (TLT21) and the NIC timestamps of TIMELY (TIMELY15).
 *
 * A number is never reused and never changes its meaning.  Structures grow at their end only.
 * A reader takes the part of a structure that its length covers; a missing field reads as zero.
 */
#ifndef _UAPI_TURNPIKE_H
#define _UAPI_TURNPIKE_H

#include <linux/types.h>

/* -- the queueing discipline "onramp" -------------------------------------- */

/* Attributes within TCA_OPTIONS.  A time is u32 microseconds unless its comment says otherwise,
 * a rate is u64 bytes per second.  LIMIT to WEIGHTS mean what they mean for fq.
 */
enum {
	TCA_ONRAMP_UNSPEC,
	TCA_ONRAMP_VERSION,		/* u32, ONRAMP_ABI_VERSION; in answers only */

	TCA_ONRAMP_LIMIT,		/* u32 packets, of each band */
	TCA_ONRAMP_FLOW_LIMIT,		/* u32 packets */
	TCA_ONRAMP_QUANTUM,		/* u32 bytes */
	TCA_ONRAMP_INITIAL_QUANTUM,	/* u32 bytes */
	TCA_ONRAMP_PACING,		/* u8 */
	TCA_ONRAMP_MAXRATE,		/* u64; all ones: none */
	TCA_ONRAMP_BUCKETS_LOG,		/* u32 */
	TCA_ONRAMP_REFILL_DELAY,	/* time */
	TCA_ONRAMP_ORPHAN_MASK,		/* u32 */
	TCA_ONRAMP_LOW_RATE,		/* u64 */
	TCA_ONRAMP_CE_THRESHOLD,	/* time; all ones: none */
	TCA_ONRAMP_TIMER_SLACK,		/* u32 nanoseconds */
	TCA_ONRAMP_HORIZON,		/* time */
	TCA_ONRAMP_HORIZON_DROP,	/* u8 */
	TCA_ONRAMP_PRIOMAP,		/* u8[16]; only if the kernel's fq has bands */
	TCA_ONRAMP_WEIGHTS,		/* s32[3]; only if the kernel's fq has bands */

	TCA_ONRAMP_PAUSE,		/* u8: 0: hold no packet */
	TCA_ONRAMP_MODE,		/* u8, ONRAMP_UAPI_STRAWMAN, _FINAL or _PAPER */
	TCA_ONRAMP_THRESHOLD,		/* u32 nanoseconds */
	TCA_ONRAMP_GAIN_SHIFT,		/* u8: the gain is 2 to the power of minus this */
	TCA_ONRAMP_PAUSE_MAX,		/* time */
	TCA_ONRAMP_FEEDBACK,		/* u8, ONRAMP_FEEDBACK_ */
	TCA_ONRAMP_FEEDBACK_TIMEOUT,	/* time */
	TCA_ONRAMP_GOVERNOR,		/* u8: keep bursts small */
	TCA_ONRAMP_GATE,		/* u8, ONRAMP_GATE_ */
	TCA_ONRAMP_LINE_RATE,		/* u64; 0: ask the device */
	TCA_ONRAMP_PAD,
	TCA_ONRAMP_OFFLOAD_HORIZON,	/* time; only if the kernel's devices can pace */
	__TCA_ONRAMP_MAX
};

#define TCA_ONRAMP_MAX		(__TCA_ONRAMP_MAX - 1)

#define ONRAMP_ABI_VERSION	1

enum {
	ONRAMP_UAPI_STRAWMAN,		/* On-Ramp's eq. 2 */
	ONRAMP_UAPI_FINAL,		/* the default: eq. 3, and another part of P in eq. 4 */
	ONRAMP_UAPI_PAPER,		/* On-Ramp's eq. 3 and eq. 4 */
};

enum {
	ONRAMP_FEEDBACK_AUTO,		/* the best that a peer offers */
	ONRAMP_FEEDBACK_TCPTS,		/* microsecond TCP timestamps */
	ONRAMP_FEEDBACK_ORACK,		/* receipts by the receiver */
};

enum {
	ONRAMP_GATE_AUTO,		/* on if the driver has no byte queue limits */
	ONRAMP_GATE_ON,
	ONRAMP_GATE_OFF,
};

#define ONRAMP_UAPI_BANDS	3

/* Statistics (TCA_STATS_APP). Counters only grow. */
struct tc_onramp_stats {
	__u32 version;			/* ONRAMP_ABI_VERSION */
	__u32 bands;			/* entries of the arrays below that are in use */

	/* as fq has them */
	__u64 gc_flows;
	__u64 highprio_packets;
	__u64 fastpath_packets;
	__u64 throttled;
	__u64 flows_plimit;
	__u64 pkts_too_long;
	__u64 allocation_errors;
	__s64 time_next_delayed_ns;	/* from now until the next flow may send again */
	__u64 ce_mark;
	__u64 horizon_drops;
	__u64 horizon_caps;
	__u64 band_drops[ONRAMP_UAPI_BANDS];
	__u32 band_packets[ONRAMP_UAPI_BANDS];
	__u32 flows;
	__u32 inactive_flows;
	__u32 throttled_flows;
	__u32 unthrottle_latency_ns;
	__u32 controlled_flows;		/* flows that feedback may pause */

	/* On-Ramp's own */
	__u64 samples;			/* delays accepted */
	__u64 pauses;			/* samples that asked for a pause */
	__u64 pauses_capped;		/* pauses cut by pause_max */
	__u64 pauses_recalled;		/* pauses of new flows, from the path's memory */
	__u64 held_packets;		/* packets that a pause kept from leaving */
	__u64 held_ns;			/* sum of the times that pauses kept packets */
	__u64 timeouts;			/* pauses that ended because feedback stopped */
	__u64 ignored_unknown;		/* feedback on packets that are unknown or sent twice */
	__u64 ignored_late;		/* ACKs that the receiver had delayed */
	__u64 bypassed;			/* packets without data that overtook held data */
	__u64 burst_cuts;		/* times the governor made a flow's bursts smaller */
	__u64 gated;			/* times the line-rate gate was shut */
	__u64 base_steps;		/* times that a base delay stepped */
	__u64 line_rate;		/* bytes per second; 0: not known */
	__u64 delay_p50_ns;		/* queueing delay, by samples */
	__u64 delay_p99_ns;
	__u32 gate_active;
	__u32 bql;			/* 0: not known yet, 1: the driver has it, 2: it has not */
	__u32 controlled_tcpts;		/* controlled flows with feedback by TCP timestamps */
	__u32 controlled_orack;		/* controlled flows with feedback by receipts */
	__u64 samples_orack;		/* samples from receipts */
	__u64 drains;			/* pauses that let a receiver's queue empty */
	__u64 coarse;			/* connections whose peer's timestamps do not count us */
	__u64 samples_wire;		/* samples that count from when data left the NIC */
	__u64 ignored_unstamped;	/* feedback on packets whose time at the NIC is missing */
	__u64 samples_noisy;		/* samples of flows judged by the least delay of a wave */
};

/* -- OR-ACKs ----------------------------------------------------------------- */

#define ONRAMP_GENL_NAME	"turnpike_onramp"
#define ONRAMP_GENL_VERSION	1

/* Commands act on the network namespace of the socket that sends them.  All but ONRAMP_CMD_GET
 * and ONRAMP_CMD_STATS need CAP_NET_ADMIN in it.
 */
enum {
	ONRAMP_CMD_UNSPEC,
	ONRAMP_CMD_GET,		/* ONRAMP_A_PORT, _ACTIVE, _KEY_ID, _CLOCK_ERROR and _ASK */
	ONRAMP_CMD_SET,		/* ONRAMP_A_PORT, _ASK, or both */
	ONRAMP_CMD_KEY_ADD,	/* ONRAMP_A_KEY_ID and _KEY: accepted from now on */
	ONRAMP_CMD_KEY_USE,	/* ONRAMP_A_KEY_ID: signs from now on; the first key does at once */
	ONRAMP_CMD_KEY_DEL,	/* ONRAMP_A_KEY_ID */
	ONRAMP_CMD_STATS,	/* ONRAMP_A_STATS */
	ONRAMP_CMD_PEERS,	/* dump: one ONRAMP_A_PEER per message */
	ONRAMP_CMD_CLOCK_SET,	/* ONRAMP_A_CLOCK_PEER, _OFFSET, _ERROR, _SECONDS, may have _DRIFT */
	ONRAMP_CMD_CLOCK_CLEAR,	/* ONRAMP_A_CLOCK_PEER */
	ONRAMP_CMD_CLOCK_OWN,	/* ONRAMP_A_CLOCK_ERROR, _SECONDS if that ends: this host's clock */
	ONRAMP_CMD_CLOCKS,	/* dump: what _CLOCK_SET said, one peer per message */
	ONRAMP_CMD_FLOWS,	/* dump: one ONRAMP_A_FLOW per message; ONRAMP_A_REMOTE limits it */
	__ONRAMP_CMD_MAX,
};

#define ONRAMP_CMD_MAX (__ONRAMP_CMD_MAX - 1)

enum {
	ONRAMP_A_UNSPEC,
	ONRAMP_A_PAD,
	ONRAMP_A_PORT,		/* u16, host order */
	ONRAMP_A_ACTIVE,	/* u8: a qdisc pauses flows and the port is open */
	ONRAMP_A_KEY_ID,	/* u8, not 0; in answers u8[], that of the signing key first */
	ONRAMP_A_KEY,		/* u8[16]; never in answers */
	ONRAMP_A_STATS,		/* nest of u64, each of type enum onramp_stat + 1 */
	ONRAMP_A_PEER,		/* nest of ONRAMP_PEER_ */
	ONRAMP_A_CLOCK_PEER,	/* 16 bytes, IPv4 is mapped: a peer's address */
	ONRAMP_A_CLOCK_OFFSET,	/* s64, ns: the peer's CLOCK_REALTIME less this host's, now */
	ONRAMP_A_CLOCK_ERROR,	/* u32, ns, 10^6 at most: bound of the clock's error; 0: unknown */
	ONRAMP_A_CLOCK_SECONDS,	/* u32: how long the setting counts; in answers the time left */
	ONRAMP_A_FLOW,		/* nest of ONRAMP_FLOW_ */
	ONRAMP_A_REMOTE,	/* 16 bytes, IPv4 is mapped */
	ONRAMP_A_ASK,		/* struct onramp_ask[], 16 at most: peers to ask; empty: all */
	ONRAMP_A_CLOCK_DRIFT,	/* s32, 10^-12: how much of the time that passes the offset grows */
	__ONRAMP_A_MAX,
};

/* A prefix of addresses. */
struct onramp_ask {
	__u8 address[16];	/* IPv4 is mapped */
	__u8 bits;		/* 128 at most; 96 at least for IPv4 */
};

#define ONRAMP_ASKS_MAX		16

#define ONRAMP_CLOCK_OFFSET_MAX_NS	1000000000000000000LL	/* 31 years */
#define ONRAMP_CLOCK_SECONDS_MAX	86400
#define ONRAMP_CLOCK_DRIFT_MAX_PPT	1000000000

#define ONRAMP_A_MAX (__ONRAMP_A_MAX - 1)

#define ONRAMP_UAPI_PORT	61004	/* until the operator sets another */

enum {
	ONRAMP_PEER_UNSPEC,
	ONRAMP_PEER_PAD,
	ONRAMP_PEER_LOCAL,	/* 16 bytes, IPv4 is mapped */
	ONRAMP_PEER_REMOTE,
	ONRAMP_PEER_ACKS,	/* u8: the peer sends receipts to this host */
	ONRAMP_PEER_HEARS,	/* u8: the peer wants receipts from this host */
	ONRAMP_PEER_GRADE,	/* u8: 0 none, 1 (a), 2 (b), 3 (c) */
	ONRAMP_PEER_CLOCK,	/* u32: identity of the peer's clock */
	ONRAMP_PEER_DRIFT,	/* s32: of the peer's clock against this host's, ppb */
	ONRAMP_PEER_STEPS,	/* u32: times that the peer's clock stepped */
	ONRAMP_PEER_RECEIPTS,	/* u64: datagrams */
	ONRAMP_PEER_SAMPLES,	/* u64: delays accepted */
	ONRAMP_PEER_REFUSED,	/* u64: entries and datagrams refused */
	ONRAMP_PEER_ERROR,	/* u32: bound of ONRAMP_PEER_OWD's error, ns; if grade (a) or (b) */
	ONRAMP_PEER_OWD,	/* s64: one-way delay of the newest packet, ns; if (a) or (b) */
	ONRAMP_PEER_ABSURD,	/* u32: samples that the bound of the clocks' error rules out */
	ONRAMP_PEER_NIC,	/* u8: its receipts have its NIC's times; only after receipts */
	ONRAMP_PEER_NIC_OURS,	/* u8: receipts to it have local NIC times; if it wants any */
	ONRAMP_PEER_BASE_OWD,	/* s64: one-way delay of the empty path, ns; as ONRAMP_PEER_OWD */
	/* Delays of the recent past; missing without samples. */
	ONRAMP_PEER_DELAY_KIND,	/* u8: 0 queueing delay, 1 one-way delay */
	ONRAMP_PEER_DELAY_P50,	/* u64, ns */
	ONRAMP_PEER_DELAY_P90,
	ONRAMP_PEER_DELAY_P99,
	ONRAMP_PEER_FEW,	/* u8: its receipts are sparse; only after receipts */
	ONRAMP_PEER_FEW_OURS,	/* u8: sparse receipts are enough for the peer; if it wants any */
	__ONRAMP_PEER_MAX,
};

#define ONRAMP_PEER_MAX (__ONRAMP_PEER_MAX - 1)

/*
 * A flow that feedback may pause.  A dump begins anew (NLM_F_DUMP_INTR) when the table of flows
 * changes its size meanwhile.  Entries with the same addresses and ports are the same flow.
 */
enum {
	ONRAMP_FLOW_UNSPEC,
	ONRAMP_FLOW_PAD,
	ONRAMP_FLOW_LOCAL,	/* 16 bytes, IPv4 is mapped */
	ONRAMP_FLOW_REMOTE,
	ONRAMP_FLOW_LOCAL_PORT,	/* u16, host order */
	ONRAMP_FLOW_REMOTE_PORT,
	ONRAMP_FLOW_IFINDEX,	/* u32: device of the qdisc that sent last; missing if it is gone */
	ONRAMP_FLOW_HANDLE,	/* u32: that qdisc's handle; missing likewise */
	ONRAMP_FLOW_PARENT,	/* u32: that qdisc's parent; missing likewise */
	ONRAMP_FLOW_SOURCE,	/* u8: source of feedback; 0 none, 1 TCP timestamps, 2 receipts */
	ONRAMP_FLOW_COARSE,	/* u8: the peer's timestamps do not count microseconds */
	ONRAMP_FLOW_GRADE,	/* u8: as ONRAMP_PEER_GRADE; by receipts only */
	ONRAMP_FLOW_BASE_OWD,	/* s64: as ONRAMP_PEER_BASE_OWD */
	ONRAMP_FLOW_LEFT,	/* u64, ns: time left of the pause; 0: the flow is not paused */
	ONRAMP_FLOW_PAUSES,	/* u64: samples that asked for a pause */
	ONRAMP_FLOW_PAUSED,	/* u64, ns: time that the flow was paused */
	ONRAMP_FLOW_HELD,	/* u64: packets that a pause kept from leaving */
	ONRAMP_FLOW_HELD_TIME,	/* u64, ns: sum of the times that pauses kept packets */
	ONRAMP_FLOW_QUEUED,	/* u32: packets in the qdisc now; this and _RATE missing likewise */
	ONRAMP_FLOW_BETA,	/* u32, millionths: beta of On-Ramp's eq. 3 */
	ONRAMP_FLOW_SAMPLES,	/* u64: delays accepted; without any, the next five are missing */
	ONRAMP_FLOW_AGE,	/* u64, ns: since the newest sample */
	ONRAMP_FLOW_DELAY,	/* u64, ns: queueing delay that last counted */
	ONRAMP_FLOW_DELAY_P50,	/* u64, ns: queueing delays of the recent past */
	ONRAMP_FLOW_DELAY_P90,
	ONRAMP_FLOW_DELAY_P99,
	ONRAMP_FLOW_RATE,	/* u64, bytes per second, after a pause; 0: congestion control's */
	ONRAMP_FLOW_BURST,	/* u32, bytes: the governor's limit of a burst; 0: none */
	ONRAMP_FLOW_NOISY,	/* u8: hosts delay its samples, so the least of a wave counts */
	__ONRAMP_FLOW_MAX,
};

#define ONRAMP_FLOW_MAX (__ONRAMP_FLOW_MAX - 1)

/* Counters of a network namespace; they only grow. */
enum onramp_stat {
	ONRAMP_STAT_RECEIPTS_SENT,	/* datagrams */
	ONRAMP_STAT_RECEIPTS_FLOWS,	/* entries in them */
	ONRAMP_STAT_RECEIPTS_BYTES,	/* bytes of these datagrams, with IP and UDP headers */
	ONRAMP_STAT_RECEIPTS_DATA,	/* bytes of TCP data that receipts could report */
	ONRAMP_STAT_RECEIPTS_SPARED,	/* batches with too little data for a receipt */
	ONRAMP_STAT_ANNOUNCED,		/* announcements sent */
	ONRAMP_STAT_SEND_FAILED,	/* no route, no memory */
	ONRAMP_STAT_RECEIPTS_TAKEN,	/* datagrams that were not refused as a whole */
	ONRAMP_STAT_SAMPLES,		/* entries accepted */
	ONRAMP_STAT_ANNOUNCEMENTS_TAKEN,
	/* Documentation/onramp-wire.rst gives the reason of each refusal */
	ONRAMP_STAT_REFUSED_LENGTH,
	ONRAMP_STAT_REFUSED_VERSION,
	ONRAMP_STAT_REFUSED_KIND,
	ONRAMP_STAT_REFUSED_COUNT,
	ONRAMP_STAT_REFUSED_VALUE,
	ONRAMP_STAT_REFUSED_KEY,
	ONRAMP_STAT_REFUSED_MAC,
	ONRAMP_STAT_REFUSED_REPLAY,
	ONRAMP_STAT_REFUSED_PEER,
	ONRAMP_STAT_REFUSED_RATE,
	ONRAMP_STAT_REFUSED_FLOW,
	ONRAMP_STAT_REFUSED_SEQUENCE,
	ONRAMP_STAT_REFUSED_AMBIGUOUS,
	ONRAMP_STAT_REFUSED_TIME,
	ONRAMP_STAT_REFUSED_FULL,
	ONRAMP_STAT_CLOCKS_SENT,	/* clock reports to peers */
	ONRAMP_STAT_CLOCKS_TAKEN,	/* clock reports of peers */
	ONRAMP_STAT_SAMPLES_ABSOLUTE,	/* samples by grades (a) and (b) */
	ONRAMP_STAT_RECEIPTS_NIC,	/* datagrams sent with times of this host's NIC */
	ONRAMP_STAT_RECEIPTS_UNSTAMPED,	/* data left out of these, as the NIC's time is missing */
	ONRAMP_STAT_SAMPLES_NIC,	/* samples by times of the peer's NIC */
	ONRAMP_STAT_REFUSED_UNSTAMPED,	/* this host's NIC gave no time of departure */
	ONRAMP_STAT_REFUSED_PORT,	/* datagrams from another UDP port */
	ONRAMP_STAT_PRICES_SENT,	/* price reports, and answers to them */
	ONRAMP_STAT_PRICES_TAKEN,	/* price reports of peers */
	ONRAMP_STAT_PRICES_ANSWERED,	/* answers to our reports */
	ONRAMP_STAT_SAMPLES_UNUSED,	/* entries for flows that go by timestamps */
	ONRAMP_STATS,
};

/* -- TLT ------------------------------------------------------------------- */

#define TLT_GENL_NAME		"turnpike_tlt"
#define TLT_GENL_VERSION	1

/*
 * Commands act on the network namespace of the socket that sends them.
 * TLT_CMD_SET and TLT_CMD_OFF need CAP_NET_ADMIN in it.
 */
enum {
	TLT_CMD_UNSPEC,
	TLT_CMD_SET,	/* the whole configuration, instead of the one before */
	TLT_CMD_OFF,	/* TLT changes no packet any more */
	TLT_CMD_GET,	/* TLT_A_ENABLED and, if on, the configuration */
	TLT_CMD_STATS,	/* TLT_A_STATS */
	TLT_CMD_FLOWS,	/* dump: one TLT_A_FLOW per message */
	__TLT_CMD_MAX,
};

#define TLT_CMD_MAX (__TLT_CMD_MAX - 1)

enum {
	TLT_A_UNSPEC,
	TLT_A_PAD,
	TLT_A_ENABLED,	/* u8 */
	TLT_A_MAP,	/* u8[TLT_KINDS]: the code point of each kind, all different */
	TLT_A_PERIOD,	/* u32: rate-based senders, packets between important ones; 0: none */
	TLT_A_CLOCK,	/* u8: enum tlt_clock_mode */
	TLT_A_SENDER,	/* u8: enum tlt_sender_mode */
	TLT_A_FOREIGN,	/* u8: enum tlt_foreign */
	TLT_A_RULES,	/* nest of TLT_A_RULE; if missing, TLT takes all TCP packets */
	TLT_A_RULE,	/* nest of TLT_RULE_*; a packet must meet all of them */
	TLT_A_STATS,	/* nest of u64, each of type enum tlt_stat + 1 */
	TLT_A_FLOW,	/* nest of TLT_FLOW_* */
	__TLT_A_MAX,
};

#define TLT_A_MAX (__TLT_A_MAX - 1)

/* What a packet is to TLT. */
enum tlt_kind {
	TLT_DATA,	/* Important Data */
	TLT_ECHO,	/* Important Echo, the answer to it */
	TLT_CLOCK,	/* Important Clock Data */
	TLT_CLOCK_ECHO,	/* Important Clock Echo, the answer to that */
	TLT_CONTROL,	/* SYN, FIN, RST and other ACKs */
	TLT_PLAIN,	/* unimportant data */
	TLT_KINDS,
	TLT_NONE = TLT_KINDS,	/* not TLT's */
};

/* What important ACK-clocking sends. */
enum tlt_clock_mode {
	TLT_CLOCK_ADAPTIVE,	/* a byte, or a segment where the echo shows a loss */
	TLT_CLOCK_BYTE,		/* always a byte */
	TLT_CLOCK_SEGMENT,	/* always a segment */
	TLT_CLOCK_MODES,
};

enum tlt_sender_mode {
	TLT_SENDER_AUTO,	/* rate-based if the congestion control sets rates */
	TLT_SENDER_WINDOW,
	TLT_SENDER_RATE,
	TLT_SENDER_MODES,
};

/* Packets to which the application gave a code point of its own. */
enum tlt_foreign {
	TLT_FOREIGN_OVERRIDE,	/* TLT marks them like all others */
	TLT_FOREIGN_KEEP,	/* TLT leaves them as they are */
	TLT_FOREIGNS,
};

enum {
	TLT_RULE_UNSPEC,
	TLT_RULE_IFINDEX,	/* s32, above 0: device by which packets leave and arrive */
	TLT_RULE_PORT_LOW,	/* u16, host order: port of either end */
	TLT_RULE_PORT_HIGH,	/* u16; TLT_RULE_PORT_LOW if not given */
	TLT_RULE_ADDRESS,	/* 4 or 16 bytes: address of the other end */
	TLT_RULE_PREFIX,	/* u8: leading bits of the address that count; all if not given */
	TLT_RULE_UID_LOW,	/* u32: owner of this host's socket */
	TLT_RULE_UID_HIGH,	/* u32; TLT_RULE_UID_LOW if not given */
	TLT_RULE_CGROUP,	/* string: path of its cgroup (version 2) or of one above that */
	__TLT_RULE_MAX,
};

#define TLT_RULE_MAX (__TLT_RULE_MAX - 1)
#define TLT_RULES_MAX 16
#define TLT_CGROUP_PATH_MAX 512	/* with the terminating zero */

enum {
	TLT_FLOW_UNSPEC,
	TLT_FLOW_PAD,
	TLT_FLOW_LOCAL,		/* 4 or 16 bytes */
	TLT_FLOW_REMOTE,
	TLT_FLOW_LOCAL_PORT,	/* u16, host order */
	TLT_FLOW_REMOTE_PORT,
	TLT_FLOW_PEER,		/* u8: enum tlt_peer */
	TLT_FLOW_IMPORTANT,	/* u32: Important Data sent */
	TLT_FLOW_ECHOES,	/* u32: echoes received for Important Data and clock data */
	TLT_FLOW_INJECTED,	/* u32: clock data sent */
	TLT_FLOW_RTOS,		/* u32 */
	TLT_FLOW_IDLE_MS,	/* u32: since the last packet */
	TLT_FLOW_STATS,		/* nest as TLT_A_STATS: the flow's counters that are not 0 */
	__TLT_FLOW_MAX,
};

#define TLT_FLOW_MAX (__TLT_FLOW_MAX - 1)

enum tlt_peer {
	TLT_PEER_UNKNOWN,
	TLT_PEER_SPEAKS,
	TLT_PEER_DEAF,		/* sends no marks or no echoes: TLT marks no data to it */
};

/* Counters of a network namespace; they only grow while TLT is on. */
enum tlt_stat {
	TLT_STAT_PACKETS,	/* TLT_KINDS counters: packets sent, by kind */
	TLT_STAT_BYTES = TLT_STAT_PACKETS + TLT_KINDS,	/* the same in bytes of IP */
	TLT_STAT_RECEIVED = TLT_STAT_BYTES + TLT_KINDS,	/* packets received, by kind */
	TLT_STAT_INJECTED_BYTE = TLT_STAT_RECEIVED + TLT_KINDS,
	TLT_STAT_INJECTED_SEGMENT,
	TLT_STAT_INJECTED_BYTES,	/* payload of both */
	TLT_STAT_INJECT_LIMITED,	/* not sent: too early, or many before were in vain */
	TLT_STAT_INJECT_REFUSED,	/* not sent: the socket's state or kind forbids */
	TLT_STAT_INJECT_FAILED,		/* not sent: no memory or no route */
	TLT_STAT_ECHOES_DROPPED,	/* clock echoes that told nothing new */
	TLT_STAT_ECHOES_UNASKED,	/* echoes for which no flow waited */
	TLT_STAT_ANSWERS,		/* ACKs that TCP would have delayed */
	TLT_STAT_CUTS,			/* last segments cut off a burst */
	TLT_STAT_CUT_BYTES,		/* data in these */
	TLT_STAT_CUT_FAILED,		/* no memory, or TCP is not charged for the packet */
	TLT_STAT_RTOS,			/* retransmission timeouts of TLT's flows */
	TLT_STAT_FLOWS,			/* flows that began */
	TLT_STAT_FLOWS_REFUSED,		/* too many flows, or no memory */
	TLT_STAT_DEAF,			/* times that a flow found its peer deaf */
	TLT_STAT_CLOCKS_DROPPED,	/* bytes of clock data that TCP had already */
	TLT_STAT_LEFT,			/* bursts of a congestion control that TLT leaves alone */
	TLT_STATS,
};

/* -- NIC stamps ------------------------------------------------------------ */

#define STAMPS_GENL_NAME	"turnpike_stamps"
#define STAMPS_GENL_VERSION	1

/*
 * Commands work in the first network namespace only, since they are about the whole machine.
 * STAMPS_CMD_FLOWS, _USE, _DROP, _FOLLOW and _READING need CAP_NET_ADMIN.
 */
enum {
	STAMPS_CMD_UNSPEC,
	STAMPS_CMD_STATS,	/* STAMPS_A_STATS */
	STAMPS_CMD_PORTS,	/* dump: one STAMPS_A_PORT per message */
	STAMPS_CMD_FLOWS,	/* dump: one STAMPS_A_FLOW per message */
	STAMPS_CMD_USE,		/* STAMPS_A_DEV, _NETNS_FD: stamp instead of the device's driver */
	STAMPS_CMD_DROP,	/* STAMPS_A_DEV, _NETNS_FD: stop that */
	/*
	 * STAMPS_A_DEV, _NETNS_FD, _STEP_NS: until it closes, this socket reports readings of
	 * the clock by which the NIC stamps received frames. The answer has STAMPS_A_NUMBER.
	 */
	STAMPS_CMD_FOLLOW,
	STAMPS_CMD_READING,	/* STAMPS_A_NUMBER, _BEFORE_NS, _NIC_NS, _AFTER_NS: one reading */
	__STAMPS_CMD_MAX,
};

#define STAMPS_CMD_MAX (__STAMPS_CMD_MAX - 1)

enum {
	STAMPS_A_UNSPEC,
	STAMPS_A_PAD,
	STAMPS_A_STATS,	/* nest of u64, each of type enum stamps_stat + 1 */
	STAMPS_A_PORT,	/* nest of STAMPS_PORT_* */
	STAMPS_A_FLOW,	/* nest of STAMPS_FLOW_* */
	STAMPS_A_DEV,	/* string: name of a device in STAMPS_A_NETNS_FD */
	STAMPS_A_NETNS_FD, /* u32: a network namespace; if missing, the first */
	STAMPS_A_PROBES, /* u32: with STAMPS_A_STATS, tracepoints that nicstamp watches now */
	STAMPS_A_STEP_NS, /* u32, 1 to 1000000: resolution of the NIC's clock and stamps */
	STAMPS_A_NUMBER, /* u32: number of a followed device */
	STAMPS_A_BEFORE_NS, /* u64: CLOCK_MONOTONIC before the program read the NIC's clock */
	STAMPS_A_NIC_NS, /* u64: the NIC's clock, in the time of its stamps */
	STAMPS_A_AFTER_NS, /* u64: CLOCK_MONOTONIC after it; at most 1 ms later, at most 1 s ago */
	__STAMPS_A_MAX,
};

#define STAMPS_A_MAX (__STAMPS_A_MAX - 1)

enum {
	STAMPS_PORT_UNSPEC,
	STAMPS_PORT_PAD,
	STAMPS_PORT_NAME,	/* string: name of the device */
	STAMPS_PORT_IFINDEX,	/* u32 */
	STAMPS_PORT_NETNS,	/* u32: inode number of its network namespace */
	STAMPS_PORT_BITS,	/* u32: of the clock's counter */
	STAMPS_PORT_STEP_NS,	/* u32: resolution of a stamp */
	STAMPS_PORT_TX_FIRST,	/* flag: TSO packets are stamped at their first frame */
	STAMPS_PORT_RATE_PPB,	/* s32: rate of system's over device's clock, less 1; if known */
	STAMPS_PORT_ERROR_NS,	/* u64: error of the map to the system's clock now; if known */
	STAMPS_PORT_STATS,	/* nest as STAMPS_A_STATS */
	STAMPS_PORT_HOST,	/* flag: the host stamps at the driver, the NIC does not */
	STAMPS_PORT_GENERIC,	/* flag: the port is of STAMPS_CMD_USE, not of the driver */
	STAMPS_PORT_FOLLOWED,	/* flag: the NIC stamps received frames; rate, error: its clock */
	__STAMPS_PORT_MAX,
};

#define STAMPS_PORT_MAX (__STAMPS_PORT_MAX - 1)

enum {
	STAMPS_FLOW_UNSPEC,
	STAMPS_FLOW_PAD,
	STAMPS_FLOW_LOCAL,		/* 16 bytes, IPv4 mapped */
	STAMPS_FLOW_REMOTE,
	STAMPS_FLOW_LOCAL_PORT,		/* u16, host order */
	STAMPS_FLOW_REMOTE_PORT,
	STAMPS_FLOW_SAMPLES,		/* u64 */
	STAMPS_FLOW_RTT_NS,		/* u64: newest RTT by the NIC's clock */
	STAMPS_FLOW_RTT_MIN_NS,		/* u64: smallest of these RTTs */
	STAMPS_FLOW_TCP_RTT_NS,		/* u64: TCP's RTT from the ACK of the newest */
	STAMPS_FLOW_ERROR_NS,		/* u32: bound of the newest RTT's error */
	STAMPS_FLOW_TX_HOST,		/* flag: the host stamped the newest's data, not the NIC */
	STAMPS_FLOW_RX_HOST,		/* flag: the host stamped its ACK, not the NIC */
	__STAMPS_FLOW_MAX,
};

#define STAMPS_FLOW_MAX (__STAMPS_FLOW_MAX - 1)

/* Counters; they only grow. Each port also has its own of _WANTED to _STEPS. */
enum stamps_stat {
	STAMPS_STAT_WANTED,		/* transmit stamps asked for */
	STAMPS_STAT_TX,			/* transmit stamps with a record, or wanted as departures */
	STAMPS_STAT_TX_UNKNOWN,		/* other transmit stamps: acked by then, or no flow */
	STAMPS_STAT_RX,			/* ACKs that completed a record */
	STAMPS_STAT_RX_ABSURD,		/* ACKs of data that was never sent */
	STAMPS_STAT_FULL,		/* data not recorded: too much of its flow in flight */
	STAMPS_STAT_NO_SLOT,		/* data not recorded: the NIC had no room for a stamp */
	STAMPS_STAT_RETRANSMITTED,	/* data not recorded: sent before */
	STAMPS_STAT_READINGS,		/* readings of the clock */
	STAMPS_STAT_POOR,		/* readings not used */
	STAMPS_STAT_STEPS,		/* times that the NIC's or the system's clock stepped */
	STAMPS_STAT_SAMPLES,		/* samples given to a consumer */
	STAMPS_STAT_NO_RECORD,		/* requests without a sample: nothing recorded */
	STAMPS_STAT_UNSENT,		/* requests without a sample: no transmit stamp */
	STAMPS_STAT_AMBIGUOUS,		/* requests without a sample: sent more than once */
	STAMPS_STAT_CLOCKS,		/* requests without a sample: stamps of two clocks */
	STAMPS_STAT_ABSURD,		/* requests without a sample: an impossible one */
	STAMPS_STAT_FLOWS,		/* flows followed */
	STAMPS_STAT_FLOWS_REFUSED,	/* too many, or no memory */
	STAMPS_STAT_ARRIVALS,		/* frames with data whose time of arrival was kept */
	STAMPS_STAT_ARRIVALS_FOUND,	/* times of arrival given to a consumer */
	STAMPS_STAT_RX_NIC,		/* frames that followed devices received and stamped */
	STAMPS_STAT_RX_NIC_REFUSED,	/* impossible stamps of these: the NIC's clock stepped */
	STAMPS_STATS,
	STAMPS_PORT_STATS_COUNT = STAMPS_STAT_STEPS + 1,
};

#endif /* _UAPI_TURNPIKE_H */
