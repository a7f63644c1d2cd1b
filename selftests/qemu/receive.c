// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of this machine per data segment that a host receives, without a sender.
 *
 *	receive drop|take|announce|sparse DEVICE MAC NETNS BACK SEGMENTS BATCHES
 *
 * DEVICE leads to the host with that MAC, where somebody reads at 10.0.0.2, port 5000.  Its
 * answers to 10.0.0.7, which nobody is, leave the host's namespace by a device that drops
 * them.  A connection is made by hand.  Its data, BATCHES of so many SEGMENTS, is sent at once and
 * arrives later, when DEVICE's qdisc lets one batch after the other go (cost-receive.sh): there
 * is no sender in what is counted, and no gap in its stream.  With drop
 * they bear another MAC in the end, so that the host throws them away at once; that much is
 * to be taken off the rest.  With announce the host is asked for receipts of OR-ACKs
 * before, with sparse for sparse ones (Documentation/onramp-wire.rst).
 *
 * Prints: segments instructions_per_segment
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "include/uapi/turnpike.h"
#include "sch_onramp/orack/orack_wire.h"
#include "spare.h"
#include "tcp_frame.h"

#define SADDR		0x0a000007	/* 10.0.0.7 */
#define DADDR		0x0a000002
#define DPORT		5000

#define BATCH_MAX	256
/* What the qdisc does: all is sent before the first arrives; and a batch follows each 150 us, as
 * sch_onramp/orack/orack_sparse.h takes 200 for a gap.
 */
#define DELAY_US	1000000
#define BATCH_US	150
#define EARLY_US	20000
#define PAYLOAD_BYTES	1460

struct packet {
	struct virtio_net_hdr virtio;
	struct tcp_frame frame;
	unsigned char payload[PAYLOAD_BYTES];
} __attribute__((packed));

static struct packet packets[BATCH_MAX];
static struct mmsghdr messages[BATCH_MAX];
static struct iovec vectors[BATCH_MAX];
static unsigned int segments;		/* of a batch */
static uint16_t sport;

/* -- checksums ------------------------------------------------------------------------- */

static uint32_t sum(const void *data, size_t bytes)
{
	const uint8_t *at = data;
	uint32_t total = 0;

	for (size_t i = 0; i < bytes; i += 2)
		total += at[i] << 8 | at[i + 1];
	return total;
}

static uint16_t fold(uint32_t total)
{
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return htons(total);
}

/* The device is to sum up the payload, which is to say that nobody does.  Returns what it
 * finds at @offset of the segment or datagram, to begin with.
 */
static uint16_t seal(struct packet *p, uint16_t offset)
{
	uint32_t bytes = ntohs(p->frame.ip.tot_len) - sizeof(p->frame.ip);

	p->virtio.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	p->virtio.csum_start = offsetof(struct tcp_frame, tcp);
	p->virtio.csum_offset = offset;
	p->frame.ip.check = ~fold(sum(&p->frame.ip, sizeof(p->frame.ip)));
	return fold(sum(&p->frame.ip.saddr, 8) + p->frame.ip.protocol + bytes);
}

static void seal_tcp(struct packet *p)
{
	p->frame.tcp.check = seal(p, offsetof(struct tcphdr, check));
}

/* -- packets --------------------------------------------------------------------------- */

static void begin(struct packet *p, const unsigned char *mac, unsigned int bytes)
{
	memset(&p->virtio, 0, sizeof(p->virtio));
	tcp_frame_init(&p->frame, htonl(SADDR), htonl(DADDR), htons(sport), htons(DPORT), bytes);
	memcpy(p->frame.ether.ether_dhost, mac, ETH_ALEN);
}

static size_t packet_bytes(const struct packet *p)
{
	return offsetof(struct packet, frame.ip) + ntohs(p->frame.ip.tot_len);
}

static void put(int fd, const struct packet *p)
{
	if (send(fd, p, packet_bytes(p), 0) < 0)
		err(1, "send");
}

static int open_device(const char *name, int protocol)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(name),
		.sll_protocol = htons(protocol),
	};
	struct timeval patience = { .tv_sec = 5 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1, plenty = 1 << 30;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &plenty, sizeof(plenty)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		err(1, "packet socket");
	if (!to.sll_ifindex || bind(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "%s", name);
	return fd;
}

/* What leaves NETNS by BACK. */
static int open_answers(const char *netns, const char *back)
{
	int here = open("/proc/self/ns/net", O_RDONLY), there, fd;
	char path[256];

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	there = open(path, O_RDONLY);
	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET))
		err(1, "%s", path);
	fd = open_device(back, ETH_P_ALL);
	if (setns(here, CLONE_NEWNET))
		err(1, "setns");
	close(there);
	close(here);
	return fd;
}

/* -- the connection -------------------------------------------------------------------- */

static uint32_t wait_for_syn_ack(int fd)
{
	struct packet p;
	ssize_t bytes;

	for (;;) {
		bytes = recv(fd, &p, sizeof(p), 0);
		if (bytes < 0)
			err(1, "no answer to the SYN");
		if (bytes >= (ssize_t)offsetof(struct packet, payload) &&
		    p.frame.ip.protocol == IPPROTO_TCP && p.frame.tcp.dest == htons(sport) &&
		    p.frame.tcp.syn && p.frame.tcp.ack)
			return ntohl(p.frame.tcp.seq);
	}
}

static void put_empty(int fd, const unsigned char *mac, uint32_t seq, uint32_t ack, bool reset)
{
	struct packet p;

	begin(&p, mac, 0);
	p.frame.tcp.seq = htonl(seq);
	p.frame.tcp.ack_seq = htonl(ack);
	p.frame.tcp.window = htons(500);
	p.frame.tcp.rst = reset;
	seal_tcp(&p);
	put(fd, &p);
}

/* Sequence numbers of this side begin at 0.  Returns what to acknowledge. */
static uint32_t connect_by_hand(int fd, int answers, const unsigned char *mac)
{
	static const unsigned char options[] = { 2, 4, 1460 >> 8, 1460 & 0xff, 3, 3, 7, 1 };
	struct packet p;
	uint32_t ack;

	begin(&p, mac, sizeof(options));
	p.frame.tcp.doff += sizeof(options) / 4;
	p.frame.tcp.syn = 1;
	p.frame.tcp.ack = 0;
	p.frame.tcp.window = htons(65535);
	memcpy(p.payload, options, sizeof(options));
	seal_tcp(&p);
	put(fd, &p);
	ack = wait_for_syn_ack(answers) + 1;
	put_empty(fd, mac, 1, ack, false);
	return ack;
}

static void announce(int fd, const unsigned char *mac, bool sparse)
{
	const struct orack_header h = {
		.kind = ORACK_ANNOUNCEMENT, .count = 1, .sparse = sparse,
		.clock = ORACK_LIFETIME_MAX_MS, .time_ns = now_ns(),
	};
	const struct orack_entry e = { .sport = sport, .dport = DPORT };
	uint8_t data[ORACK_BYTES_MAX];
	uint32_t bytes = orack_encode(data, &h, &e);
	struct udphdr udp = {
		.source = htons(ONRAMP_UAPI_PORT), .dest = htons(ONRAMP_UAPI_PORT),
		.len = htons(sizeof(udp) + bytes),
	};
	struct packet p;

	begin(&p, mac, 0);
	p.frame.ip.protocol = IPPROTO_UDP;
	p.frame.ip.tot_len = htons(sizeof(p.frame.ip) + sizeof(udp) + bytes);
	udp.check = seal(&p, offsetof(struct udphdr, check));
	memcpy(&p.frame.tcp, &udp, sizeof(udp));
	memcpy((char *)&p.frame.tcp + sizeof(udp), data, bytes);
	put(fd, &p);
}

/* -- data ------------------------------------------------------------------------------ */

static void make_data(const unsigned char *mac, uint32_t ack)
{
	for (unsigned int i = 0; i < segments; i++) {
		struct packet *p = &packets[i];

		begin(p, mac, PAYLOAD_BYTES);
		p->frame.tcp.ack_seq = htonl(ack);
		p->frame.tcp.window = htons(500);
		seal_tcp(p);
		vectors[i] = (struct iovec){ p, sizeof(*p) };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
}

/* Returns shortly before the first arrives. */
static uint32_t send_batches(int fd, uint32_t seq, uint32_t batches)
{
	int64_t begin_ns = now_ns();
	int64_t left_us;

	while (batches--) {
		for (unsigned int i = 0; i < segments; i++, seq += PAYLOAD_BYTES)
			packets[i].frame.tcp.seq = htonl(seq);
		if (sendmmsg(fd, messages, segments, 0) != (int)segments)
			err(1, "sendmmsg");
	}
	left_us = DELAY_US - EARLY_US - (now_ns() - begin_ns) / 1000;
	if (left_us < 0)
		errx(1, "the first arrives before the last was sent");
	usleep(left_us);
	return seq;
}

static void wait_for_batches(uint32_t batches)
{
	usleep(2 * EARLY_US + BATCH_US * 5 / 4 * batches);
}

static void read_mac(const char *text, unsigned char *mac)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		   mac + 4, mac + 5) != ETH_ALEN)
		errx(1, "'%s' is no MAC", text);
}

int main(int argc, char **argv)
{
	static const unsigned char nobody[ETH_ALEN] = { 2, 0, 0, 0, 0, 9 };
	unsigned char mac[ETH_ALEN];
	uint32_t ack, seq, batches;
	bool announces, drops, sparse;
	struct spare spare;
	int fd, answers;

	sparse = argc > 1 && !strcmp(argv[1], "sparse");
	announces = sparse || (argc > 1 && !strcmp(argv[1], "announce"));
	drops = argc > 1 && !strcmp(argv[1], "drop");
	if (argc != 8 || !(announces || drops || !strcmp(argv[1], "take")) ||
	    atol(argv[6]) < 1 || atol(argv[6]) > BATCH_MAX || atol(argv[7]) < 1) {
		fprintf(stderr, "usage: receive drop|take|announce|sparse DEVICE MAC NETNS BACK "
				"SEGMENTS BATCHES\n");
		return 2;
	}
	read_mac(argv[3], mac);
	segments = atol(argv[6]);
	batches = atol(argv[7]);
	sport = 40000 + getpid() % 10000;
	fd = open_device(argv[2], 0);
	spare_start(&spare);
	answers = open_answers(argv[4], argv[5]);
	ack = connect_by_hand(fd, answers, mac);
	close(answers);
	if (announces)
		announce(fd, mac, sparse);
	make_data(drops ? nobody : mac, ack);
	/* The receiver's buffer grows at first. */
	seq = send_batches(fd, 1, batches / 4 + 1);
	wait_for_batches(batches / 4 + 1);
	seq = send_batches(fd, seq, batches);
	spare_begin(&spare);
	wait_for_batches(batches);
	printf("%u %.0f\n", batches * segments, spare_busy_ns(&spare) / (batches * segments));
	spare_stop(&spare);
	/* The reader would look at it for ever. */
	put_empty(fd, mac, drops ? 1 : seq, ack, true);
	return 0;
}
