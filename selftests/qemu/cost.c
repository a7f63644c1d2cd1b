// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of this machine per data segment of one TCP flow.
 *
 *	cost ADDRESS PORT SECONDS CC MBPS
 *
 * Made for a guest with one processor that takes a nanosecond for every instruction
 * (qemu -icount shift=0).  A process of the idle scheduling class counts in all the time
 * that nobody else wants; what is missing of it against a calm machine was spent on the
 * flow: its sender, the path and its receiver.  MBPS paces the flow, so that every
 * congestion control does the same work at the same speed.
 *
 * Prints: CC segments instructions_per_segment segments_per_second
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REST_US		100000		/* until what was done before has no more effects */
#define CALM_NS		500000000LL	/* to learn how fast the counter counts */
#define SETTLE_NS	200000000LL	/* the flow's start is not measured */
#define CHUNK_BYTES	65536

static volatile uint64_t *spare;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static pid_t start_spare(void)
{
	struct sched_param none = { 0 };
	pid_t child;

	spare = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (spare == MAP_FAILED)
		err(1, "mmap");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child)
		return child;
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		err(1, "sched_setscheduler");
	for (;;)
		(*spare)++;
}

/* Counts per nanosecond while nothing else is to be done. */
static double calm_rate(void)
{
	int64_t begin_ns;
	uint64_t before;

	usleep(REST_US);
	before = *spare;
	begin_ns = now_ns();
	usleep(CALM_NS / 1000);
	return (double)(*spare - before) / (now_ns() - begin_ns);
}

static int connect_flow(const char *address, const char *port, const char *cc, const char *mbps)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	unsigned int bytes_per_s = atof(mbps) * 125000;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (inet_pton(AF_INET, address, &in.sin_addr) != 1)
		err(1, "%s", address);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		err(1, "%s", cc);
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)))
		err(1, "SO_MAX_PACING_RATE");
	if (connect(fd, (struct sockaddr *)&in, sizeof(in)))
		err(1, "connect");
	return fd;
}

static void send_until(int fd, int64_t end_ns)
{
	static char chunk[CHUNK_BYTES];

	while (now_ns() < end_ns)
		if (send(fd, chunk, sizeof(chunk), 0) < 0)
			err(1, "send");
}

static uint32_t segments_sent(int fd)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		err(1, "TCP_INFO");
	return info.tcpi_data_segs_out;
}

/* What is not sent yet would leave while the next run learns what a calm machine is. */
static void drop_flow(int fd)
{
	struct linger now = { .l_onoff = 1 };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) || close(fd))
		err(1, "SO_LINGER");
}

int main(int argc, char **argv)
{
	double per_ns, busy_ns, elapsed_ns;
	uint32_t segments;
	uint64_t counted;
	int64_t begin_ns;
	pid_t child;
	int fd;

	if (argc != 6) {
		fprintf(stderr, "usage: cost ADDRESS PORT SECONDS CC MBPS\n");
		return 2;
	}
	child = start_spare();
	per_ns = calm_rate();
	fd = connect_flow(argv[1], argv[2], argv[4], argv[5]);
	send_until(fd, now_ns() + SETTLE_NS);
	segments = segments_sent(fd);
	counted = *spare;
	begin_ns = now_ns();
	send_until(fd, begin_ns + atof(argv[3]) * 1e9);
	elapsed_ns = now_ns() - begin_ns;
	counted = *spare - counted;
	segments = segments_sent(fd) - segments;
	kill(child, SIGKILL);
	drop_flow(fd);
	if (!segments) {
		fprintf(stderr, "cost: nothing was sent\n");
		return 1;
	}
	busy_ns = elapsed_ns - counted / per_ns;
	printf("%s %u %.0f %.0f\n", argv[4], segments, busy_ns / segments,
	       segments * 1e9 / elapsed_ns);
	return 0;
}
