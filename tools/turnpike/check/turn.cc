// SPDX-License-Identifier: GPL-2.0
#include "turn.h"

#include <set>

#include <linux/pkt_sched.h>

#include "../process.h"
#include "../setup/host.h"
#include "../setup/qdiscs.h"
#include "bulk.h"
#include "requests.h"

namespace turnpike {
namespace {

using Clock = Requests::Clock;

constexpr double kFindingShare = 0.25;

Clock::duration seconds_of(double seconds)
{
	return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Kinds of a device's qdiscs, the root's first: "mq,onramp".
std::string qdisc_of(const std::string &device)
{
	std::string root;
	std::set<std::string> below;

	for (const Qdisc &qdisc : qdiscs()) {
		if (qdisc.device != device)
			continue;
		if (qdisc.parent == TC_H_ROOT)
			root = qdisc.kind;
		else
			below.insert(qdisc.kind);
	}
	for (const std::string &kind : below)
		root += "," + kind;
	return root;
}

bool tlt_is_on()
{
	auto shown = loaded_modules().count("tlt") ? answer_if_any({"tlt", "show"}) : nullptr;

	return shown.is_object() && shown.value("enabled", false);
}

}  // namespace

Turn run_turn(const Peer &peer, double seconds, const std::string &device)
{
	Turn turn;
	Bulk bulk(peer);
	Requests requests(peer);
	Clock::time_point begin = Clock::now(), from = begin + seconds_of(seconds * kFindingShare);

	turn.qdisc = qdisc_of(device);
	turn.tlt = tlt_is_on();
	requests.run(from, from, bulk);
	Counters before = bulk.counters();
	Clock::time_point counted = Clock::now();
	turn.request_ns = requests.run(counted, begin + seconds_of(seconds), bulk);
	Counters after = bulk.counters();
	turn.seconds = std::chrono::duration<double>(Clock::now() - counted).count();
	turn.congestion = bulk.congestion();
	turn.acked_bytes = after.acked_bytes - before.acked_bytes;
	turn.retransmits = after.retransmits;
	bulk.finish();
	requests.finish();
	return turn;
}

}  // namespace turnpike
