/* SPDX-License-Identifier: GPL-2.0 */
/* skb_gso_segment() moved from linux/netdevice.h to a header of its own in 6.5. */
#ifndef TURNPIKE_COMPAT_GSO_H
#define TURNPIKE_COMPAT_GSO_H

#if __has_include(<net/gso.h>)
#include <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif /* TURNPIKE_COMPAT_GSO_H */
