// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of this machine per frame that leaves by a device's qdisc.
 *
 *	frames DEVICE FLOWS FRAMES
 *
 * Made for a guest with one processor that takes a nanosecond for every instruction
 * (qemu -icount shift=0), and a device that drops what it is given (dummy): the time from
 * the first frame to the last is the packet socket's, the qdisc's and the driver's.  The
 * frames are TCP data of FLOWS flows in turn, each with an address of its own; before the
 * count begins, each flow has sent once.  FLOWS is at most 2^24.
 *
 * Prints: frames instructions_per_frame
 */
#define _GNU_SOURCE
#include <err.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tcp_frame.h"

#define BATCH		64
#define PAYLOAD_BYTES	8
#define MAX_FLOWS	(1 << 24)	/* what is left of 10.0.0.0/8 */

struct frame {
	struct tcp_frame head;
	unsigned char payload[PAYLOAD_BYTES];
} __attribute__((packed));

static struct frame frames[BATCH];
static struct mmsghdr messages[BATCH];
static struct iovec vectors[BATCH];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int open_device(const char *name)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(name) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0)
		err(1, "socket");
	if (!to.sll_ifindex || bind(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "%s", name);
	return fd;
}

static void make_frames(void)
{
	for (int i = 0; i < BATCH; i++) {
		struct frame *f = &frames[i];

		tcp_frame_init(&f->head, htonl(0xc0a80001), 0, htons(40000), htons(5000),
			       PAYLOAD_BYTES);
		vectors[i] = (struct iovec){ f, sizeof(*f) };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
}

static void send_frames(int fd, uint32_t flows, uint32_t count)
{
	uint32_t flow = 0;

	while (count) {
		int batch = count < BATCH ? count : BATCH;

		for (int i = 0; i < batch; i++) {
			frames[i].head.ip.daddr = htonl(0x0a000000 | flow);
			flow = flow + 1 == flows ? 0 : flow + 1;
		}
		if (sendmmsg(fd, messages, batch, 0) != batch)
			err(1, "sendmmsg");
		count -= batch;
	}
}

int main(int argc, char **argv)
{
	uint32_t flows, count;
	int64_t begin_ns;
	int fd;

	if (argc != 4 || atol(argv[2]) < 1 || atol(argv[2]) > MAX_FLOWS || atol(argv[3]) < 1) {
		fprintf(stderr, "usage: frames DEVICE FLOWS FRAMES\n");
		return 2;
	}
	flows = atol(argv[2]);
	count = atol(argv[3]);
	fd = open_device(argv[1]);
	make_frames();
	send_frames(fd, flows, flows < BATCH ? BATCH : flows);
	begin_ns = now_ns();
	send_frames(fd, flows, count);
	printf("%u %.0f\n", count, (double)(now_ns() - begin_ns) / count);
	return 0;
}
