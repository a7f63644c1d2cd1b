// SPDX-License-Identifier: GPL-2.0
//
// Traces: a header line, then lines of columns between commas.
#ifndef TURNPIKE_TOOLS_CSV_H
#define TURNPIKE_TOOLS_CSV_H

#include <functional>
#include <istream>
#include <ostream>
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

struct CsvHeaders {
	std::string in;
	std::string out;
};

// Write the header of the output once that of the input was read, then give every
// line to each(). Throws Error naming the line at fault, be it the header or one
// that each() throws an Error for.
void convert_csv(const CsvHeaders &headers, std::istream &in, std::ostream &out,
		 const std::function<void(const std::string &line)> &each);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CSV_H
