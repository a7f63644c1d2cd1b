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
 * halves the wake-ups of a rack and changes no result.
 *
 * Once awake, the timer's callback goes on from event to event by itself, and
 * polls the NICs, for as long as nobody else has anything to do (vr_clock.c).
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/mm.h>

#include "compat/compat.h"
#include "vr.h"

#define HEAP_MAX	(VR_NODES_MAX * 8)	/* 2 events a port, 4 ports a node on average */

/* What is compared stands in the heap: most events compared are not touched. */
struct vr_slot {
	u64 when_ps;
	u64 order;		/* equal times run in the order of scheduling */
	struct vr_event *ev;
};

/*
 * While the first event runs, its place stays as it is (nothing is earlier): most
 * events set themselves or another one anew, which then takes it.
 */
struct vr_heap {
	u32 count;
	bool vacant;		/* slot[0]'s event is running */
	struct vr_slot *slot;
};

enum { INSIDE, HOST, HEAPS };

static struct vr_heap heaps[HEAPS];
static struct hrtimer timer;
static u64 slack_ps;		/* see top; 0 until `up` knows the cables */
static u64 armed_ps = U64_MAX;	/* what the timer is set to */
static bool driving;		/* timer_fired() is at work: it looks after the next event, */
static LIST_HEAD(polls);	/* and after these NICs */
static u64 moment_ns;		/* while it is, and time stands: what time it is; else 0 */

u64 vr_now_ps(void)
{
	u64 now_ns = moment_ns ?: ktime_get_ns();

	return (now_ns - vrack.epoch_ns) * VR_PS_PER_NS;
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

static bool earlier(const struct vr_slot *a, const struct vr_slot *b)
{
	return a->when_ps < b->when_ps || (a->when_ps == b->when_ps && a->order < b->order);
}

static void heap_put(struct vr_heap *h, u32 i, const struct vr_slot *s)
{
	h->slot[i] = *s;
	s->ev->slot = i;
}

static void heap_up(struct vr_heap *h, u32 i, const struct vr_slot *s)
{
	while (i) {
		u32 parent = (i - 1) / 2;

		if (!earlier(s, &h->slot[parent]))
			break;
		heap_put(h, i, &h->slot[parent]);
		i = parent;
	}
	heap_put(h, i, s);
}

static void heap_down(struct vr_heap *h, u32 i, const struct vr_slot *s)
{
	for (;;) {
		u32 child = 2 * i + 1;

		if (child >= h->count)
			break;
		if (child + 1 < h->count && earlier(&h->slot[child + 1], &h->slot[child]))
			child++;
		if (!earlier(&h->slot[child], s))
			break;
		heap_put(h, i, &h->slot[child]);
		i = child;
	}
	heap_put(h, i, s);
}

static void heap_settle(struct vr_heap *h, u32 i, const struct vr_slot *s)
{
	if (i && earlier(s, &h->slot[(i - 1) / 2]))
		heap_up(h, i, s);
	else
		heap_down(h, i, s);
}

static void heap_remove(struct vr_heap *h, u32 i)
{
	struct vr_slot last = h->slot[--h->count];

	if (i != h->count)
		heap_settle(h, i, &last);
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
	struct vr_slot s = { .when_ps = when_ps, .order = vrack.order++, .ev = ev };

	if (ev->slot >= 0) {
		heap_settle(h, ev->slot, &s);
		return 0;
	}
	if (h->vacant) {
		h->vacant = false;
		heap_down(h, 0, &s);
		return 0;
	}
	if (WARN_ON_ONCE(h->count == HEAP_MAX))
		return -ENOSPC;
	heap_up(h, h->count++, &s);
	return 0;
}

/* The heap with the earlier of the two first events, or NULL. */
static struct vr_heap *first_heap(void)
{
	struct vr_heap *in = &heaps[INSIDE], *host = &heaps[HOST];

	if (!in->count || !host->count)
		return in->count ? in : host->count ? host : NULL;
	return earlier(&host->slot[0], &in->slot[0]) ? host : in;
}

static void run_first(struct vr_heap *h)
{
	struct vr_event *ev = h->slot[0].ev;
	u64 when_ps = h->slot[0].when_ps;

	ev->slot = -1;
	h->vacant = true;
	ev->fn(ev, when_ps);
	if (h->vacant)
		heap_remove(h, 0);
	h->vacant = false;
}

static void run_until(u64 now_ps)
{
	struct vr_heap *h;

	while ((h = first_heap()) && h->slot[0].when_ps <= now_ps)
		run_first(h);
}

/* When the rack wants to be woken: the next moment that a host can see. U64_MAX: never. */
static u64 next_due_ps(void)
{
	u64 next = U64_MAX;

	if (heaps[HOST].count)
		next = heaps[HOST].slot[0].when_ps;
	if (heaps[INSIDE].count)
		next = min(next, heaps[INSIDE].slot[0].when_ps + slack_ps);
	return next;
}

static u64 to_ktime_ns(u64 ps)
{
	return vrack.epoch_ns + DIV_ROUND_UP_ULL(ps, VR_PS_PER_NS);
}

static void arm(void)
{
	u64 next = next_due_ps();

	if (driving || next == armed_ps || next == U64_MAX)
		return;
	armed_ps = next;
	hrtimer_start(&timer, ns_to_ktime(to_ktime_ns(next)), HRTIMER_MODE_ABS_SOFT);
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

/* @nic has raised its interrupt. */
void vr_engine_poll(struct vr_nic *nic)
{
	if (driving)
		list_add_tail(&nic->poll_link, &polls);
	else
		napi_schedule(&nic->napi);
}

/* The interrupts raised since the last time, in the order in which they were. */
static void take_polls(struct list_head *taken)
{
	spin_lock(&vrack.lock);
	list_splice_init(&polls, taken);
	spin_unlock(&vrack.lock);
}

/* Let the NICs that have raised an interrupt be polled: at once if they have their turn. */
static void poll_nics(bool here)
{
	struct vr_nic *nic, *next;
	LIST_HEAD(taken);

	take_polls(&taken);
	list_for_each_entry_safe(nic, next, &taken, poll_link) {
		list_del_init(&nic->poll_link);
		vr_nic_poll(nic, here);
	}
}

/*
 * This moment's events, and what the hosts make of them. Softirqs that wait have
 * their order among themselves, and other timers of this moment (@due) their turn
 * before the receive softirq.
 */
static void run_moment(bool due)
{
	vr_enter();
	vr_leave();
	if (!list_empty(&polls))
		poll_nics(!due && !local_softirq_pending());
}

/* On to the next moment, if nothing else happens before it. */
static bool next_moment(void)
{
	u64 due_ps = next_due_ps(), next_ns;

	if (!list_empty(&polls))
		return true;
	if (due_ps == U64_MAX)
		return false;
	next_ns = vr_clock_advance(&timer, moment_ns, to_ktime_ns(due_ps));
	if (next_ns)
		moment_ns = next_ns;
	return next_ns;
}

static enum hrtimer_restart timer_fired(struct hrtimer *t)
{
	bool due = !vr_clock_stands() || vr_clock_due(&timer);
	bool more;

	spin_lock(&vrack.lock);
	driving = true;
	armed_ps = U64_MAX;
	moment_ns = vr_clock_stands() ? ktime_get_ns() : 0;
	do {
		spin_unlock(&vrack.lock);
		run_moment(due);
		due = false;
		spin_lock(&vrack.lock);
		more = next_moment();
	} while (more);
	driving = false;
	moment_ns = 0;
	/* the clock may have been a fraction before the event: vr_leave() sets the timer anew */
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
		kvfree(heaps[i].slot);
}

int vr_engine_init(void)
{
	int i;

	for (i = 0; i < HEAPS; i++) {
		heaps[i].slot = kvcalloc(HEAP_MAX, sizeof(*heaps[i].slot), GFP_KERNEL);
		if (!heaps[i].slot) {
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

/* No event is left and the rack is down: nothing runs any more when this returns. */
void vr_engine_stop(void)
{
	hrtimer_cancel(&timer);
}

void vr_engine_exit(void)
{
	free_heaps();
}
