// SPDX-License-Identifier: GPL-2.0
//
// The same seed must give the same traffic with any C++ library, so neither the generator
// nor the distributions are the library's: splitmix64 seeds xoshiro256** (Blackman, Vigna).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace vload
{

class Rng {
public:
	explicit Rng(uint64_t seed)
	{
		for (auto &word : state_)
			word = splitmix(seed);
	}

	// A stream of its own for each load: adding a load must not change the others.
	Rng(uint64_t seed, uint64_t stream) : Rng(mix(seed) ^ mix(stream + 0x51ed2701)) {}

	uint64_t next()
	{
		uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
		uint64_t t = state_[1] << 17;

		state_[2] ^= state_[0];
		state_[3] ^= state_[1];
		state_[1] ^= state_[2];
		state_[0] ^= state_[3];
		state_[2] ^= t;
		state_[3] = std::rotl(state_[3], 45);
		return result;
	}

	// [0, 1)
	double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

	// [0, n); the bias of the multiplication is below n / 2^64
	uint64_t below(uint64_t n)
	{
		return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
	}

	double exponential(double mean) { return -mean * std::log1p(-uniform()); }

	template <typename T> void shuffle(std::vector<T> &items)
	{
		for (size_t i = items.size(); i > 1; i--)
			std::swap(items[i - 1], items[below(i)]);
	}

private:
	static uint64_t splitmix(uint64_t &state)
	{
		uint64_t z = (state += 0x9e3779b97f4a7c15);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		return z ^ (z >> 31);
	}

	static uint64_t mix(uint64_t value) { return splitmix(value); }

	uint64_t state_[4];
};

} // namespace vload
