// SPDX-License-Identifier: GPL-2.0
//
// Rows as wide as a terminal: columns that matter less are left out, and long cells cut.
#ifndef TURNPIKE_TOOLS_LIVE_COLUMNS_H
#define TURNPIKE_TOOLS_LIVE_COLUMNS_H

#include <string>
#include <vector>

#include "../table.h"

namespace turnpike {

struct FitColumn {
	std::string title;
	Align align;
	unsigned rank;		// the greatest goes first
	unsigned least;		// never narrower, so that columns stand still; wider if there is room
};

using Cells = std::vector<std::string>;

// Cut to so many characters; a ~ stands for what is missing.
std::string cut_to(const std::string &text, std::size_t width);

// The line of titles, and one each row. A cell is one character a byte.
std::vector<std::string> fit(const std::vector<FitColumn> &columns, const std::vector<const Cells *> &rows,
			     std::size_t width);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_COLUMNS_H
