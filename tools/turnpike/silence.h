// SPDX-License-Identifier: GPL-2.0
//
// Why On-Ramp has no feedback: the likeliest cause, and what to call next on which host. Nothing here touches a host.
#ifndef TURNPIKE_TOOLS_SILENCE_H
#define TURNPIKE_TOOLS_SILENCE_H

#include <cstdint>
#include <optional>
#include <string>

namespace turnpike {

// What became of a datagram to the peer's UDP port.
enum class Probed {
	none,		// none was sent
	no_answer,	// something took it, or a firewall dropped it
	refused,	// ICMP: no program has the port
	unreachable,	// ICMP: no way there, or a firewall that says so
	forbidden,	// this host's own firewall
};

// This host, in this network namespace.
struct SilenceHost {
	bool onramp = false;		// a device has the qdisc
	bool asks = false;		// one of these wants receipts
	unsigned port = 0;		// of UDP
	bool port_open = false;		// the module has it
	bool port_taken = false;	// another program has it
	bool has_key = false;
	bool limited = false;		// the operator named networks that may be asked
	unsigned answering = 0;		// peers that send receipts
	// Datagrams whose key was another, since the module was loaded.
	std::uint64_t refused_key = 0, refused_mac = 0;
};

// A host that data goes to, and that sends no receipts.
struct SilencePeer {
	std::string address;
	bool hears = false;		// it asks this host for receipts
	Probed probe = Probed::none;
};

struct SilenceCause {
	std::string what;
	std::string where;		// the host of the command; empty: this one
	std::string command;

	// "WHAT; next, at WHERE: COMMAND"
	std::string text() const;
};

// What keeps feedback of all peers away; none if nothing on this host does.
std::optional<SilenceCause> host_silence(const SilenceHost &host);

// Why this peer sends none.
SilenceCause peer_silence(const SilenceHost &host, const SilencePeer &peer);

// Why no peer is known, or no flow.
SilenceCause no_peer(const SilenceHost &host);
SilenceCause no_flow(const SilenceHost &host);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SILENCE_H
