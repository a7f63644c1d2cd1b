// SPDX-License-Identifier: GPL-2.0
#include "asked.h"

#include "../command.h"
#include "../tlt.h"
#include "config_file.h"
#include "device_name.h"

namespace turnpike {

constexpr char kKey[] = "/etc/turnpike/onramp.key";

Wanted wanted_by(const Asked &asked)
{
	Wanted wanted;
	std::vector<std::string> pieces = asked.pieces, devices;

	if (!pieces.empty() && !asked.profile.empty())
		throw Error("--profile or --with, not both");
	if (pieces.empty())
		pieces = profile_pieces(asked.profile.empty() ? profile_names().front() : asked.profile);
	for (const std::string &prefix : asked.prefixes)
		wanted.prefixes.push_back(datacenter_prefix(prefix));
	for (const std::string &called : asked.devices) {
		if (called.empty())
			throw Error("a device has a name");
		devices.push_back(device_name(called));
	}
	for (const std::string &piece : pieces)
		add_piece(wanted, piece, devices);
	if (!wanted.congestion.empty() && wanted.prefixes.empty())
		throw Error("which hosts are the datacenter? --for 10.0.0.0/8: timely is not for the Internet");
	if (!wanted.tlt && !asked.rules.empty())
		throw Error("--rule is for TLT: --profile tlt or all");
	if (wanted.tlt && asked.rules.empty())
		throw Error("which packets are TLT's? --rule port=5000, or --rule all for all TCP of this namespace");
	if (asked.rules != std::vector<std::string>{"all"})
		wanted.tlt_rules = asked.rules;
	for (const std::string &rule : wanted.tlt_rules)
		tlt_rule(rule);
	for (WantedDevice &device : wanted.devices) {
		device.usec = device.onramp && !wanted.prefixes.empty();
		device.threshold = asked.threshold.empty() ? "" : onramp_threshold(asked.threshold);
		device.line_rate = asked.line_rate.empty() ? "" : onramp_line_rate(asked.line_rate);
		if (!device.onramp && !(asked.threshold + asked.line_rate).empty())
			throw Error("--threshold and --line-rate are for On-Ramp: --profile onramp or all");
		if (device.onramp && !is_absent(kKey))
			wanted.key = kKey;
	}
	// What is kept is kept as a file's text.
	if (parse_config(config_text(wanted)) != wanted)
		throw Error("names with '#' or blanks cannot be kept");
	return wanted;
}

}  // namespace turnpike
