// SPDX-License-Identifier: GPL-2.0
/*
 * Does on purpose, at load, what the checkers of the debug kernel must see.  It is
 * how the tests know that a clean run means something.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/delay.h>

static char *kind = "none";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "none, warn, oops, leak, freed, bounds, shift, locks or atomic");

static DEFINE_MUTEX(first_lock);
static DEFINE_MUTEX(second_lock);
static DEFINE_SPINLOCK(spin);

/* Newer kernels' slabs (7.3, not 6.12) keep the addresses of the last objects that a processor was
 * given, and kmemleak takes what it finds there for a use: of some hundreds not all are there.
 */
#define LOST_OBJECTS	300

static noinline void leak(void)
{
	int i;

	for (i = 0; i < LOST_OBJECTS; i++) {
		void *lost = kmalloc(1000, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(lost);
	}
}

static noinline void use_freed(void)
{
	char *p = kmalloc(100, GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[10], 1);
}

static noinline void run_over_bounds(void)
{
	char *p = kmalloc(100, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[100], 1);
	kfree(p);
}

static noinline void shift_too_far(void)
{
	int bits = 40;

	OPTIMIZER_HIDE_VAR(bits);
	pr_info("shifted to %d\n", 1 << bits);
}

static noinline void lock_both_ways(void)
{
	mutex_lock(&first_lock);
	mutex_lock(&second_lock);
	mutex_unlock(&second_lock);
	mutex_unlock(&first_lock);
	mutex_lock(&second_lock);
	mutex_lock(&first_lock);
	mutex_unlock(&first_lock);
	mutex_unlock(&second_lock);
}

static noinline void sleep_in_atomic(void)
{
	spin_lock(&spin);
	usleep_range(10, 20);
	spin_unlock(&spin);
}

static int __init trouble_init(void)
{
	if (!strcmp(kind, "warn"))
		WARN_ON(1);
	else if (!strcmp(kind, "oops"))
		WRITE_ONCE(*(int *)8, 1);
	else if (!strcmp(kind, "leak"))
		leak();
	else if (!strcmp(kind, "freed"))
		use_freed();
	else if (!strcmp(kind, "bounds"))
		run_over_bounds();
	else if (!strcmp(kind, "shift"))
		shift_too_far();
	else if (!strcmp(kind, "locks"))
		lock_both_ways();
	else if (!strcmp(kind, "atomic"))
		sleep_in_atomic();
	return 0;
}
module_init(trouble_init);

static void __exit trouble_exit(void)
{
}
module_exit(trouble_exit);

MODULE_DESCRIPTION("Trouble on purpose, for the tests of the tests");
MODULE_LICENSE("GPL");
