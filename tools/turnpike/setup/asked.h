// SPDX-License-Identifier: GPL-2.0
//
// The words of a command line that say what is wanted of this host.
#ifndef TURNPIKE_TOOLS_SETUP_ASKED_H
#define TURNPIKE_TOOLS_SETUP_ASKED_H

#include <string>
#include <vector>

#include "wanted.h"

namespace turnpike {

struct Asked {
	std::vector<std::string> devices;
	std::vector<std::string> prefixes;
	std::vector<std::string> pieces;	// in place of a profile
	std::string profile;			// empty: the first of profile_names()
	std::vector<std::string> rules;		// of TLT; "all" alone for all TCP
	std::string threshold, line_rate;	// of onramp; empty: its own
};

// Throws Error for what contradicts itself, or lacks something.
Wanted wanted_by(const Asked &asked);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_ASKED_H
