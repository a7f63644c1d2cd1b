// SPDX-License-Identifier: GPL-2.0
//
// The UDP socket of turnpike clockd: batches out and in, and when each datagram left and came.
#ifndef TURNPIKE_TOOLS_CLOCKD_PROBE_SOCKET_H
#define TURNPIKE_TOOLS_CLOCKD_PROBE_SOCKET_H

#include <cstdint>
#include <functional>
#include <vector>

#include "../netns.h"
#include "../onramp.h"
#include "probe_wire.h"

namespace turnpike {

struct ClockdDatagram {
	OnrampAddress to;
	std::vector<std::uint8_t> bytes;
};

class ProbeSocket {
public:
	// from: whose datagram; ns: when it came. Both stamps are of one clock: the NIC's, or CLOCK_REALTIME.
	using Came = std::function<void(const OnrampAddress &from, const std::uint8_t *bytes, std::size_t length,
					std::int64_t ns)>;
	using Left = std::function<void(const std::uint8_t *bytes, std::int64_t ns)>;

	// hardware: stamps are the NIC's. Throws Error, as all below.
	ProbeSocket(std::uint16_t port, bool hardware);

	// As many as the kernel takes: a peer that cannot be reached is no reason to end.
	void send(const std::vector<ClockdDatagram> &datagrams);

	// All that came, and all that left, since this was asked last.
	void receive(const Came &came);
	void stamps(const Left &left);

	// Of those that came or left without a stamp.
	std::uint64_t without_stamp() const { return without_stamp_; }

private:
	File file_;
	std::uint16_t port_;
	bool hardware_;
	std::uint64_t without_stamp_ = 0;
};

// The address that datagrams to this one have as their sender's; throws Error if no route leads there.
OnrampAddress address_towards(const OnrampAddress &to);

// Is it one of this host's?
bool is_own_address(const OnrampAddress &address);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_PROBE_SOCKET_H
