// SPDX-License-Identifier: GPL-2.0
//
// What turns with and without a profile say: is it worth it on this path? Nothing here touches a network.
#ifndef TURNPIKE_TOOLS_CHECK_VERDICT_H
#define TURNPIKE_TOOLS_CHECK_VERDICT_H

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "estimate.h"

namespace turnpike {

// Traffic of one setting for a while, on connections of its own.
struct Turn {
	bool with_profile = false;
	std::string congestion;			// of its connections, as the kernel says it
	std::string qdisc;			// of the device meanwhile
	bool tlt = false;			// it was on meanwhile
	double seconds = 0;			// that were measured
	std::uint64_t acked_bytes = 0;		// of the long flows, in these seconds
	std::uint64_t retransmits = 0;		// of the long flows, segments since they began
	std::vector<double> request_ns;		// from a request to the end of its answer
};

// Times of each setting over its turns; rates alike.
struct Figures {
	Estimate p50_ns, p99_ns, throughput_bps;
};

enum class Worth { yes, no, unclear };

struct Verdict {
	Figures as_is, with_profile;
	Estimate p99_ratio, throughput_ratio;	// with the profile to without
	Worth worth = Worth::unclear;
	std::string why;			// where it is not worth it, or unclear
};

// Turns of which one setting's first and the other's first are a pair, and so on. Throws Error for too few requests.
Verdict judge(const std::vector<Turn> &turns);

// A sentence: "p99 of requests 2.30 ms -> 61.0 us, throughput 99.4 % of before".
std::string sentence(const Verdict &verdict);

// For people, with intervals: a table, and what it comes to. profile: its name
std::string report_table(const Verdict &verdict, const std::string &profile);
std::string report_sentences(const Verdict &verdict, const std::string &profile);

// The same, and each turn.
nlohmann::ordered_json report_json(const Verdict &verdict, const std::vector<Turn> &turns);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_VERDICT_H
