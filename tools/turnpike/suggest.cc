// SPDX-License-Identifier: GPL-2.0
#include "suggest.h"

#include <algorithm>
#include <numeric>

#include "units.h"

namespace turnpike {
namespace {

// Levenshtein's distance, a row at a time.
std::size_t distance(const std::string &a, const std::string &b)
{
	std::vector<std::size_t> row(b.size() + 1);

	std::iota(row.begin(), row.end(), 0);
	for (std::size_t i = 0; i < a.size(); i++) {
		std::size_t left_above = row[0];

		row[0] = i + 1;
		for (std::size_t j = 0; j < b.size(); j++) {
			std::size_t changed = left_above + (a[i] != b[j]);

			left_above = row[j + 1];
			row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, changed});
		}
	}
	return row.back();
}

}  // namespace

std::string suggest(const std::string &word, const std::vector<std::string> &known)
{
	std::string best;
	// A third of the letters may be wrong, or two that changed places.
	std::size_t least = std::min(std::max<std::size_t>(2, word.size() / 3) + 1, word.size());

	for (const std::string &candidate : known) {
		std::size_t far = distance(word, candidate);

		if (far < least) {
			least = far;
			best = candidate;
		}
	}
	return best;
}

std::string did_you_mean(const std::string &word, const std::vector<std::string> &known)
{
	std::string meant = suggest(word, known);

	return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

std::function<std::string(const std::string &)> is_one_of(const std::vector<std::string> &known)
{
	return [known](const std::string &word) {
		std::string list;

		if (std::find(known.begin(), known.end(), word) != known.end())
			return std::string();
		for (const std::string &one : known)
			list += (list.empty() ? "" : ", ") + one;
		return "'" + printable(word) + "' is none of " + list + did_you_mean(word, known);
	};
}

}  // namespace turnpike
