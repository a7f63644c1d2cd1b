// SPDX-License-Identifier: GPL-2.0
//
// The word that somebody may have meant.
#ifndef TURNPIKE_TOOLS_SUGGEST_H
#define TURNPIKE_TOOLS_SUGGEST_H

#include <string>
#include <vector>

namespace turnpike {

// The nearest of the known words, by letters that are wrong, missing or too many; empty if none is near.
std::string suggest(const std::string &word, const std::vector<std::string> &known);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SUGGEST_H
