// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <algorithm>
#include <utility>

#include "units.h"

namespace turnpike {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> row)
{
	row.resize(columns_.size());
	std::transform(row.begin(), row.end(), row.begin(), printable);
	rows_.push_back(std::move(row));
}

std::string Table::text() const
{
	std::vector<std::size_t> width;
	std::string text;
	auto append = [&](std::size_t column, const std::string &cell) {
		std::string pad(width[column] - cell.size(), ' ');
		text += (column ? "  " : "") + (columns_[column].align == Align::left ? cell + pad : pad + cell);
	};
	auto end_line = [&] {
		text.erase(text.find_last_not_of(' ') + 1);
		text += '\n';
	};

	for (std::size_t i = 0; i < columns_.size(); i++) {
		width.push_back(columns_[i].title.size());
		for (const std::vector<std::string> &row : rows_)
			width[i] = std::max(width[i], row[i].size());
	}
	for (std::size_t i = 0; i < columns_.size(); i++)
		append(i, columns_[i].title);
	end_line();
	for (const std::vector<std::string> &row : rows_) {
		for (std::size_t i = 0; i < row.size(); i++)
			append(i, row[i]);
		end_line();
	}
	return text;
}

}  // namespace turnpike
