// SPDX-License-Identifier: GPL-2.0
//
// The TCP connections of this network namespace, as `ss -ti' asks for them.
#ifndef TURNPIKE_TOOLS_SHOW_SOCKETS_H
#define TURNPIKE_TOOLS_SHOW_SOCKETS_H

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace turnpike {

// Addresses and ports of a connection. IPv4 is mapped into IPv6, as On-Ramp has it.
struct Ends {
	std::array<std::uint8_t, 16> local = {}, remote = {};
	std::uint16_t local_port = 0, remote_port = 0;

	auto operator<=>(const Ends &) const = default;
};

struct Socket {
	unsigned state = 0;		// as include/net/tcp_states.h numbers them
	std::string congctl;
	std::uint32_t rtt_us = 0;	// smoothed
	std::uint32_t retransmits = 0;	// segments
	std::uint64_t cookie = 0;	// no other socket has it, as long as the kernel runs
	Ends ends;
	// Of payload; sent: also what was sent again.
	std::uint64_t bytes_acked = 0, bytes_sent = 0, bytes_received = 0;
	std::uint64_t rate_bytes = 0;	// a second, as timely and BBR tell it; 0: not told
	std::optional<std::uint32_t> min_rtt_us;	// none was measured yet
	std::uint32_t cwnd_segs = 0;
	std::optional<std::uint64_t> pacing_bytes;	// a second; not paced
	std::uint64_t delivery_bytes = 0;	// a second
};

// As people read it: "10.1.0.2:5001", "[fd01::2]:5001"; only the address without a port.
std::string end_text(const std::array<std::uint8_t, 16> &address, std::optional<unsigned> port);

// 4 or 16 bytes as 16.
std::array<std::uint8_t, 16> mapped_address(const void *address, bool four);

// Bits of states: TCP_ESTABLISHED, and all that there are.
constexpr std::uint32_t kEstablished = 1 << 1, kAnyState = 0xffffffff;

// Throws Error. What waits for late packets alone (TIME_WAIT) has no congestion control.
std::vector<Socket> tcp_sockets(std::uint32_t states = kEstablished);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_SOCKETS_H
