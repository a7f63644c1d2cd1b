// SPDX-License-Identifier: GPL-2.0
//
// The time of day, and how often turnpike top and watch look.
#ifndef TURNPIKE_TOOLS_LIVE_CLOCK_H
#define TURNPIKE_TOOLS_LIVE_CLOCK_H

#include <cstdlib>
#include <ctime>
#include <string>

#include <CLI/CLI.hpp>

namespace turnpike {

// A look takes milliseconds; an hour is longer than anybody waits for a line. CLI::Range takes "nan".
inline CLI::Validator interval_range()
{
	return CLI::Validator([](std::string &text) {
		double value = std::strtod(text.c_str(), nullptr);

		return value >= 0.1 && value <= 3600 ? "" : "'" + text + "' is not in 0.1 to 3600 seconds";
	}, "FLOAT in [0.1 - 3600]");
}

// "21:19:01", of this host
inline std::string clock_text()
{
	std::time_t now = std::time(nullptr);
	struct tm local = {};
	char text[16] = "";

	localtime_r(&now, &local);
	std::strftime(text, sizeof(text), "%H:%M:%S", &local);
	return text;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_CLOCK_H
