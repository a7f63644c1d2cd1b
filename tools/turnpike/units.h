// SPDX-License-Identifier: GPL-2.0
//
// Numbers with units, for people: three digits, in the unit that fits. JSON has plain numbers instead.
#ifndef TURNPIKE_TOOLS_UNITS_H
#define TURNPIKE_TOOLS_UNITS_H

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace turnpike {

// One number by a format of printf that takes a double.
std::string number_text(const char *format, double value);

// "340 ns", "31.2 us", "1.05 ms", "2.50 s", "-31.2 us"
std::string duration_text(double ns);

// "9.41 Gbit/s", "120 kbit/s", "0 bit/s"
std::string rate_text(double bps);

// "1.50 kB", "64.0 MB", "12 B"; powers of 1000, as ip -s -h has them
std::string bytes_text(double bytes);

// share: 0 to 1; "3.1 %"
std::string percent_text(double share);

// "1 flow", "2 flows"
std::string count_text(std::uint64_t count, const char *one);

// "90 s", "5 min", "3 h", "4 days"
std::string age_text(std::int64_t seconds);

// What text(value) makes of a number; "-" where there is none.
std::string or_dash(const nlohmann::ordered_json &value, std::string (*text)(double));

// A name that others chose, for a terminal: what is no printable ASCII stands as \xHH.
std::string printable(const std::string &name);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_UNITS_H
