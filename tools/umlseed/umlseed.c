// SPDX-License-Identifier: GPL-2.0
/*
 * getrandom(2) of a User Mode Linux kernel, from a seed.
 *
 * All randomness a UML kernel starts with, and all that it stirs in later, comes from
 * getrandom() of the machine (arch/um: setup_arch(), arch_get_random_longs()).  Loaded
 * before it (LD_PRELOAD), this answers with bytes that depend on TURNPIKE_SEED alone:
 * with simulated time a guest then does the same in every run, ports, sequence numbers,
 * hash secrets and all.
 *
 * The bytes are those of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
 * number generators", OOPSLA 2014): any seed will do, neighbours are as good as others.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The kernel is one thread when it asks. */
static uint64_t state;

__attribute__((constructor)) static void read_seed(void)
{
	const char *text = getenv("TURNPIKE_SEED");
	char *end;

	state = text ? strtoull(text, &end, 10) : 0;
	if (text && *text && !*end)
		return;
	fprintf(stderr, "umlseed: TURNPIKE_SEED has to be a number\n");
	exit(125);
}

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	uint64_t word;
	size_t at, part;

	(void)flags;
	for (at = 0; at < length; at += part) {
		part = length - at < sizeof(word) ? length - at : sizeof(word);
		word = next();
		memcpy((char *)buffer + at, &word, part);
	}
	return (ssize_t)length;
}
