/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OR-ACKs (ONRAMP21, section 3.1) on the wire (Documentation/onramp-wire.rst), in a UDP datagram.
 *
 *      0        1        2        3        4                          8
 *     +--------+--------+--------+--------+--------------------------+
 *     | version|  kind  | key id |  count | clock, or lifetime in ms |
 *     +--------+--------+--------+--------+--------------------------+
 *     | time, nanoseconds                                            |   16
 *     +-----------------+-----------------+--------------------------+
 *     | port of sender  | port of receiver| end sequence             |
 *     +-----------------+-----------------+--------------------------+
 *     | age, nanoseconds                  |  ... count such entries  |   + 12 each
 *     +-----------------------------------+--------------------------+
 *     | SipHash-2-4, where the key id is not 0                       |   + 8
 *     +--------------------------------------------------------------+
 *
 * A clock report has instead of the entry
 *
 *     +--------------------------------------------------------------+
 *     | from the clock of receipts to CLOCK_REALTIME, nanoseconds    |
 *     +-----------------------------------+--------------------------+
 *     | error of that, nanoseconds        |
 *     +-----------------------------------+
 *
 * A price report, and the answer to it, have
 *
 *     +-----------------------------------+--------------------------+
 *     | price, 8 bits before the point    | weight                   |
 *     +-----------------------------------+--------------------------+
 *     | price reported                    |   in a report: ports of the sender and the receiver
 *     +-----------------------------------+
 *
 * All numbers are in network order.  The addresses of a flow are those of the datagram, turned
 * round.  The module believes nothing before orack_decode() took it.  That reads no byte that is
 * not there, and what it takes has one meaning only.
 */
#ifndef ORACK_WIRE_H
#define ORACK_WIRE_H

#include "include/turnpike_types.h"

#define ORACK_VERSION		1

#define ORACK_HEADER_BYTES	16
#define ORACK_KEY_OFFSET	2
#define ORACK_ENTRY_BYTES	12
#define ORACK_MAC_BYTES		8

/* 408 bytes with a MAC: they fit any IPv6 packet whole, and one cache-warm copy. */
#define ORACK_ENTRIES_MAX	32
#define ORACK_BYTES_MAX		(ORACK_HEADER_BYTES + ORACK_ENTRIES_MAX * ORACK_ENTRY_BYTES + \
				 ORACK_MAC_BYTES)

/* In the byte of the count: an announcement wants sparse receipts, or a receipt is one. */
#define ORACK_SPARSE		0x80U

/* An entry whose data waited longer tells nothing about now. */
#define ORACK_AGE_MAX_NS	1000000000U

/* A host that is gone for a minute gets no more receipts. */
#define ORACK_LIFETIME_MAX_MS	60000U

/* For synchronized clocks: with a larger error, clocks that are not synchronized tell more. */
#define ORACK_ERROR_MAX_NS	1000000U

/* Prices have 20 bits after the point, and are below 256. */
#define ORACK_PRICE_MAX_Q	((1U << 28) - 1)
#define ORACK_WEIGHT_MAX	65535U

/* A bit of a clock's identity in receipts.  Set: the times are the NIC's, mapped to that clock,
 * and off by ORACK_NIC_ERROR_NS at most.  They do not compare with the host's times, which lack
 * the bit.  A clock report (kind 3) is about both.
 */
#define ORACK_CLOCK_NIC		1U

static inline bool orack_clock_is_nic(u32 id)
{
	return id & ORACK_CLOCK_NIC;
}

/* The clock alone, whoever stamped. */
static inline u32 orack_clock_of(u32 id)
{
	return id & ~ORACK_CLOCK_NIC;
}

enum orack_kind {
	ORACK_RECEIPT = 1,	/* an OR-ACK: an entry for each flow whose data arrived */
	ORACK_ANNOUNCEMENT = 2,	/* "send me receipts": one entry, a flow that shows why */
	ORACK_CLOCK = 3,	/* how the clock of my receipts relates to others */
	ORACK_PRICE = 4,	/* the price that my flows to you have (orack_price.h) */
	ORACK_PRICE_OF_ALL = 5,	/* the answer: the price that all flows to me have */
};

/* Why a datagram is no good; the first fault counts. */
enum orack_fault {
	ORACK_GOOD,
	ORACK_BAD_LENGTH,	/* cut short, or more than it says */
	ORACK_BAD_VERSION,
	ORACK_BAD_KIND,
	ORACK_BAD_COUNT,
	ORACK_BAD_VALUE,	/* in an entry, the lifetime, or a clock's error */
};

struct orack_header {
	u8 kind;
	u8 key;			/* 0: no MAC */
	u8 count;
	bool sparse;		/* orack_sparse.h */
	u32 clock;		/* whose times these are; in an announcement: its lifetime in ms */
	u64 time_ns;		/* of sending, by that clock; or of announcing */
};

struct orack_clock_entry {
	u64 real_ns;		/* CLOCK_REALTIME less the clock of receipts, modulo 2^64 */
	u32 error_ns;		/* bound of CLOCK_REALTIME's error; 0: unknown */
};

struct orack_price_entry {
	u32 price_q;		/* p of timely_pi << 20 */
	u32 weight;		/* how often flows said it, of which this is the mean */
	u32 told_q;		/* in an answer: the price in the report; there: ports of a flow */
};

struct orack_entry {
	u16 sport;		/* the data's sender's */
	u16 dport;
	u32 end_seq;		/* after the newest byte */
	u32 age_ns;		/* from its arrival to the sending of the datagram */
};

/* What orack_decode() took; it points into the datagram. */
struct orack_datagram {
	struct orack_header h;
	const u8 *entries;
	const u8 *mac;		/* NULL: none; it covers all before it */
	u32 maced_bytes;
};

static inline u32 orack_get16(const u8 *at)
{
	return (u32)at[0] << 8 | at[1];
}

static inline u32 orack_get32(const u8 *at)
{
	return orack_get16(at) << 16 | orack_get16(at + 2);
}

static inline u64 orack_get64(const u8 *at)
{
	return (u64)orack_get32(at) << 32 | orack_get32(at + 4);
}

static inline void orack_put16(u8 *at, u32 value)
{
	at[0] = (u8)(value >> 8);
	at[1] = (u8)value;
}

static inline void orack_put32(u8 *at, u32 value)
{
	orack_put16(at, value >> 16);
	orack_put16(at + 2, value & 0xffff);
}

static inline void orack_put64(u8 *at, u64 value)
{
	orack_put32(at, (u32)(value >> 32));
	orack_put32(at + 4, (u32)value);
}

static inline u32 orack_bytes(u32 count, bool mac)
{
	return ORACK_HEADER_BYTES + count * ORACK_ENTRY_BYTES + (mac ? ORACK_MAC_BYTES : 0);
}

static inline void orack_read_entry(const struct orack_datagram *d, u32 i, struct orack_entry *e)
{
	const u8 *at = d->entries + i * ORACK_ENTRY_BYTES;

	e->sport = (u16)orack_get16(at);
	e->dport = (u16)orack_get16(at + 2);
	e->end_seq = orack_get32(at + 4);
	e->age_ns = orack_get32(at + 8);
}

/* It has the place of the only entry. */
static inline void orack_read_clock(const struct orack_datagram *d, struct orack_clock_entry *c)
{
	c->real_ns = orack_get64(d->entries);
	c->error_ns = orack_get32(d->entries + 8);
}

static inline void orack_read_price(const struct orack_datagram *d, struct orack_price_entry *p)
{
	p->price_q = orack_get32(d->entries);
	p->weight = orack_get32(d->entries + 4);
	p->told_q = orack_get32(d->entries + 8);
}

static inline bool orack_price_is_good(const struct orack_datagram *d)
{
	struct orack_price_entry p;

	orack_read_price(d, &p);
	return !d->h.clock && p.price_q <= ORACK_PRICE_MAX_Q && p.weight &&
	       p.weight <= ORACK_WEIGHT_MAX &&
	       (d->h.kind == ORACK_PRICE ? p.told_q >> 16 && p.told_q & 0xffff :
					   p.told_q <= ORACK_PRICE_MAX_Q);
}

static inline bool orack_kind_is_price(u8 kind)
{
	return kind == ORACK_PRICE || kind == ORACK_PRICE_OF_ALL;
}

static inline bool orack_entry_is_good(const struct orack_header *h, const struct orack_entry *e)
{
	/* Read as an entry, a clock's error is the age. */
	if (h->kind == ORACK_CLOCK)
		return e->age_ns <= ORACK_ERROR_MAX_NS;
	if (!e->sport || !e->dport)
		return false;
	if (h->kind == ORACK_ANNOUNCEMENT)
		return !e->end_seq && !e->age_ns;
	return e->age_ns <= ORACK_AGE_MAX_NS;
}

static inline enum orack_fault orack_decode_header(const u8 *data, size_t bytes,
						   struct orack_header *h)
{
	if (bytes < ORACK_HEADER_BYTES)
		return ORACK_BAD_LENGTH;
	if (data[0] != ORACK_VERSION)
		return ORACK_BAD_VERSION;
	h->kind = data[1];
	h->key = data[ORACK_KEY_OFFSET];
	h->count = data[3] & ~ORACK_SPARSE;
	h->sparse = data[3] & ORACK_SPARSE;
	h->clock = orack_get32(data + 4);
	h->time_ns = orack_get64(data + 8);
	if (h->kind < ORACK_RECEIPT || h->kind > ORACK_PRICE_OF_ALL)
		return ORACK_BAD_KIND;
	if (!h->count || h->count > ORACK_ENTRIES_MAX ||
	    (h->kind != ORACK_RECEIPT && h->count != 1) || (h->kind >= ORACK_CLOCK && h->sparse))
		return ORACK_BAD_COUNT;
	if (bytes != orack_bytes(h->count, h->key))
		return ORACK_BAD_LENGTH;
	if (h->kind == ORACK_ANNOUNCEMENT && h->clock > ORACK_LIFETIME_MAX_MS)
		return ORACK_BAD_VALUE;
	return ORACK_GOOD;
}

/* Finds the MAC, but does not check it. */
static inline enum orack_fault orack_decode(const u8 *data, size_t bytes,
					    struct orack_datagram *d)
{
	enum orack_fault fault = orack_decode_header(data, bytes, &d->h);
	struct orack_entry e;
	u32 i;

	if (fault)
		return fault;
	d->entries = data + ORACK_HEADER_BYTES;
	d->maced_bytes = orack_bytes(d->h.count, false);
	d->mac = d->h.key ? data + d->maced_bytes : NULL;
	if (orack_kind_is_price(d->h.kind))
		return orack_price_is_good(d) ? ORACK_GOOD : ORACK_BAD_VALUE;
	for (i = 0; i < d->h.count; i++) {
		orack_read_entry(d, i, &e);
		if (!orack_entry_is_good(&d->h, &e))
			return ORACK_BAD_VALUE;
	}
	return ORACK_GOOD;
}

static inline void orack_encode_header(u8 *to, const struct orack_header *h)
{
	to[0] = ORACK_VERSION;
	to[1] = h->kind;
	to[ORACK_KEY_OFFSET] = h->key;
	to[3] = h->count | (h->sparse ? ORACK_SPARSE : 0);
	orack_put32(to + 4, h->clock);
	orack_put64(to + 8, h->time_ns);
}

/* Writes a datagram of h->count entries to @to, which has ORACK_BYTES_MAX bytes.  Returns its
 * length without a MAC, which the holder of the key writes behind it.
 */
static inline u32 orack_encode(u8 *to, const struct orack_header *h,
			       const struct orack_entry *entries)
{
	u8 *at = to + ORACK_HEADER_BYTES;
	u32 i;

	orack_encode_header(to, h);
	for (i = 0; i < h->count; i++, at += ORACK_ENTRY_BYTES) {
		orack_put16(at, entries[i].sport);
		orack_put16(at + 2, entries[i].dport);
		orack_put32(at + 4, entries[i].end_seq);
		orack_put32(at + 8, entries[i].age_ns);
	}
	return orack_bytes(h->count, false);
}

/* The same for a clock; h->count is 1. */
static inline u32 orack_encode_clock(u8 *to, const struct orack_header *h,
				     const struct orack_clock_entry *c)
{
	orack_encode_header(to, h);
	orack_put64(to + ORACK_HEADER_BYTES, c->real_ns);
	orack_put32(to + ORACK_HEADER_BYTES + 8, c->error_ns);
	return orack_bytes(h->count, false);
}

/* The same for a price; h->count is 1, and h->clock 0. */
static inline u32 orack_encode_price(u8 *to, const struct orack_header *h,
				     const struct orack_price_entry *p)
{
	u8 *at = to + ORACK_HEADER_BYTES;

	orack_encode_header(to, h);
	orack_put32(at, p->price_q);
	orack_put32(at + 4, p->weight);
	orack_put32(at + 8, p->told_q);
	return orack_bytes(h->count, false);
}

#endif /* ORACK_WIRE_H */
