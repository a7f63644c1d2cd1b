// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of this machine per data segment of TCP flows.
 *
 *	cost ADDRESS PORT SECONDS CC MBPS [FLOWS]
 *
 * All that is spent on the flows (spare.h): their senders, the path and the receiver.  MBPS
 * paces each, so that every congestion control does the same work at the same speed; 0: as
 * fast as the path takes it.  Other flows than the first are sent by processes of their own.
 *
 * Prints: CC segments instructions_per_segment segments_per_second
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "spare.h"

#define SETTLE_NS	200000000LL	/* the flow's start is not measured */
#define CHUNK_BYTES	65536
#define FLOWS_MAX	64

static int connect_flow(const char *address, const char *port, const char *cc, const char *mbps)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	unsigned int bytes_per_s = atof(mbps) * 125000;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (inet_pton(AF_INET, address, &in.sin_addr) != 1)
		err(1, "%s", address);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		err(1, "%s", cc);
	if (bytes_per_s &&
	    setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)))
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

/* A process that sends until it is killed. */
static pid_t begin_sender(int fd)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		send_until(fd, INT64_MAX);
	}
	return child;
}

static uint32_t segments_sent(const int *fd, int flows)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);
	uint32_t sum = 0;
	int i;

	for (i = 0; i < flows; i++) {
		if (getsockopt(fd[i], IPPROTO_TCP, TCP_INFO, &info, &size))
			err(1, "TCP_INFO");
		sum += info.tcpi_data_segs_out;
	}
	return sum;
}

/* What is not sent yet would leave while the next run learns what a calm machine is. */
static void drop_flow(int fd)
{
	struct linger now = { .l_onoff = 1 };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) || close(fd))
		err(1, "SO_LINGER");
}

static void drop_flows(const int *fd, const pid_t *sender, int flows)
{
	int i;

	for (i = 1; i < flows; i++) {
		kill(sender[i], SIGKILL);
		waitpid(sender[i], NULL, 0);
	}
	for (i = 0; i < flows; i++)
		drop_flow(fd[i]);
}

int main(int argc, char **argv)
{
	double busy_ns, elapsed_ns;
	int fd[FLOWS_MAX], flows = argc == 7 ? atoi(argv[6]) : 1, i;
	pid_t sender[FLOWS_MAX];
	struct spare spare;
	uint32_t segments;

	if (argc < 6 || argc > 7 || flows < 1 || flows > FLOWS_MAX) {
		fprintf(stderr, "usage: cost ADDRESS PORT SECONDS CC MBPS [FLOWS]\n");
		return 2;
	}
	spare_start(&spare);
	for (i = 0; i < flows; i++)
		fd[i] = connect_flow(argv[1], argv[2], argv[4], argv[5]);
	for (i = 1; i < flows; i++)
		sender[i] = begin_sender(fd[i]);
	send_until(fd[0], now_ns() + SETTLE_NS);
	segments = segments_sent(fd, flows);
	spare_begin(&spare);
	send_until(fd[0], spare.begin_ns + atof(argv[3]) * 1e9);
	busy_ns = spare_busy_ns(&spare);
	elapsed_ns = now_ns() - spare.begin_ns;
	segments = segments_sent(fd, flows) - segments;
	drop_flows(fd, sender, flows);
	spare_stop(&spare);
	if (!segments) {
		fprintf(stderr, "cost: nothing was sent\n");
		return 1;
	}
	printf("%s %u %.0f %.0f\n", argv[4], segments, busy_ns / segments,
	       segments * 1e9 / elapsed_ns);
	return 0;
}
