// SPDX-License-Identifier: GPL-2.0
//
// What all datagrams of turnpike clockd share. Numbers are big-endian.
//
//     | "TPcd"                              | 1 | kind | key id | 0 |   + 0
//     ...
//     | SipHash-2-4                                                 |   last 8 bytes
//
// The hash is over the sender's address, IPv4 mapped into IPv6, and all before it: a datagram of one host is not taken
// for another's.
#ifndef TURNPIKE_TOOLS_CLOCKD_SIGNED_DATAGRAM_H
#define TURNPIKE_TOOLS_CLOCKD_SIGNED_DATAGRAM_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sodium/crypto_shorthash.h>
#include <sodium/utils.h>

#include "../onramp.h"

namespace turnpike::clockd_wire {

enum class DatagramKind : std::uint8_t { probe = 1, report = 2, answer = 3 };

constexpr std::size_t kHashBytes = crypto_shorthash_BYTES;
constexpr std::size_t kHeadBytes = 8;
// With UDP's and IPv6's headers below 1500.
constexpr std::size_t kMostBytes = 1400;

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

inline void put_head(std::uint8_t *to, DatagramKind kind, unsigned key_id)
{
	const std::uint8_t head[kHeadBytes] = {
		'T', 'P', 'c', 'd', 1, static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(key_id), 0};

	std::memcpy(to, head, sizeof(head));
}

// bytes: of the whole datagram.
inline bool has_head(const std::uint8_t *from, std::size_t bytes, DatagramKind kind)
{
	const std::uint8_t head[] = {'T', 'P', 'c', 'd', 1, static_cast<std::uint8_t>(kind)};

	return bytes >= kHeadBytes + kHashBytes && !std::memcmp(from, head, sizeof(head)) && !from[7];
}

// bytes: of what is signed, at most kMostBytes.
inline void hash(std::uint8_t *to, const std::uint8_t *signed_, std::size_t bytes, const OnrampAddress &from,
		 const OnrampKey &key)
{
	static_assert(crypto_shorthash_KEYBYTES == sizeof(OnrampKey));
	std::array<std::uint8_t, sizeof(OnrampAddress) + kMostBytes> all;

	std::memcpy(all.data(), from.data(), from.size());
	std::memcpy(all.data() + from.size(), signed_, bytes);
	crypto_shorthash(to, all.data(), from.size() + bytes, key.data());
}

// bytes: of the whole datagram, head and hash at least.
inline bool is_signed(const std::uint8_t *datagram, std::size_t bytes, const OnrampAddress &from,
		      const std::vector<OnrampNumberedKey> &keys)
{
	std::uint8_t expected[kHashBytes];

	if (bytes > kMostBytes)
		return false;
	for (const OnrampNumberedKey &key : keys) {
		if (key.id != datagram[6])
			continue;
		hash(expected, datagram, bytes - kHashBytes, from, key.key);
		return !sodium_memcmp(expected, datagram + bytes - kHashBytes, sizeof(expected));
	}
	return false;
}

}  // namespace turnpike::clockd_wire

#endif  // TURNPIKE_TOOLS_CLOCKD_SIGNED_DATAGRAM_H
