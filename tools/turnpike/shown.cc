// SPDX-License-Identifier: GPL-2.0
#include "shown.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "units.h"

namespace turnpike {
namespace {

using Text = std::string (*)(double);

bool ends_with(const std::string &name, const std::string &ending)
{
	return name.size() >= ending.size() && !name.compare(name.size() - ending.size(), ending.size(), ending);
}

// Bytes per second are shown in bits, as the speed of a line is.
std::string byte_rate_text(double bytes_per_s) { return rate_text(8 * bytes_per_s); }

std::string ms_text(double ms) { return duration_text(1e6 * ms); }

std::string rate_of_clocks_text(double ppb) { return number_text("%+.3f ppm", ppb / 1e3); }

Text unit_of(const std::string &name)
{
	static const std::pair<const char *, Text> units[] = {
		{"_bytes_per_s", byte_rate_text}, {"_bytes", bytes_text}, {"_ns", duration_text},
		{"_ms", ms_text}, {"_ppb", rate_of_clocks_text},
	};

	for (const auto &[ending, text] : units) {
		if (ends_with(name, ending))
			return text;
	}
	return nullptr;
}

// The names of those within begin with those of what they are in.
void add_counters(Table &table, const Json &object, const std::string &before, bool all)
{
	for (const auto &[name, value] : object.items()) {
		if (value.is_object())
			add_counters(table, value, before + name + ' ', all);
		else if (all || value != 0)
			table.add({before + name, value_text(name, value)});
	}
}

ShownColumn column(const std::string &title, const std::string &name, When when, Align align)
{
	return {title, align, when, [name](const Json &entry) {
		auto found = entry.find(name);
		return found == entry.end() ? "-" : value_text(name, *found);
	}};
}

std::string words_text(const std::string &name, const Json &list)
{
	std::string text;

	for (const Json &word : list)
		text += (text.empty() ? "" : " ") + value_text(name, word);
	return text;
}

}  // namespace

void Shown::add_json(CLI::App &command)
{
	command.add_flag("-j,--json", json, "print JSON");
}

void Shown::add_both(CLI::App &command)
{
	add_json(command);
	command.add_flag("-v,--verbose", all, "all that is known (JSON always has it)");
}

std::string value_text(const std::string &name, const Json &value)
{
	Text unit = unit_of(name);

	if (value.is_null())
		return "-";
	if (value.is_boolean())
		return value.get<bool>() ? "yes" : "no";
	if (value.is_array())
		return value.empty() ? "none" : words_text(name, value);
	if (value.is_number() && unit)
		return unit(value.get<double>());
	return value.is_string() ? value.get<std::string>() : value.dump();
}

ShownColumn value_column(const std::string &title, const std::string &name, When when)
{
	return column(title, name, when, Align::right);
}

ShownColumn word_column(const std::string &title, const std::string &name, When when)
{
	return column(title, name, when, Align::left);
}

std::string end_text(const Json &entry, const std::string &address, const std::string &port)
{
	std::string text = entry.at(address).get<std::string>();

	if (text.find(':') != std::string::npos)
		text = "[" + text + "]";
	return text + ":" + entry.at(port).dump();
}

ShownColumn end_column(const std::string &title, const std::string &address, const std::string &port)
{
	return {title, Align::left, When::always,
		[address, port](const Json &entry) { return end_text(entry, address, port); }};
}

std::string list_text(const Json &list, const std::vector<ShownColumn> &columns, bool all)
{
	std::vector<ShownColumn> shown;
	std::vector<Column> titles;

	for (const ShownColumn &one : columns) {
		if (!all && one.when == When::verbose)
			continue;
		shown.push_back(one);
		titles.push_back({one.title, one.align});
	}
	Table table(titles);
	for (const Json &entry : list) {
		std::vector<std::string> row;
		for (const ShownColumn &one : shown)
			row.push_back(one.cell(entry));
		table.add(row);
	}
	return table.text();
}

std::string settings_text(const Json &object)
{
	Table table({{"setting", Align::left}, {"value", Align::left}});

	for (const auto &[name, value] : object.items())
		table.add({name, value_text(name, value)});
	return table.text();
}

std::string counters_text(const Json &object, bool all)
{
	Table table({{"counter", Align::left}, {"value", Align::right}});

	add_counters(table, object, "", all);
	return table.text();
}

}  // namespace turnpike
