// SPDX-License-Identifier: GPL-2.0
//
// The word that somebody may have meant.
#ifndef TURNPIKE_TOOLS_SUGGEST_H
#define TURNPIKE_TOOLS_SUGGEST_H

#include <functional>
#include <string>
#include <vector>

namespace turnpike {

// The nearest of the known words, by letters that are wrong, missing or too many; empty if none is near.
std::string suggest(const std::string &word, const std::vector<std::string> &known);

// The end of a sentence that refuses the word: "; did you mean 'timely'?", or nothing.
std::string did_you_mean(const std::string &word, const std::vector<std::string> &known);

// For an option's value: what is wrong with one that is none of these, in words; empty if nothing is.
std::function<std::string(const std::string &)> is_one_of(const std::vector<std::string> &known);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SUGGEST_H
