// SPDX-License-Identifier: GPL-2.0
//
// What commands print for people, made of what they print as JSON: tables of lists, of settings and of counters.
// With -v there is all that JSON has.
#ifndef TURNPIKE_TOOLS_SHOWN_H
#define TURNPIKE_TOOLS_SHOWN_H

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "table.h"

namespace CLI {
class App;
}

namespace turnpike {

using Json = nlohmann::ordered_json;

// How a command is to print.
struct Shown {
	bool json = false;
	bool all = false;

	// -j, --json; and -v, --verbose where there is more to see.
	void add_json(CLI::App &command);
	void add_both(CLI::App &command);
};

enum class When { always, verbose };

struct ShownColumn {
	std::string title;
	Align align;
	When when;
	std::function<std::string(const Json &)> cell;	// of an entry of the list
};

// A value as it stands, in the unit that its name ends with: x_ns, x_ppb, x_bytes, x_bytes_per_s; "-" for null or none.
std::string value_text(const std::string &name, const Json &value);

// The column of one such value; the title says no unit.
ShownColumn value_column(const std::string &title, const std::string &name, When when = When::always);
ShownColumn word_column(const std::string &title, const std::string &name, When when = When::always);

// The address and the port of two values: "10.0.0.1:80", "[fd01::1]:80".
std::string end_text(const Json &entry, const std::string &address, const std::string &port);
ShownColumn end_column(const std::string &title, const std::string &address, const std::string &port);

// A line each, below the titles; those alone without any.
std::string list_text(const Json &list, const std::vector<ShownColumn> &columns, bool all);

// A line each, names at the left. Lists are words after each other.
std::string settings_text(const Json &object);

// A line each; those that are not 0, or all. What is an object itself goes on with its name before theirs.
std::string counters_text(const Json &object, bool all);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOWN_H
