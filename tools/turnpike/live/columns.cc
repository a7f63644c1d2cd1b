// SPDX-License-Identifier: GPL-2.0
#include "columns.h"

#include <algorithm>

namespace turnpike {
namespace {

// What each column would be, had it all the room.
std::vector<std::size_t> wishes(const std::vector<FitColumn> &columns, const std::vector<const Cells *> &rows)
{
	std::vector<std::size_t> wish(columns.size());

	for (std::size_t i = 0; i < columns.size(); i++) {
		wish[i] = std::max<std::size_t>(columns[i].title.size(), columns[i].least);
		for (const Cells *row : rows)
			wish[i] = std::max(wish[i], row->at(i).size());
	}
	return wish;
}

std::vector<std::size_t> by_rank(const std::vector<FitColumn> &columns)
{
	std::vector<std::size_t> order(columns.size());

	for (std::size_t i = 0; i < order.size(); i++)
		order[i] = i;
	std::stable_sort(order.begin(), order.end(),
			 [&](std::size_t a, std::size_t b) { return columns[a].rank < columns[b].rank; });
	return order;
}

// 0: left out. First each gets its least, then what is left goes to those that want more.
std::vector<std::size_t> widths(const std::vector<FitColumn> &columns, const std::vector<const Cells *> &rows,
				std::size_t room)
{
	std::vector<std::size_t> wish = wishes(columns, rows), width(columns.size());
	std::vector<std::size_t> order = by_rank(columns);
	std::size_t used = 0;

	for (std::size_t i : order) {
		std::size_t least = std::max<std::size_t>(columns[i].least, columns[i].title.size());

		if (used && used + 1 + least > room)
			break;
		width[i] = least;
		used += (used ? 1 : 0) + least;
	}
	for (std::size_t i : order) {
		if (!width[i] || used >= room)
			continue;
		std::size_t more = std::min(wish[i] - width[i], room - used);
		width[i] += more;
		used += more;
	}
	return width;
}

std::string line_of(const std::vector<FitColumn> &columns, const Cells &cells, const std::vector<std::size_t> &width)
{
	std::string line;
	bool first = true;

	for (std::size_t i = 0; i < columns.size(); i++) {
		if (!width[i])
			continue;
		std::string cell = cut_to(cells.at(i), width[i]);
		std::string pad(width[i] - cell.size(), ' ');
		line += (first ? "" : " ") + (columns[i].align == Align::left ? cell + pad : pad + cell);
		first = false;
	}
	return line;
}

}  // namespace

std::string cut_to(const std::string &text, std::size_t width)
{
	if (text.size() <= width)
		return text;
	return width ? text.substr(0, width - 1) + "~" : "";
}

std::vector<std::string> fit(const std::vector<FitColumn> &columns, const std::vector<const Cells *> &rows,
			     std::size_t width)
{
	std::vector<std::size_t> chosen = widths(columns, rows, width);
	std::vector<std::string> lines;
	Cells titles;

	for (const FitColumn &column : columns)
		titles.push_back(column.title);
	lines.push_back(cut_to(line_of(columns, titles, chosen), width));
	for (const Cells *row : rows)
		lines.push_back(cut_to(line_of(columns, *row, chosen), width));
	return lines;
}

}  // namespace turnpike
