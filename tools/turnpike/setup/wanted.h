// SPDX-License-Identifier: GPL-2.0
//
// What an operator wants of this host: by the words of `turnpike up', or /etc/turnpike/turnpike.conf.
#ifndef TURNPIKE_TOOLS_SETUP_WANTED_H
#define TURNPIKE_TOOLS_SETUP_WANTED_H

#include <cstdint>
#include <string>
#include <vector>

namespace turnpike {

struct WantedDevice {
	std::string name;
	bool onramp = false;		// the qdisc, at its root or below mq
	bool usec = false;		// TCP timestamps of its routes count microseconds
	// Options of the qdisc, as tc has them; empty: its own.
	std::string threshold = {}, line_rate = {};

	bool operator==(const WantedDevice &) const = default;
};

// Series for Prometheus, by either way or both.
struct WantedMetrics {
	std::string textfile;		// for node_exporter; empty: none
	std::string listen;		// address and port of HTTP; empty: none
	bool anywhere = false;		// listen takes addresses that other hosts reach

	bool operator==(const WantedMetrics &) const = default;
};

struct Wanted {
	std::vector<std::string> prefixes;	// the datacenter; nothing else is touched
	std::string congestion;			// on routes there; empty: left as it is
	std::vector<WantedDevice> devices;
	bool tlt = false;
	std::vector<std::string> tlt_rules;	// none: all TCP
	std::string key;			// a file of On-Ramp's keys; empty: none
	WantedMetrics metrics;

	bool operator==(const Wanted &) const = default;
};

// Options of onramp as tc takes them, from one that an operator writes; empty of "auto". Throws Error.
std::string onramp_threshold(const std::string &text);
std::string onramp_threshold_text(std::int64_t ns);
std::string onramp_line_rate(const std::string &text);
std::uint64_t onramp_line_rate_bps(const std::string &text);

// A network as it is written; throws Error for none, and for all addresses.
std::string datacenter_prefix(const std::string &text);

// The file's text; throws Error with the number of the line.
Wanted parse_config(const std::string &text);

// The text that says the same.
std::string config_text(const Wanted &wanted);

// Which of timely, onramp and tlt a profile has; throws Error for a name that there is not.
std::vector<std::string> profile_pieces(const std::string &profile);
std::vector<std::string> profile_names();

// Adds a piece (timely, timely_patched, timely_pi, onramp or tlt) for these devices.
void add_piece(Wanted &wanted, const std::string &piece, const std::vector<std::string> &devices);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_WANTED_H
