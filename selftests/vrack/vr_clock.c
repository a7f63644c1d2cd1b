// SPDX-License-Identifier: GPL-2.0
/*
 * Moving simulated time on without going idle. In User Mode Linux with
 * time-travel=inf-cpu time stands still while anybody computes; it moves when
 * the processor is idle, from timer to timer. When the rack's next event is the
 * next thing of all to happen, setting the clock to it from where we stand is
 * the same, and saves the way through the idle loop, the timer interrupt and
 * the reprogramming of the timer: a fifth of a run.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/sched.h>

#include "vr.h"

#ifdef CONFIG_UML_TIME_TRAVEL_SUPPORT

/* The clock device is programmed a nanosecond late (itimer_next_event()). */
#define WAKE_LATE_NS	1

/* Nobody but the rack has anything to do at this moment. */
static bool all_quiet(void)
{
	return is_idle_task(current) && !need_resched() && !local_softirq_pending();
}

/*
 * From when on a timer interrupt would run somebody, by CLOCK_MONOTONIC. Timers
 * with slack (fq's watchdog, TCP's compressed ACKs) run at any interrupt between
 * their soft and hard expiry: an interrupt left out would make them late.
 */
static u64 next_timer_ns(struct hrtimer_cpu_base *cpu)
{
	unsigned int active = cpu->active_bases;
	struct hrtimer_clock_base *base;
	struct hrtimer *first;
	s64 next = KTIME_MAX;

	while (active) {
		base = &cpu->clock_base[__ffs(active)];
		active &= active - 1;
		first = tp_hrtimer_first(base);
		if (first)
			next = min_t(s64, next,
				     ktime_sub(hrtimer_get_softexpires(first), base->offset));
	}
	return max_t(s64, next, 0);
}

/* Does time stand still until somebody moves it? */
bool vr_clock_stands(void)
{
	return time_travel_mode == TT_MODE_INFCPU;
}

/* Does another timer wait for its turn at this moment? Called from @timer's callback. */
bool vr_clock_due(const struct hrtimer *timer)
{
	unsigned long flags;
	bool due;

	local_irq_save(flags);
	due = next_timer_ns(timer->base->cpu_base) <= ktime_get_ns();
	local_irq_restore(flags);
	return due;
}

/*
 * Move the clock from @now_ns to where @timer, which must not be queued, would
 * fire if it were set to @due_ns. Returns the new time, or 0 when somebody else
 * runs before that: then nothing has happened. Bottom halves are off.
 */
u64 vr_clock_advance(const struct hrtimer *timer, u64 now_ns, u64 due_ns)
{
	struct hrtimer_cpu_base *cpu = timer->base->cpu_base;
	u64 wake_ns = due_ns + WAKE_LATE_NS;
	unsigned long flags;
	bool first;

	if (!vr_clock_stands() || !cpu->hres_active || !all_quiet())
		return 0;
	local_irq_save(flags);
	first = wake_ns < next_timer_ns(cpu);
	if (first)
		ndelay(wake_ns - now_ns);
	local_irq_restore(flags);
	return first ? wake_ns : 0;
}

#else

bool vr_clock_stands(void)
{
	return false;
}

bool vr_clock_due(const struct hrtimer *timer)
{
	return true;
}

u64 vr_clock_advance(const struct hrtimer *timer, u64 now_ns, u64 due_ns)
{
	return 0;
}

#endif
