// SPDX-License-Identifier: GPL-2.0
/*
 * A TCP sender and receiver small enough for an initrd.
 *
 *	flow serve PORT				accept and read for ever
 *	flow send ADDRESS PORT SECONDS CC [BYTES]
 *						send as fast as it goes, print the
 *						bytes that left the socket buffer
 *
 * ADDRESS is IPv4 or IPv6, ADDRESS%DEVICE of that device alone; served are both.  CC names
 * the congestion control; "-" leaves the default.  Until BYTES have left it goes on after
 * SECONDS, and it waits for a server: both a minute at most, since a busy machine may give
 * its guest a tenth of its time and less.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES 65536
#define MAX_FLOWS 64
#define PATIENCE_S 60

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

struct address {
	socklen_t bytes;
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
};

static struct address address_of(const char *text, const char *port)
{
	struct address ipv4 = { .bytes = sizeof(ipv4.in), .in.sin_family = AF_INET };
	struct address ipv6 = { .bytes = sizeof(ipv6.in6), .in6.sin6_family = AF_INET6 };
	char host[INET6_ADDRSTRLEN];

	ipv4.in.sin_port = ipv6.in6.sin6_port = htons(atoi(port));
	snprintf(host, sizeof(host), "%.*s", (int)strcspn(text, "%"), text);
	if (inet_pton(AF_INET, host, &ipv4.in.sin_addr) == 1)
		return ipv4;
	if (inet_pton(AF_INET6, host, &ipv6.in6.sin6_addr) == 1)
		return ipv6;
	fprintf(stderr, "flow: '%s' is no address\n", text);
	exit(1);
}

static _Noreturn void serve(const char *port)
{
	struct address address = address_of("::", port);
	struct pollfd polled[MAX_FLOWS + 1];
	static char chunk[CHUNK_BYTES];
	int on = 1, count = 1, i;

	polled[0].fd = socket(AF_INET6, SOCK_STREAM, 0);
	polled[0].events = POLLIN;
	setsockopt(polled[0].fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(polled[0].fd, &address.any, address.bytes) ||
	    listen(polled[0].fd, MAX_FLOWS))
		err(1, "listen");
	for (;;) {
		if (poll(polled, count, -1) < 0)
			err(1, "poll");
		if ((polled[0].revents & POLLIN) && count <= MAX_FLOWS) {
			polled[count].fd = accept(polled[0].fd, NULL, NULL);
			polled[count].events = POLLIN;
			polled[count].revents = 0;
			if (polled[count].fd >= 0)
				count++;
		}
		for (i = count - 1; i > 0; i--) {
			if (!polled[i].revents)
				continue;
			if (recv(polled[i].fd, chunk, sizeof(chunk), MSG_TRUNC) > 0)
				continue;
			close(polled[i].fd);
			polled[i] = polled[--count];
		}
	}
}

/* A socket that refused may not be connected again: a new one each time. */
static int connected(const char *text, const char *port, const char *cc)
{
	struct address address = address_of(text, port);
	const char *device = strchr(text, '%');
	double end = now_s() + PATIENCE_S;

	for (;;) {
		int fd = socket(address.any.sa_family, SOCK_STREAM, 0);

		if (strcmp(cc, "-") &&
		    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
			err(1, "%s", cc);
		if (device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device + 1,
					 strlen(device + 1)))
			err(1, "%s", device + 1);
		if (!connect(fd, &address.any, address.bytes))
			return fd;
		if (errno != ECONNREFUSED || now_s() > end)
			err(1, "connect");
		close(fd);
		usleep(50000);
	}
}

static long long left(int fd, long long sent)
{
	int unsent = 0;

	ioctl(fd, SIOCOUTQ, &unsent);
	return sent - unsent;
}

static int send_for(int fd, double seconds, long long enough_bytes)
{
	static char chunk[CHUNK_BYTES];
	struct linger abort = { .l_onoff = 1 };
	struct timeval wake = { .tv_usec = 100000 };
	double end = now_s() + seconds;
	long long sent = 0;

	/*
	 * The connection ends with the process.  What is in the buffer would else be
	 * sent after it, for minutes on a slow machine, by a socket that holds modules.
	 */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
	/* Not before: a connect that takes longer (a lost SYN) would fail. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wake, sizeof(wake));
	while (now_s() < end ||
	       (left(fd, sent) < enough_bytes && now_s() < end + PATIENCE_S)) {
		ssize_t n = send(fd, chunk, sizeof(chunk), 0);

		if (n > 0)
			sent += n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	printf("%lld\n", left(fd, sent));
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && !strcmp(argv[1], "serve"))
		serve(argv[2]);
	if ((argc == 6 || argc == 7) && !strcmp(argv[1], "send"))
		return send_for(connected(argv[2], argv[3], argv[5]), atof(argv[4]),
				argc == 7 ? atoll(argv[6]) : 0);
	fprintf(stderr, "usage: flow serve PORT | flow send ADDRESS PORT SECONDS CC [BYTES]\n");
	return 2;
}
