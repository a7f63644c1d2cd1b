// SPDX-License-Identifier: GPL-2.0
//
// Tables for people: a line of titles, a line each, columns as wide as what is in them.
#ifndef TURNPIKE_TOOLS_TABLE_H
#define TURNPIKE_TOOLS_TABLE_H

#include <string>
#include <vector>

namespace turnpike {

enum class Align { left, right };

struct Column {
	std::string title;
	Align align = Align::right;
};

class Table {
public:
	explicit Table(std::vector<Column> columns);

	// One cell for each column; what is missing at the end is empty. What is no printable ASCII is escaped.
	void add(std::vector<std::string> row);

	bool empty() const { return rows_.empty(); }

	// Two spaces between columns, none at the end of a line. The titles alone where no row is.
	std::string text() const;

private:
	std::vector<Column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_TABLE_H
