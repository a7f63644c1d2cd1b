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
#include <cstring>
#include <optional>
#include <vector>

#include <sodium/crypto_shorthash.h>
#include <sodium/utils.h>

#include "../onramp.h"

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

constexpr std::size_t kSignedBytes = kProbeBytes - crypto_shorthash_BYTES;
constexpr std::uint8_t kBegin[] = {'T', 'P', 'c', 'd', 1, 1};
// 2^62 ns are 146 years; differences of such stamps do not overflow.
constexpr std::uint64_t kStampMax = std::uint64_t(1) << 62;
// Pairs of a second for a year and more.
constexpr std::uint32_t kPairMax = INT32_MAX;

class Writer {
public:
	explicit Writer(std::uint8_t *to) : to_(to) {}

	void put(std::uint64_t value, unsigned bytes)
	{
		while (bytes--)
			*to_++ = value >> 8 * bytes;
	}

private:
	std::uint8_t *to_;
};

class Reader {
public:
	explicit Reader(const std::uint8_t *from) : from_(from) {}

	std::uint64_t get(unsigned bytes)
	{
		std::uint64_t value = 0;

		while (bytes--)
			value = value << 8 | *from_++;
		return value;
	}

private:
	const std::uint8_t *from_;
};

inline void hash(std::uint8_t *to, const std::uint8_t *bytes, const OnrampAddress &from, const OnrampKey &key)
{
	static_assert(crypto_shorthash_KEYBYTES == sizeof(OnrampKey));
	std::array<std::uint8_t, sizeof(OnrampAddress) + kSignedBytes> all;

	std::memcpy(all.data(), from.data(), from.size());
	std::memcpy(all.data() + from.size(), bytes, kSignedBytes);
	crypto_shorthash(to, all.data(), all.size(), key.data());
}

inline bool is_signed(const std::uint8_t *bytes, const OnrampAddress &from, const std::vector<OnrampNumberedKey> &keys)
{
	std::uint8_t expected[crypto_shorthash_BYTES];

	for (const OnrampNumberedKey &key : keys) {
		if (key.id != bytes[6])
			continue;
		hash(expected, bytes, from, key.key);
		return !sodium_memcmp(expected, bytes + kSignedBytes, sizeof(expected));
	}
	return false;
}

inline bool get_stamps(Reader &reader, ProbeStamps &stamps)
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
	probe_wire::Writer writer(bytes.data() + 8);

	std::memcpy(bytes.data(), probe_wire::kBegin, sizeof(probe_wire::kBegin));
	bytes[6] = key.id;
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
	probe_wire::hash(bytes.data() + probe_wire::kSignedBytes, bytes.data(), from, key.key);
	return bytes;
}

// Nothing: it is no probe, not from there, or none of these keys signed it.
inline std::optional<Probe> probe_decode(const std::uint8_t *bytes, std::size_t length, const OnrampAddress &from,
					 const std::vector<OnrampNumberedKey> &keys)
{
	Probe probe;

	if (length != kProbeBytes || std::memcmp(bytes, probe_wire::kBegin, sizeof(probe_wire::kBegin)) || bytes[7] ||
	    !probe_wire::is_signed(bytes, from, keys))
		return std::nullopt;
	probe_wire::Reader reader(bytes + 8);
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
