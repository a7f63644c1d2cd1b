// SPDX-License-Identifier: GPL-2.0
/*
 * The allocations made while packets flow.
 *
 * Where the kernel can inject faults they can be made to fail, these and no others:
 * debugfs' fail_onramp has the knobs of Documentation/fault-injection.  Traffic must go
 * on through such failures.
 */
#include <linux/types.h>
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/slab.h>

#include "onramp.h"

#if IS_ENABLED(CONFIG_FAULT_INJECTION_DEBUG_FS)

static DECLARE_FAULT_ATTR(onramp_fault);
static struct dentry *onramp_fault_dir;

static bool onramp_alloc_fails(struct kmem_cache *cache)
{
	return should_fail(&onramp_fault, kmem_cache_size(cache));
}

int onramp_alloc_init(void)
{
	struct dentry *dir = fault_create_debugfs_attr("fail_onramp", NULL, &onramp_fault);

	onramp_fault.verbose = 0;
	onramp_fault_dir = IS_ERR(dir) ? NULL : dir;
	return 0;
}

void onramp_alloc_exit(void)
{
	debugfs_remove(onramp_fault_dir);
}

#else

static bool onramp_alloc_fails(struct kmem_cache *cache)
{
	return false;
}

int onramp_alloc_init(void)
{
	return 0;
}

void onramp_alloc_exit(void)
{
}

#endif

void *onramp_alloc(struct kmem_cache *cache, gfp_t flags)
{
	return onramp_alloc_fails(cache) ? NULL : kmem_cache_alloc(cache, flags);
}
