// SPDX-License-Identifier: GPL-2.0
//
// A probe of turnpike clockd on the wire: UDP, big-endian, of one length, so that both of a pair take as long.
//
//     | "TPcd"                              | 1 | kind 1 | key id | 0 |   + 0
//     | run of the sender: a number of its own since it began           |   + 8
//     | run of the receiver, as the sender heard it last, or 0          |  + 16
//     | pair * 2, + 1: the second  | pair p                             |  + 24
//     | when the first of pair p was sent, and the second               |  + 32
//     | pair q                     | the same of pair q, 16 bytes       |  + 48
//     | pair r of the receiver     | when its probes came, 16 bytes     |  + 68
//     | pair s of the receiver     | when its probes came, 16 bytes     |  + 88
//     | SipHash-2-4                                                     | + 108
//
// Stamps are ns of the sender's clock, above 0; a pair that is not known has zeroes. Two pairs each way, so that one
// datagram may be lost. The hash is over the sender's address, IPv4 mapped into IPv6, and all before it: a datagram of
// one host is not taken for another's. The receiver's run makes a datagram of an earlier time worth nothing.
#ifndef TURNPIKE_TOOLS_CLOCKD_PROBE_WIRE_H
#define TURNPIKE_TOOLS_CLOCKD_PROBE_WIRE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../onramp.h"
#include "signed_datagram.h"

namespace turnpike {

struct ProbeStamps {
	std::uint32_t pair = 0;
	std::array<std::int64_t, 2> ns = {};	// of its two probes; both 0: not known

	bool known() const { return ns[0] && ns[1]; }
	bool operator==(const ProbeStamps &) const = default;
};

struct Probe {
	std::uint64_t run = 0, peer_run = 0;
	std::uint32_t pair = 0;
	unsigned which = 0;			// of the pair: 0 or 1
	std::array<ProbeStamps, 2> sent;	// pairs of the sender
	std::array<ProbeStamps, 2> heard;	// pairs of the receiver

	bool operator==(const Probe &) const = default;
};

constexpr std::size_t kProbeBytes = 116;
using ProbeBytes = std::array<std::uint8_t, kProbeBytes>;

namespace probe_wire {

constexpr std::size_t kSignedBytes = kProbeBytes - clockd_wire::kHashBytes;
// 2^62 ns are 146 years; differences of such stamps do not overflow.
constexpr std::uint64_t kStampMax = std::uint64_t(1) << 62;
// Pairs of a second for a year and more.
constexpr std::uint32_t kPairMax = INT32_MAX;

inline bool get_stamps(clockd_wire::Reader &reader, ProbeStamps &stamps)
{
	std::uint64_t pair = reader.get(4), first = reader.get(8), second = reader.get(8);

	stamps = {static_cast<std::uint32_t>(pair),
		  {static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)}};
	bool whole = stamps.known() || (!pair && !first && !second);
	return whole && pair <= kPairMax && first < kStampMax && second < kStampMax;
}

}  // namespace probe_wire

// from: the sender's address.
inline ProbeBytes probe_encode(const Probe &probe, const OnrampAddress &from, const OnrampNumberedKey &key)
{
	ProbeBytes bytes = {};
	clockd_wire::Writer writer(bytes.data() + clockd_wire::kHeadBytes);

	clockd_wire::put_head(bytes.data(), clockd_wire::DatagramKind::probe, key.id);
	writer.put(probe.run, 8);
	writer.put(probe.peer_run, 8);
	writer.put(probe.pair * 2 + probe.which, 4);
	for (const auto *side : {&probe.sent, &probe.heard}) {
		for (const ProbeStamps &stamps : *side) {
			writer.put(stamps.pair, 4);
			writer.put(stamps.ns[0], 8);
			writer.put(stamps.ns[1], 8);
		}
	}
	clockd_wire::hash(bytes.data() + probe_wire::kSignedBytes, bytes.data(), probe_wire::kSignedBytes, from, key.key);
	return bytes;
}

// Nothing: it is no probe, not from there, or none of these keys signed it.
inline std::optional<Probe> probe_decode(const std::uint8_t *bytes, std::size_t length, const OnrampAddress &from,
					 const std::vector<OnrampNumberedKey> &keys)
{
	Probe probe;

	if (length != kProbeBytes || !clockd_wire::has_head(bytes, length, clockd_wire::DatagramKind::probe) ||
	    !clockd_wire::is_signed(bytes, length, from, keys))
		return std::nullopt;
	clockd_wire::Reader reader(bytes + clockd_wire::kHeadBytes);
	probe.run = reader.get(8);
	probe.peer_run = reader.get(8);
	std::uint32_t sequence = reader.get(4);
	probe.pair = sequence / 2;
	probe.which = sequence % 2;
	for (auto *side : {&probe.sent, &probe.heard}) {
		for (ProbeStamps &stamps : *side) {
			if (!probe_wire::get_stamps(reader, stamps))
				return std::nullopt;
		}
	}
	// runs are above 0
	return probe.run ? std::optional(probe) : std::nullopt;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_PROBE_WIRE_H
