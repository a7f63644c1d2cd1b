/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ports of switches write into a packet that passes them: in-band telemetry (INT), as HPCC's
 * switches do it ("HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3).
 */
#ifndef VR_TELEMETRY_H
#define VR_TELEMETRY_H

#include "include/turnpike_types.h"

/* From host to host through a fat tree of three levels. */
#define VR_TELEMETRY_HOPS	5

/* As the packet left the port's queue; what the packet itself is worth is in neither number. */
struct vr_hop_said {
	u64 at_ns;
	u64 sent_bytes;		/* so far, on the wire */
	u32 queue_bytes;	/* behind the packet */
	u32 mbps;		/* of the port */
};

struct vr_telemetry {
	u32 hops;
	struct vr_hop_said hop[VR_TELEMETRY_HOPS];	/* in the packet's order */
};

#ifdef __KERNEL__

struct sock;

/* Of the packet whose data end at @una, as if its ACK had brought it. False: that is not known.
 * Bottom halves on or off.
 */
bool vr_telemetry_of(const struct sock *sk, u32 una, struct vr_telemetry *t);

#endif /* __KERNEL__ */
#endif /* VR_TELEMETRY_H */
