// SPDX-License-Identifier: GPL-2.0
//
// Connections, queues and namespaces as turnpike status takes them, for tests of what it and doctor make of them.
#ifndef TURNPIKE_SELFTESTS_UNIT_SHOWN_NAMESPACE_H
#define TURNPIKE_SELFTESTS_UNIT_SHOWN_NAMESPACE_H

#include <cstdint>
#include <string>

#include <linux/pkt_sched.h>

#include "include/uapi/turnpike.h"
#include "show/status.h"

namespace turnpike {

using Json = nlohmann::ordered_json;

inline Socket socket_of(const char *congctl, std::uint32_t rtt_us)
{
	Socket socket;

	socket.congctl = congctl;
	socket.rtt_us = rtt_us;
	socket.retransmits = 1;
	return socket;
}

inline Qdisc queue(const char *device, std::uint64_t samples, std::uint64_t p50_ns, std::uint64_t p99_ns)
{
	tc_onramp_stats stats = {};
	Qdisc qdisc;

	stats.samples = samples;
	stats.delay_p50_ns = p50_ns;
	stats.delay_p99_ns = p99_ns;
	stats.held_packets = 5;
	stats.ignored_unknown = 1;
	stats.ignored_late = 2;
	stats.ignored_unstamped = 3;
	stats.held_ns = 700;
	stats.controlled_flows = 2;
	stats.line_rate = 1250000000;
	qdisc.device = device;
	qdisc.kind = "onramp";
	qdisc.packets = 100;
	qdisc.drops = 1;
	qdisc.app.assign(reinterpret_cast<char *>(&stats), sizeof(stats));
	return qdisc;
}

inline Json space()
{
	return {{"netns", ""}, {"timely", nullptr}, {"devices", Json::array()}, {"peers", nullptr}, {"tlt", nullptr},
		{"setup", nullptr}, {"verdict", ""}};
}

inline Json with_devices(std::uint64_t samples, std::uint64_t packets, unsigned flows)
{
	Json one = space();

	one["devices"] = onramp_json({queue("eth0", samples, 5000, 60000)});
	one["devices"][0]["packets"] = packets;
	one["devices"][0]["flows"] = flows;
	return one;
}

inline Json without_feedback()
{
	Json one = with_devices(0, 100, 0);

	one["peers"] = {{"answering", 0}, {"silent", {"10.0.3.9"}}};
	return one;
}

}  // namespace turnpike

#endif
