# SPDX-License-Identifier: GPL-2.0
# What a kernel prints when something is wrong with it, as a pattern for grep -E.
# shellcheck shell=sh disable=SC2034

trouble='BUG[: ]|WARNING: |Oops|Kernel panic|general protection|Call Trace:'
trouble="$trouble|KASAN|UBSAN|ODEBUG|INFO: .*(lock|stall|hung|task|trying to register)"
trouble="$trouble|possible (circular|recursive) lock|suspicious RCU|inconsistent lock state"
trouble="$trouble|refcount_t:|scheduling while atomic|sleeping function called|Bad page state"
trouble="$trouble|unregister_netdevice: waiting|leaked|Modules linked in|Segfault with no mm"
