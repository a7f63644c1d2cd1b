// SPDX-License-Identifier: GPL-2.0
//
// Rules of the papers for thresholds: On-Ramp's T, and TLT's K with the buffer that it leaves.
#ifndef TURNPIKE_TOOLS_ADVISE_RULES_H
#define TURNPIKE_TOOLS_ADVISE_RULES_H

#include <algorithm>

#include "../tlt.h"

namespace turnpike {

struct AdvisedThreshold {
	double owd_s;		// T, of the whole one-way delay
	double queue_s;		// of the queue alone, as the qdisc takes it: the least that errors do not reach
};

// ONRAMP21 section 7.1: T = 2 sigma_clk + min OWD. The least one-way delay is taken for half of the RTT.
inline AdvisedThreshold onramp_threshold(double rtt_s, double clock_error_s)
{
	return {2 * clock_error_s + rtt_s / 2, 2 * clock_error_s};
}

// TLT21 section 4.2: K is above the longest queue of steady traffic. For TCP that is the bandwidth-delay product; what a
// table says is more, counts.
inline TltSwitch tlt_switch(double rate_bps, double rtt_s, double longest_queue, double buffer)
{
	TltSwitch sw;

	sw.bdp_bytes = rate_bps / 8 * rtt_s;
	sw.ecn_bytes = longest_queue;
	sw.buffer_bytes = buffer;
	return sw;
}

// The least buffer whose dynamic threshold leaves K, and a packet of each flow: alpha B / (1 + M alpha) solved for B.
inline double tlt_least_buffer(const TltSwitch &sw, double k, double flows)
{
	return (k + flows * sw.packet_bytes) * (1 + sw.ports * sw.alpha) / sw.alpha;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_RULES_H
