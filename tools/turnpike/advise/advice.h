// SPDX-License-Identifier: GPL-2.0
//
// What turnpike advise is asked, and what it says of one number of flows.
#ifndef TURNPIKE_TOOLS_ADVISE_ADVICE_H
#define TURNPIKE_TOOLS_ADVISE_ADVICE_H

#include <optional>
#include <string>
#include <vector>

namespace turnpike {

// A bottleneck: every flow has a host of its own, and lines of this rate.
struct AdvisedPath {
	double rate_bps = 0;
	double rtt_s = 0;		// without a queue
	std::optional<double> buffer;	// of its port, bytes
};

struct AdviceRow {
	unsigned flows = 0;
	double queue = 0;		// mean, bytes
	double deviation = 0;		// of the queue
	double longest = 0;		// queue
	double delay_s = 0;		// base RTT and mean queue
	std::optional<double> margin = {};	// degrees
	bool oscillates = false;
	std::optional<double> utilization = {};
};

struct AdviceTable {
	std::string law;
	bool simulated = false;		// packets; else a fluid model
	std::string source;
	double seconds = 0;		// that the longest row covers
	std::vector<AdviceRow> rows = {};
	std::vector<std::string> remarks = {};
};

// A law that has no margin oscillates if its queue's deviation is above this part of the mean.
constexpr double kSwing = 0.5;

// The first number of flows whose longest queue is longer than the buffer; 0: none.
inline unsigned first_beyond(const AdviceTable &table, double buffer)
{
	for (const AdviceRow &row : table.rows)
		if (row.longest > buffer)
			return row.flows;
	return 0;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_ADVICE_H
