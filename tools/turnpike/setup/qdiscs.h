// SPDX-License-Identifier: GPL-2.0
//
// Queueing disciplines as the kernel has them, with their options as it tells them: what is put back is what was
// there, whatever this command knows of its kind.
#ifndef TURNPIKE_TOOLS_SETUP_QDISCS_H
#define TURNPIKE_TOOLS_SETUP_QDISCS_H

#include <cstdint>
#include <string>
#include <vector>

namespace turnpike {

struct Qdisc {
	std::string device, kind;
	std::uint32_t handle = 0;	// 0: the kernel chose it, nobody asked for it
	std::uint32_t parent = 0;	// TC_H_ROOT at the root
	std::string options;		// TCA_OPTIONS
	std::string app;		// TCA_STATS_APP, the kind's own counters
	std::uint64_t drops = 0, packets = 0;
	bool stab = false;		// it has a table of sizes
};

// Of this network namespace.
std::vector<Qdisc> qdiscs();

// Of an onramp: those that turnpike.conf has words for, and what doctor compares.
struct OnrampOptions {
	std::uint32_t threshold_ns = 0;
	std::uint64_t line_rate_bps = 0;	// 0: it asks the device
	std::uint32_t pause_max_us = 0;
};

OnrampOptions onramp_options(const Qdisc &onramp);

// The filters of one that may have some, as "pref 10 u32"; the kernel's own of mq's classes have none.
std::vector<std::string> filters_of(const Qdisc &qdisc);

// Puts one in the place of what stands there. Throws Error.
void restore_qdisc(const Qdisc &qdisc);

// `root', or `parent 1:2', as tc takes it.
std::vector<std::string> place_words(std::uint32_t parent);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_QDISCS_H
