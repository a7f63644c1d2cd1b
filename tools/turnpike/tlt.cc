// SPDX-License-Identifier: GPL-2.0
#include "tlt.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "command.h"

namespace turnpike {
namespace {

// local: pool 2 of RFC 2474, for local use: two low bits set. vma: what the
// published userspace prototype of the paper's authors uses.
const std::map<std::string, TltMap> kMaps = {
	{"local", {0x03, 0x07, 0x0b, 0x0f, 0x13, 0x17}},
	{"vma", {0x0a, 0x0c, 0x12, 0x14, 0x1a, 0x08}},
};

// A terabyte, so that no count of flows overflows.
constexpr double kMostBytes = 1e12;

std::vector<std::string> split(const std::string &text, char at)
{
	std::vector<std::string> parts;
	std::istringstream stream(text);
	std::string part;

	while (std::getline(stream, part, at))
		parts.push_back(part);
	return parts;
}

// "NAME=VALUE" parts by name, each once.
std::map<std::string, std::string> assignments(const std::string &text)
{
	std::map<std::string, std::string> values;

	if (text.empty() || text.back() == ',')
		throw Error("'" + text + "' ends where NAME=VALUE has to follow");
	for (const std::string &part : split(text, ',')) {
		std::size_t equal = part.find('=');
		if (equal == std::string::npos || equal + 1 == part.size())
			throw Error("'" + part + "' is not NAME=VALUE");
		if (!values.emplace(part.substr(0, equal), part.substr(equal + 1))
			     .second)
			throw Error("'" + part.substr(0, equal) + "' is given twice");
	}
	return values;
}

// Decimal or, from 0x on, hexadecimal; 010 is a slip, or else eight to some and ten to others.
bool is_number(const std::string &text)
{
	return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
	       (text[0] != '0' || text.size() == 1 || text[1] == 'x' || text[1] == 'X');
}

unsigned number(const std::string &text, unsigned low, unsigned high)
{
	char *end = nullptr;
	unsigned long value = std::strtoul(text.c_str(), &end, 0);

	if (!is_number(text) || *end || value < low || value > high)
		throw Error("'" + text + "' is not a number from " +
			    std::to_string(low) + " to " + std::to_string(high));
	return static_cast<unsigned>(value);
}

// "LOW[-HIGH]" of what there are `low' to `high'.
std::pair<unsigned, unsigned> range(const char *what, const std::string &text,
				    unsigned low, unsigned high)
{
	std::size_t dash = text.find('-');
	unsigned first = number(text.substr(0, dash), low, high);
	unsigned last = dash == std::string::npos
				? first
				: number(text.substr(dash + 1), low, high);

	if (last < first)
		throw Error(std::string("the range of ") + what + " '" + text +
			    "' ends before it begins");
	return {first, last};
}

void read_ports(TltRule &rule, const std::string &text)
{
	auto [low, high] = range("ports", text, 1, 65535);

	rule.port_low = static_cast<std::uint16_t>(low);
	rule.port_high = static_cast<std::uint16_t>(high);
}

void read_users(TltRule &rule, const std::string &text)
{
	rule.by_uid = true;
	// The number after it stands for no user.
	std::tie(rule.uid_low, rule.uid_high) = range("users", text, 0, 0xfffffffe);
}

void read_cgroup(TltRule &rule, const std::string &text)
{
	if (text[0] != '/')
		throw Error("the path of a cgroup begins with /, as in /system.slice; '" + text +
			    "' does not");
	if (text.size() >= TLT_CGROUP_PATH_MAX)
		throw Error("the path of a cgroup has at most " +
			    std::to_string(TLT_CGROUP_PATH_MAX - 1) + " bytes");
	rule.cgroup = text;
}

void read_peer(TltRule &rule, const std::string &text)
{
	std::size_t slash = text.find('/');
	std::string address = text.substr(0, slash);
	bool six = address.find(':') != std::string::npos;

	rule.address.resize(six ? 16 : 4);
	if (inet_pton(six ? AF_INET6 : AF_INET, address.c_str(),
		      rule.address.data()) != 1)
		throw Error("'" + address + "' is no address");
	rule.prefix = six ? 128 : 32;
	if (slash != std::string::npos)
		rule.prefix = number(text.substr(slash + 1), 0, rule.prefix);
}

}  // namespace

const std::array<const char *, TLT_KINDS> kTltKinds = {
	"data", "echo", "clock", "clock-echo", "control", "plain",
};

TltMap tlt_map(const std::string &text)
{
	auto named = kMaps.find(text);
	TltMap map{};

	if (named != kMaps.end())
		return named->second;
	if (text.find('=') == std::string::npos)
		throw Error("no map '" + text + "'; there are local, vma, and data=N,echo=N,"
			    "clock=N,clock-echo=N,control=N,plain=N");
	auto values = assignments(text);
	for (unsigned kind = 0; kind < TLT_KINDS; kind++) {
		auto value = values.find(kTltKinds[kind]);
		if (value == values.end())
			throw Error(std::string("the map has no '") +
				    kTltKinds[kind] + "'");
		map[kind] = number(value->second, 1, 63);
		values.erase(value);
	}
	if (!values.empty())
		throw Error("'" + values.begin()->first + "' is no kind of packet");
	return map;
}

std::string tlt_map_text(const TltMap &map)
{
	std::string text;

	for (const auto &[name, known] : kMaps) {
		if (known == map)
			return name;
	}
	for (unsigned kind = 0; kind < TLT_KINDS; kind++)
		text += std::string(kind ? "," : "") + kTltKinds[kind] + "=" +
			std::to_string(map[kind]);
	return text;
}

TltRule tlt_rule(const std::string &text)
{
	TltRule rule;

	for (const auto &[name, value] : assignments(text)) {
		if (name == "dev")
			rule.device = value;
		else if (name == "port")
			read_ports(rule, value);
		else if (name == "peer")
			read_peer(rule, value);
		else if (name == "uid")
			read_users(rule, value);
		else if (name == "cgroup")
			read_cgroup(rule, value);
		else
			throw Error("a rule knows dev, port, peer, uid and cgroup, not '" +
				    name + "'");
	}
	return rule;
}

static bool same_rule(const std::string &one, const std::string &other)
{
	try {
		return one == other || tlt_rule(one) == tlt_rule(other);
	} catch (const Error &) {
		// A device that went has no name in what the kernel tells.
		return false;
	}
}

bool tlt_same_rules(const std::vector<std::string> &some, const std::vector<std::string> &others)
{
	return std::equal(some.begin(), some.end(), others.begin(), others.end(), same_rule);
}

std::string tlt_address_text(const std::vector<std::uint8_t> &address)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (address.size() == 4 || address.size() == 16)
		inet_ntop(address.size() == 4 ? AF_INET : AF_INET6,
			  address.data(), text, sizeof(text));
	return text;
}

TltThreshold tlt_threshold(const TltSwitch &sw)
{
	TltThreshold t{};

	t.k_bytes = sw.k_bytes > 0 ? sw.k_bytes
				   : std::max(sw.bdp_bytes, sw.ecn_bytes);
	if (t.k_bytes <= 0)
		throw Error("K would be 0, and every unimportant packet dropped: the "
			    "bandwidth-delay product is more than 0");
	if (sw.buffer_bytes <= 0)
		throw Error("a switch has a buffer of more than 0 bytes");
	t.port_bytes = sw.alpha * sw.buffer_bytes / (1 + sw.ports * sw.alpha);
	t.reserve_bytes = std::max(0.0, t.port_bytes - t.k_bytes);
	t.flows_per_port = static_cast<std::uint64_t>(
		std::floor(t.reserve_bytes / sw.packet_bytes));
	t.flows = t.flows_per_port * sw.ports;
	return t;
}

double tlt_bytes(const std::string &text)
{
	char *end = nullptr;
	double value = std::strtod(text.c_str(), &end);
	std::string unit = end;

	if (unit == "k" || unit == "K")
		value *= 1e3;
	else if (unit == "M")
		value *= 1e6;
	else if (!unit.empty())
		value = -1;
	// Not of a number in another notation, nor of no number.
	if (text.find_first_not_of("0123456789.kKM") != std::string::npos)
		value = -1;
	if (end == text.c_str() || value < 0)
		throw Error("'" + text + "' is no number of bytes (400k, 1.8M, 12000000)");
	if (value > kMostBytes)
		throw Error("'" + text + "' is more than a switch has: at most 1000000M");
	return value;
}

}  // namespace turnpike
