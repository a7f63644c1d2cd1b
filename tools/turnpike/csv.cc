// SPDX-License-Identifier: GPL-2.0
#include "csv.h"

#include <algorithm>
#include <charconv>

#include "command.h"

namespace turnpike {
namespace {

std::string trimmed(const std::string &text)
{
	constexpr char kBlank[] = " \t\r";
	std::size_t begin = text.find_first_not_of(kBlank);

	if (begin == std::string::npos)
		return "";
	return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

void read_header(std::istream &in, const std::string &header)
{
	std::string line;

	if (!std::getline(in, line))
		throw Error("line 1: the input is empty, expected the header " +
			    header);
	if (trimmed(line) != header)
		throw Error("line 1: expected the header " + header +
			    ", got '" + trimmed(line) + "'");
}

}  // namespace

std::vector<std::string> csv_columns(const std::string &header,
				     const std::string &line)
{
	std::size_t wanted = 1 + std::count(header.begin(), header.end(), ',');
	std::vector<std::string> columns;
	std::size_t begin = 0, comma;

	do {
		comma = line.find(',', begin);
		columns.push_back(trimmed(line.substr(begin, comma - begin)));
		begin = comma + 1;
	} while (comma != std::string::npos);
	if (columns.size() != wanted)
		throw Error("expected " + std::to_string(wanted) +
			    " columns (" + header + "), got " +
			    std::to_string(columns.size()));
	return columns;
}

u64 csv_number(const char *column, const std::string &text, u64 max)
{
	u64 value = 0;
	const char *end = text.data() + text.size();
	auto [rest, error] = std::from_chars(text.data(), end, value);

	if (text.empty() || error == std::errc::invalid_argument || rest != end)
		throw Error(std::string(column) + " is not a number: '" + text +
			    "'");
	if (error == std::errc::result_out_of_range || value > max)
		throw Error(std::string(column) + " is too large: " + text);
	return value;
}

void convert_csv(const CsvHeaders &headers, std::istream &in, std::ostream &out,
		 const std::function<void(const std::string &line)> &each)
{
	std::string line;
	u64 number = 1;

	read_header(in, headers.in);
	out << headers.out << '\n';
	while (std::getline(in, line)) {
		number++;
		try {
			each(line);
		} catch (const Error &error) {
			throw Error("line " + std::to_string(number) + ": " +
				    error.what());
		}
	}
	if (in.bad())
		throw Error("cannot read standard input");
}

}  // namespace turnpike
