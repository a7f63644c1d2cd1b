// SPDX-License-Identifier: GPL-2.0
//
// Traces: a header line, then lines of columns between commas.
#ifndef TURNPIKE_TOOLS_CSV_H
#define TURNPIKE_TOOLS_CSV_H

#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "tcp_timely/timely_rate.h"

namespace turnpike {

// The columns of a line without the blanks around them; throws Error when there
// are not as many as in the header.
std::vector<std::string> csv_columns(const std::string &header,
				     const std::string &line);

// A whole number up to max; throws Error that names the column.
u64 csv_number(const char *column, const std::string &text, u64 max);

// Give every line below the header to each(). Throws Error naming the line at
// fault, be it the header or one that each() throws an Error for.
void read_csv(std::istream &in, const std::string &header,
	      const std::function<void(const std::string &line)> &each);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CSV_H
