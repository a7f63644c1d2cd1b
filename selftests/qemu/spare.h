/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of this machine nobody wants.
 *
 * Made for a guest with one processor that takes a nanosecond for every instruction
 * (qemu -icount shift=0).  A process of the idle scheduling class counts in all the time
 * that nobody else wants; what is missing of it against a calm machine was spent on what
 * is measured, by processes, softirqs and timers alike.
 */
#ifndef SPARE_H
#define SPARE_H

#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SPARE_CALM_NS	500000000LL	/* to learn how fast the counter counts */
#define SPARE_REST_US	100000		/* until what was done before has no more effects */

struct spare {
	volatile uint64_t *count;
	pid_t child;
	double per_ns;			/* counts while nothing else is to be done */
	uint64_t before;
	int64_t begin_ns;
};

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void spare_begin(struct spare *s)
{
	s->begin_ns = now_ns();
	s->before = *s->count;
}

/* Nanoseconds that were wanted since spare_begin(). */
static inline double spare_busy_ns(const struct spare *s)
{
	return now_ns() - s->begin_ns - (*s->count - s->before) / s->per_ns;
}

static inline void spare_start(struct spare *s)
{
	struct sched_param none = { 0 };

	s->count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->count == MAP_FAILED)
		err(1, "mmap");
	s->child = fork();
	if (s->child < 0)
		err(1, "fork");
	if (!s->child) {
		if (sched_setscheduler(0, SCHED_IDLE, &none))
			err(1, "sched_setscheduler");
		for (;;)
			(*s->count)++;
	}
	usleep(SPARE_REST_US);
	spare_begin(s);
	usleep(SPARE_CALM_NS / 1000);
	s->per_ns = (double)(*s->count - s->before) / (now_ns() - s->begin_ns);
}

static inline void spare_stop(const struct spare *s)
{
	kill(s->child, SIGKILL);
}

#endif /* SPARE_H */
