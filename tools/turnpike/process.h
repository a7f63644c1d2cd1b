// SPDX-License-Identifier: GPL-2.0
//
// Running other programs, and this one again.
#ifndef TURNPIKE_TOOLS_PROCESS_H
#define TURNPIKE_TOOLS_PROCESS_H

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike {

using Words = std::vector<std::string>;

struct Ended {
	int status;		// as a shell has it: 127 where there is no such program
	std::string output;
	std::string errors;

	// What it said last, or its status.
	std::string said() const;
};

// No shell looks at the words. Users have no sbin in their PATH, where some distributions have programs: it is looked
// in, too. `turnpike' is this program. input: what it reads.
Ended run(const Words &words, const std::string &input = "");

// Its output; throws Error with what it said if it fails.
std::string output_of(const Words &words);

// What another subcommand of turnpike prints as JSON; throws Error if it cannot.
nlohmann::ordered_json answer_of(const Words &words);

// The same; null if it cannot.
nlohmann::ordered_json answer_if_any(const Words &words);

// As one would type it.
std::string shell_text(const Words &words);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_PROCESS_H
