// SPDX-License-Identifier: GPL-2.0
#include "wanted.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <sstream>

#include "../command.h"
#include "../onramp.h"
#include "../show/listen_address.h"
#include "../suggest.h"
#include "../tlt.h"
#include "../units.h"

namespace turnpike {
namespace {

using Setter = std::function<void(Wanted &, const std::string &)>;
using Setters = std::map<std::string, Setter>;

// What `make battery' recommends comes first, and is what up takes.
const std::vector<std::pair<std::string, std::vector<std::string>>> kProfiles = {
	{"timely", {"timely"}},
	{"onramp", {"onramp"}},
	{"tlt", {"tlt"}},
	{"all", {"timely", "onramp", "tlt"}},
};

std::string trimmed(const std::string &text)
{
	std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");

	return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// Where a comment begins: names of cgroups may have a # in them.
std::size_t comment_in(const std::string &line)
{
	for (std::size_t at = line.find('#'); at != std::string::npos; at = line.find('#', at + 1))
		if (!at || line[at - 1] == ' ' || line[at - 1] == '\t')
			return at;
	return std::string::npos;
}

std::string joined(const std::vector<std::string> &words)
{
	std::string text;

	for (const std::string &word : words)
		text += (text.empty() ? "" : ", ") + word;
	return text;
}

std::string one_of(const std::string &value, const std::vector<std::string> &known)
{
	if (std::find(known.begin(), known.end(), value) != known.end())
		return value;
	throw Error("'" + value + "' is none of " + joined(known) + did_you_mean(value, known));
}

void set_prefixes(Wanted &wanted, const std::string &value)
{
	std::istringstream words(value);

	for (std::string word; std::getline(words, word, ',');)
		wanted.prefixes.push_back(datacenter_prefix(trimmed(word)));
}

void set_rule(Wanted &wanted, const std::string &value)
{
	if (value != "all")
		tlt_rule(value);
	if (wanted.tlt && (value == "all" || wanted.tlt_rules.empty()))
		throw Error("'rule = all' stands alone");
	wanted.tlt = true;
	if (value != "all")
		wanted.tlt_rules.push_back(value);
}

// From / on; throws Error for another.
std::string absolute(const std::string &path)
{
	if (path.empty() || path[0] != '/')
		throw Error("'" + path + "' is no path from /");
	return path;
}

void set_textfile(Wanted &wanted, const std::string &value)
{
	// node_exporter reads no others.
	if (!value.ends_with(".prom"))
		throw Error("'" + value + "' does not end in .prom, as node_exporter wants it");
	wanted.metrics.textfile = absolute(value);
}

const std::vector<std::string> kCongestion = {"timely", "timely_patched", "timely_pi"};

const std::map<std::string, Setters> kSections = {
	{"net", {
		{"for", set_prefixes},
		{"congestion", [](Wanted &w, const std::string &v) {
			w.congestion = one_of(v, kCongestion);
		}},
	}},
	{"device", {
		{"qdisc", [](Wanted &w, const std::string &v) {
			one_of(v, {"onramp"});
			w.devices.back().onramp = true;
		}},
		{"timestamps", [](Wanted &w, const std::string &v) {
			one_of(v, {"usec"});
			w.devices.back().usec = true;
		}},
		{"threshold", [](Wanted &w, const std::string &v) {
			w.devices.back().threshold = onramp_threshold(v);
		}},
		{"line_rate", [](Wanted &w, const std::string &v) {
			w.devices.back().line_rate = onramp_line_rate(v);
		}},
	}},
	{"tlt", {{"rule", set_rule}}},
	{"onramp", {{"key", [](Wanted &w, const std::string &v) {
		w.key = absolute(v);
	}}}},
	{"metrics", {
		{"textfile", set_textfile},
		{"listen", [](Wanted &w, const std::string &v) { w.metrics.listen = listen_address(v, true); }},
		{"anywhere", [](Wanted &w, const std::string &v) { w.metrics.anywhere = one_of(v, {"yes", "no"}) == "yes"; }},
	}},
};

template <typename Value> std::vector<std::string> keys_of(const std::map<std::string, Value> &map)
{
	std::vector<std::string> keys;

	for (const auto &[key, value] : map)
		keys.push_back(key);
	return keys;
}

class Reader {
public:
	void take(const std::string &line)
	{
		std::string text = trimmed(line.substr(0, comment_in(line)));

		if (text.empty())
			return;
		if (text.front() == '[')
			begin(text);
		else
			set(text);
	}

	Wanted wanted;

private:
	void begin(const std::string &text)
	{
		std::istringstream words(text.substr(1, text.size() - 2));
		std::string name, device, more;

		words >> section_ >> device >> more;
		if (text.back() != ']' || !kSections.count(section_))
			throw Error("no section " + printable(text) + "; there are [net], [device NAME], [onramp], [tlt] and [metrics]" +
				    did_you_mean(section_, keys_of(kSections)));
		if ((section_ == "device") == device.empty() || !more.empty())
			throw Error(section_ == "device" ? "a device has one name: [device eth0]"
							 : "[" + section_ + "] has no name");
		if (device.empty())
			return;
		for (const WantedDevice &other : wanted.devices)
			if (other.name == device)
				throw Error("a second [device " + device + "]");
		wanted.devices.push_back({.name = device});
	}

	void set(const std::string &text)
	{
		std::size_t equals = text.find('=');

		if (section_.empty())
			throw Error("a section has to begin before: [net]");
		if (equals == std::string::npos)
			throw Error("'" + printable(text) + "' is not NAME = VALUE");
		const Setters &setters = kSections.at(section_);
		std::string key = trimmed(text.substr(0, equals));
		auto found = setters.find(key);
		if (found == setters.end())
			throw Error("[" + section_ + "] has no '" + printable(key) + "'; there are: " + joined(keys_of(setters)) +
				    did_you_mean(key, keys_of(setters)));
		found->second(wanted, trimmed(text.substr(equals + 1)));
	}

	std::string section_;
};

}  // namespace

std::string onramp_threshold_text(std::int64_t ns)
{
	return ns % 1000 ? std::to_string(ns) + "ns" : std::to_string(ns / 1000) + "us";
}

// The qdisc takes less, too, but no path is so quiet. A number without a unit is of us for tc, and of ns elsewhere.
std::string onramp_threshold(const std::string &text)
{
	if (text == "auto")
		return "";
	std::int64_t ns = onramp_time_ns(text);
	if (!text.ends_with('s') || ns < 1000 || ns > 1000000000)
		throw Error("the threshold is 1us to 1s, or auto, not '" + text + "'");
	return onramp_threshold_text(ns);
}

// The qdisc takes 2 Mbit/s and more. Above 1000 Tbit/s a slip of the hand is likelier.
std::uint64_t onramp_line_rate_bps(const std::string &text)
{
	static const std::map<std::string, std::uint64_t> units = {{"mbit", 1000000}, {"gbit", 1000000000}};
	std::uint64_t value = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	auto unit = units.find(std::string(end, text.data() + text.size()));

	if (error != std::errc() || unit == units.end() || value > 1000000 || value * unit->second < 2000000)
		throw Error("'" + text + "' is no line rate: a whole number and mbit or gbit, 2mbit and more, or auto");
	return value * unit->second;
}

std::string onramp_line_rate(const std::string &text)
{
	if (text == "auto")
		return "";
	onramp_line_rate_bps(text);
	return text;
}

std::string datacenter_prefix(const std::string &text)
{
	onramp_ask prefix = onramp_prefix(text);
	bool v4 = prefix.bits >= 96 && text.find(':') == std::string::npos;

	if (text.find('/') == std::string::npos && text.ends_with(v4 ? ".0" : "::"))
		throw Error("'" + text + "' looks like a network: how long is its prefix? " + text + (v4 ? "/8" : "/32") +
			    ", or " + text + (v4 ? "/32" : "/128") + " for one host");
	if (prefix.bits == (v4 ? 96 : 0))
		throw Error(text + " is everybody, the Internet as well");
	return onramp_prefix_text(prefix);
}

// What lines say together.
static void check_whole(const Wanted &wanted)
{
	if (!wanted.congestion.empty() && wanted.prefixes.empty())
		throw Error("congestion is set by route: [net] needs 'for = ' and the datacenter's prefixes");
	if (!wanted.congestion.empty() && wanted.devices.empty())
		throw Error("congestion is set on routes of devices: which? [device eth0]");
	for (const WantedDevice &device : wanted.devices)
		if (!device.onramp && !(device.threshold + device.line_rate).empty())
			throw Error("[device " + device.name + "]: threshold and line_rate are of 'qdisc = onramp'");
	if (!wanted.metrics.listen.empty() && !wanted.metrics.anywhere)
		try {
			listen_address(wanted.metrics.listen, false);
		} catch (const Error &) {
			throw Error("[metrics] listen = " + wanted.metrics.listen + " is an address that other hosts reach: "
				    "'anywhere = yes' if that is meant");
		}
}

Wanted parse_config(const std::string &text)
{
	std::istringstream lines(text);
	Reader reader;
	unsigned number = 0;

	for (std::string line; std::getline(lines, line);) {
		number++;
		try {
			reader.take(line);
		} catch (const Error &error) {
			throw Error("line " + std::to_string(number) + ": " + error.what());
		}
	}
	check_whole(reader.wanted);
	return reader.wanted;
}

static std::string metrics_text(const WantedMetrics &metrics)
{
	std::string text;

	if (!metrics.textfile.empty())
		text += "textfile = " + metrics.textfile + "\n";
	if (!metrics.listen.empty())
		text += "listen = " + metrics.listen + "\n";
	if (metrics.anywhere)
		text += "anywhere = yes\n";
	return text.empty() ? text : "[metrics]\n" + text;
}

std::string config_text(const Wanted &wanted)
{
	std::string text = "# What turnpike up --all makes of this host: turnpike-up(1)\n";

	if (!wanted.prefixes.empty() || !wanted.congestion.empty())
		text += "[net]\n";
	if (!wanted.prefixes.empty())
		text += "for = " + joined(wanted.prefixes) + "\n";
	if (!wanted.congestion.empty())
		text += "congestion = " + wanted.congestion + "\n";
	for (const WantedDevice &device : wanted.devices) {
		text += "[device " + device.name + "]\n";
		text += device.onramp ? "qdisc = onramp\n" : "";
		text += device.usec ? "timestamps = usec\n" : "";
		text += device.threshold.empty() ? "" : "threshold = " + device.threshold + "\n";
		text += device.line_rate.empty() ? "" : "line_rate = " + device.line_rate + "\n";
	}
	if (!wanted.key.empty())
		text += "[onramp]\nkey = " + wanted.key + "\n";
	if (wanted.tlt)
		text += "[tlt]\n";
	if (wanted.tlt && wanted.tlt_rules.empty())
		text += "rule = all\n";
	for (const std::string &rule : wanted.tlt_rules)
		text += "rule = " + rule + "\n";
	return text + metrics_text(wanted.metrics);
}

std::vector<std::string> profile_names()
{
	std::vector<std::string> names;

	for (const auto &[name, pieces] : kProfiles)
		names.push_back(name);
	return names;
}

std::vector<std::string> profile_pieces(const std::string &profile)
{
	for (const auto &[name, pieces] : kProfiles)
		if (name == profile)
			return pieces;
	throw Error("no profile '" + profile + "'; there are: " + joined(profile_names()) + did_you_mean(profile, profile_names()));
}

void add_piece(Wanted &wanted, const std::string &piece, const std::vector<std::string> &devices)
{
	std::vector<std::string> pieces = kCongestion;

	pieces.insert(pieces.end(), {"onramp", "tlt"});
	one_of(piece, pieces);
	for (const std::string &name : devices) {
		auto found = std::find_if(wanted.devices.begin(), wanted.devices.end(),
					  [&](const WantedDevice &device) { return device.name == name; });

		if (found == wanted.devices.end())
			found = wanted.devices.insert(found, {.name = name});
		found->onramp = found->onramp || piece == "onramp";
	}
	if (piece == "tlt")
		wanted.tlt = true;
	else if (piece != "onramp")
		wanted.congestion = piece;
}

}  // namespace turnpike
