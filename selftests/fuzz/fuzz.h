/* SPDX-License-Identifier: GPL-2.0 */
// What every fuzzed parser is called with, and how its properties are held.
#ifndef TURNPIKE_FUZZ_H
#define TURNPIKE_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes);

// A property of a parser that an input broke: libFuzzer keeps the input.
#define HOLDS(condition) \
	do { \
		if (!(condition)) { \
			std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
			std::abort(); \
		} \
	} while (0)

// In memory of its own, so that the sanitizer sees the first byte that is read behind it.
inline std::vector<std::uint8_t> exact_copy(const std::uint8_t *data, std::size_t bytes)
{
	return std::vector<std::uint8_t>(data, data + bytes);
}

inline std::string text_of(const std::uint8_t *data, std::size_t bytes)
{
	return std::string(reinterpret_cast<const char *>(data), bytes);
}

#endif  // TURNPIKE_FUZZ_H
