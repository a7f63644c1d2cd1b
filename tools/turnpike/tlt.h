// SPDX-License-Identifier: GPL-2.0
//
// What `turnpike tlt' knows: maps of code points, rules, the threshold's arithmetic.
#ifndef TURNPIKE_TOOLS_TLT_H
#define TURNPIKE_TOOLS_TLT_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "include/uapi/turnpike.h"

namespace turnpike {

using TltMap = std::array<std::uint8_t, TLT_KINDS>;

// In the order of enum tlt_kind.
extern const std::array<const char *, TLT_KINDS> kTltKinds;

// Counters that flows have, too, besides those of kinds.
constexpr const char *kTltFlowStats[] = {
	"injected_byte", "injected_segment", "injected_bytes", "inject_refused",
	"echoes_dropped", "clocks_dropped", "cuts", "cut_bytes",
};

// A named map, or "data=N,echo=N,..." for all six kinds.
TltMap tlt_map(const std::string &text);

// The name of a map, or the text that makes it.
std::string tlt_map_text(const TltMap &map);

struct TltRule {
	std::string device;
	std::uint16_t port_low = 0;	// 0: any
	std::uint16_t port_high = 0;
	std::vector<std::uint8_t> address;
	unsigned prefix = 0;
	bool by_uid = false;
	std::uint32_t uid_low = 0;
	std::uint32_t uid_high = 0;
	std::string cgroup;

	bool operator==(const TltRule &) const = default;
};

// "dev=NAME,port=LOW[-HIGH],peer=ADDRESS[/BITS],uid=LOW[-HIGH],cgroup=PATH", each part
// at most once.
TltRule tlt_rule(const std::string &text);

// Do they say the same, in whatever words? A host is a network of all bits, and "5000-5000" is a port.
bool tlt_same_rules(const std::vector<std::string> &some, const std::vector<std::string> &others);

std::string tlt_address_text(const std::vector<std::uint8_t> &address);

// Section 4.2 of the TLT paper: a switch with one shared buffer and dynamic
// thresholds, of which some ports are congested at the same time.
struct TltSwitch {
	double bdp_bytes = 0;
	double buffer_bytes = 0;
	double alpha = 1;
	unsigned ports = 1;
	double packet_bytes = 1500;
	double ecn_bytes = 0;
	double k_bytes = 0;		// 0: the least that steady traffic does not reach
};

struct TltThreshold {
	double k_bytes;			// what unimportant packets may fill
	double port_bytes;		// what a congested port gets: alpha B / (1 + M alpha)
	double reserve_bytes;		// of which important packets have this alone
	std::uint64_t flows_per_port;	// with one important packet each
	std::uint64_t flows;
};

// Refuses a switch without buffer, and a K of 0.
TltThreshold tlt_threshold(const TltSwitch &sw);

// "400k", "1.8M", "12000000"; at most a terabyte
double tlt_bytes(const std::string &text);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_TLT_H
