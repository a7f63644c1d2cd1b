// SPDX-License-Identifier: GPL-2.0
#include "units.h"

#include <cmath>
#include <cstdio>

namespace turnpike {
namespace {

// Three digits of a number from 1 to 999.
std::string three_digits(double value)
{
	double size = std::fabs(value);

	return number_text(size < 9.995 ? "%.2f" : size < 99.95 ? "%.1f" : "%.0f", value);
}

// names: of the unit and of each that is 1000 times the one before; what is below the second has no fraction.
template <std::size_t Count> std::string scaled(double value, const char *const (&names)[Count])
{
	std::size_t at = 0;

	// 999.5 would be printed as 1000.
	for (; at + 1 < Count && std::fabs(value) >= 999.5; at++)
		value /= 1000;
	return (at ? three_digits(value) : number_text("%.0f", value)) + " " + names[at];
}

}  // namespace

std::string number_text(const char *format, double value)
{
	char text[64];

	std::snprintf(text, sizeof(text), format, value);
	return text;
}

std::string duration_text(double ns)
{
	static const char *const names[] = {"ns", "us", "ms", "s"};

	return scaled(ns, names);
}

std::string rate_text(double bps)
{
	static const char *const names[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};

	return scaled(bps, names);
}

std::string bytes_text(double bytes)
{
	static const char *const names[] = {"B", "kB", "MB", "GB", "TB"};

	return scaled(bytes, names);
}

std::string percent_text(double share)
{
	return number_text("%.1f %%", 100 * share);
}

std::string count_text(std::uint64_t count, const char *one)
{
	return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string age_text(std::int64_t seconds)
{
	if (seconds < 120)
		return std::to_string(seconds) + " s";
	if (seconds < 7200)
		return std::to_string(seconds / 60) + " min";
	if (seconds < 172800)
		return std::to_string(seconds / 3600) + " h";
	return std::to_string(seconds / 86400) + " days";
}

std::string or_dash(const nlohmann::ordered_json &value, std::string (*text)(double))
{
	return value.is_number() ? text(value.get<double>()) : "-";
}

std::string printable(const std::string &name)
{
	std::string text;
	char code[8];

	for (unsigned char byte : name) {
		std::snprintf(code, sizeof(code), "\\x%02x", byte);
		text += byte >= 0x20 && byte < 0x7f ? std::string(1, byte) : std::string(code);
	}
	return text;
}

}  // namespace turnpike
