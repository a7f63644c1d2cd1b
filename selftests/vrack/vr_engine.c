// SPDX-License-Identifier: GPL-2.0
/*
 * The rack's clock and its events.
 *
 * Two heaps. `host` events are those whose effect a host sees when they
 * run: a frame reaching a NIC, a transmit completion, an interrupt. The
 * timer fires exactly at the first of them. All others (frames inside
 * switches) reach a host one cable delay later at the soonest, so they may
 * run late by that much, in batches, each still with its own exact time:
 * both heaps are drained in one order of time. This is conservative
 * lookahead as in Chandy, Misra and Bryant's distributed simulation; it
 * halves the timer interrupts of a rack and changes no result.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/mm.h>

#include "compat/compat.h"
#include "vr.h"

#define HEAP_MAX	(VR_NODES_MAX * 8)	/* 2 events a port, 4 ports a node on average */

struct vr_heap {
	u32 count;
	struct vr_event **ev;
};

enum { INSIDE, HOST, HEAPS };

static struct vr_heap heaps[HEAPS];
static struct hrtimer timer;
static u64 slack_ps;		/* see top; 0 until `up` knows the cables */
static u64 armed_ps = U64_MAX;	/* what the timer is set to */

u64 vr_now_ps(void)
{
	return (ktime_get_ns() - vrack.epoch_ns) * VR_PS_PER_NS;
}

/* xorshift64* (Vigna 2014): one multiply, and the same in every run. */
u32 vr_random(void)
{
	u64 x = vrack.rng;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	vrack.rng = x;
	return (x * 0x2545F4914F6CDD1DULL) >> 32;
}

/*
 * Exponential with the given mean: -ln(r / 2^32) = (32 - log2 r) ln 2, log2
 * from 32 chords an octave (error below 2e-4).
 */
u64 vr_random_exp(u64 mean)
{
	/* log2(1 + i/32) in 1/65536 */
	static const u32 log2_q16[33] = {
		0, 2909, 5732, 8473, 11136, 13727, 16248, 18704, 21098, 23433, 25711,
		27936, 30109, 32234, 34312, 36346, 38336, 40286, 42196, 44068, 45904,
		47705, 49472, 51207, 52911, 54584, 56229, 57845, 59434, 60997, 62534,
		64047, 65536,
	};
	u32 r = vr_random() | 1;
	u32 octave = fls(r) - 1;
	u32 frac = octave ? (u32)(((u64)r << (32 - octave)) & U32_MAX) : 0;
	u32 i = frac >> 27;
	u32 log2 = (octave << 16) + log2_q16[i] +
		   (((log2_q16[i + 1] - log2_q16[i]) * ((frac >> 11) & 0xffff)) >> 16);

	/* ln 2 = 45426 / 65536 */
	return mul_u64_u64_div_u64(mean, (u64)((32 << 16) - log2) * 45426, 1ULL << 32);
}

static bool earlier(const struct vr_event *a, const struct vr_event *b)
{
	return a->when_ps < b->when_ps || (a->when_ps == b->when_ps && a->order < b->order);
}

static void heap_put(struct vr_heap *h, u32 slot, struct vr_event *ev)
{
	h->ev[slot] = ev;
	ev->slot = slot;
}

static void heap_up(struct vr_heap *h, u32 slot, struct vr_event *ev)
{
	while (slot) {
		u32 parent = (slot - 1) / 2;

		if (!earlier(ev, h->ev[parent]))
			break;
		heap_put(h, slot, h->ev[parent]);
		slot = parent;
	}
	heap_put(h, slot, ev);
}

static void heap_down(struct vr_heap *h, u32 slot, struct vr_event *ev)
{
	for (;;) {
		u32 child = 2 * slot + 1;

		if (child >= h->count)
			break;
		if (child + 1 < h->count && earlier(h->ev[child + 1], h->ev[child]))
			child++;
		if (!earlier(h->ev[child], ev))
			break;
		heap_put(h, slot, h->ev[child]);
		slot = child;
	}
	heap_put(h, slot, ev);
}

static void heap_remove(struct vr_heap *h, u32 slot)
{
	struct vr_event *last = h->ev[--h->count];

	if (slot == h->count)
		return;
	if (slot && earlier(last, h->ev[(slot - 1) / 2]))
		heap_up(h, slot, last);
	else
		heap_down(h, slot, last);
}

void vr_event_init(struct vr_event *ev, bool host, void (*fn)(struct vr_event *ev, u64 now_ps))
{
	ev->slot = -1;
	ev->host = host;
	ev->fn = fn;
}

void vr_event_cancel(struct vr_event *ev)
{
	if (ev->slot < 0)
		return;
	heap_remove(&heaps[ev->host ? HOST : INSIDE], ev->slot);
	ev->slot = -1;
}

/* (Re)schedule. -ENOSPC when the heap is full, which `up` rules out by its checks. */
int vr_event_set(struct vr_event *ev, u64 when_ps)
{
	struct vr_heap *h = &heaps[ev->host ? HOST : INSIDE];

	vr_event_cancel(ev);
	if (WARN_ON_ONCE(h->count == HEAP_MAX))
		return -ENOSPC;
	ev->when_ps = when_ps;
	ev->order = vrack.order++;
	heap_up(h, h->count++, ev);
	return 0;
}

/* The earlier of the two heaps' first events, or NULL. */
static struct vr_event *first_event(void)
{
	struct vr_event *in = heaps[INSIDE].count ? heaps[INSIDE].ev[0] : NULL;
	struct vr_event *host = heaps[HOST].count ? heaps[HOST].ev[0] : NULL;

	if (!in || !host)
		return in ?: host;
	return earlier(host, in) ? host : in;
}

static void run_until(u64 now_ps)
{
	struct vr_event *ev;

	while ((ev = first_event()) && ev->when_ps <= now_ps) {
		vr_event_cancel(ev);
		ev->fn(ev, ev->when_ps);
	}
}

static void arm(void)
{
	u64 next = U64_MAX;

	if (heaps[HOST].count)
		next = heaps[HOST].ev[0]->when_ps;
	if (heaps[INSIDE].count)
		next = min(next, heaps[INSIDE].ev[0]->when_ps + slack_ps);
	if (next == armed_ps || next == U64_MAX)
		return;
	armed_ps = next;
	hrtimer_start(&timer, ns_to_ktime(vrack.epoch_ns + DIV_ROUND_UP_ULL(next, VR_PS_PER_NS)),
		      HRTIMER_MODE_ABS_SOFT);
}

/*
 * Every way into the rack: take the lock, bring the rack up to this moment.
 * Returns the rack's time. Bottom halves must be off.
 */
u64 vr_enter(void)
	__acquires(&vrack.lock)
{
	u64 now_ps;

	spin_lock(&vrack.lock);
	now_ps = vr_now_ps();
	run_until(now_ps);
	return now_ps;
}

/*
 * And out: set the timer, unlock, then free. Freeing runs socket callbacks,
 * which must not find the rack locked.
 */
void vr_leave(void)
	__releases(&vrack.lock)
{
	struct sk_buff_head done;

	arm();
	__skb_queue_head_init(&done);
	skb_queue_splice_init(&vrack.done, &done);
	spin_unlock(&vrack.lock);

	while (!skb_queue_empty(&done))
		consume_skb(__skb_dequeue(&done));
}

static enum hrtimer_restart timer_fired(struct hrtimer *t)
{
	/* vr_enter() may find the clock a fraction before the event: arm() sets it anew */
	spin_lock(&vrack.lock);
	armed_ps = U64_MAX;
	run_until(vr_now_ps());
	vr_leave();
	return HRTIMER_NORESTART;
}

/* How late inside events may run: the shortest cable that ends in a NIC. */
void vr_engine_slack(u64 ps)
{
	slack_ps = ps;
}

static void free_heaps(void)
{
	int i;

	for (i = 0; i < HEAPS; i++)
		kvfree(heaps[i].ev);
}

int vr_engine_init(void)
{
	int i;

	for (i = 0; i < HEAPS; i++) {
		heaps[i].ev = kvcalloc(HEAP_MAX, sizeof(*heaps[i].ev), GFP_KERNEL);
		if (!heaps[i].ev) {
			free_heaps();
			return -ENOMEM;
		}
	}
	spin_lock_init(&vrack.lock);
	__skb_queue_head_init(&vrack.done);
	vrack.rng = 1;
	vrack.epoch_ns = ktime_get_ns();
	tp_hrtimer_setup(&timer, timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	return 0;
}

void vr_engine_exit(void)
{
	hrtimer_cancel(&timer);
	free_heaps();
}
