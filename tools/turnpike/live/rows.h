// SPDX-License-Identifier: GPL-2.0
//
// The tables of turnpike top: connections, peers, devices. Cells of a row, and numbers that it may be sorted by.
#ifndef TURNPIKE_TOOLS_LIVE_ROWS_H
#define TURNPIKE_TOOLS_LIVE_ROWS_H

#include <array>
#include <string>
#include <vector>

#include "change.h"
#include "columns.h"
#include "history.h"

namespace turnpike {

// What rows are sorted by, the greatest first; names from the least.
enum class Order { rate, rtt, delay, held, resent, name };
constexpr std::size_t kOrders = 6;

struct Row {
	std::string name;				// what tells it from the others
	std::array<Number, kOrders - 1> by;		// in the order of enum Order, name left out
	Cells cells;
};

struct Rows {
	std::vector<FitColumn> columns;
	std::vector<Row> rows;
};

Rows connection_rows(const Changes &changes);
Rows peer_rows(const Changes &changes);
Rows device_rows(const Changes &changes, const History &history);

// Numbers as narrow as they can be, with three digits: "9.41G", "31.2us", "3.1%"; "-" for none.
std::string narrow_rate(Number bps);
std::string narrow_time(Number ns);
std::string narrow_share(Number share);
std::string narrow_count(Number count);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_ROWS_H
