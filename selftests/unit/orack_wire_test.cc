// SPDX-License-Identifier: GPL-2.0
// OR-ACKs on the wire: sch_onramp/orack/orack_wire.h

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_wire.h"

namespace {

using Bytes = std::vector<u8>;

orack_header receipt(u8 count, u8 key = 0)
{
	return {ORACK_RECEIPT, key, count, false, 0x12345678, 0x1122334455667788};
}

orack_header announcement(u32 lifetime_ms)
{
	return {ORACK_ANNOUNCEMENT, 0, 1, false, lifetime_ms, 99};
}

Bytes encode_clock(const orack_clock_entry &c, u8 key = 0)
{
	orack_header h = {ORACK_CLOCK, key, 1, false, 0x12345678, 0x1122334455667788};
	Bytes out(ORACK_BYTES_MAX);

	out.resize(orack_encode_clock(out.data(), &h, &c));
	if (key)
		out.resize(out.size() + ORACK_MAC_BYTES, 0xaa);
	return out;
}

Bytes encode(const orack_header &h, const std::vector<orack_entry> &entries)
{
	Bytes out(ORACK_BYTES_MAX);

	out.resize(orack_encode(out.data(), &h, entries.data()));
	if (h.key)
		out.resize(out.size() + ORACK_MAC_BYTES, 0xaa);
	return out;
}

// On a heap block of just that size, so that ASAN sees a byte read too far.
orack_fault decode(const Bytes &in, orack_datagram *d)
{
	auto exact = std::make_unique<u8[]>(in.size());

	if (!in.empty())
		std::memcpy(exact.get(), in.data(), in.size());
	orack_fault fault = orack_decode(exact.get(), in.size(), d);
	if (fault == ORACK_GOOD) {
		orack_entry e;
		for (u32 i = 0; i < d->h.count; i++)
			orack_read_entry(d, i, &e);
		EXPECT_LE(d->maced_bytes + (d->mac ? ORACK_MAC_BYTES : 0), in.size());
	}
	return fault;
}

orack_fault fault_of(const Bytes &in)
{
	orack_datagram d;

	return decode(in, &d);
}

const std::vector<orack_entry> kThree = {
	{5001, 40000, 0xfffffff0, 0}, {1, 65535, 7, ORACK_AGE_MAX_NS}, {80, 81, 0, 1}};

TEST(orack_encode, three_flows__are_read_back)
{
	Bytes wire = encode(receipt(3), kThree);
	orack_datagram d;
	orack_entry e;

	ASSERT_EQ(orack_decode(wire.data(), wire.size(), &d), ORACK_GOOD);
	EXPECT_EQ(d.h.kind, ORACK_RECEIPT);
	EXPECT_EQ(d.h.count, 3);
	EXPECT_EQ(d.h.clock, 0x12345678u);
	EXPECT_EQ(d.h.time_ns, 0x1122334455667788u);
	EXPECT_EQ(d.mac, nullptr);
	for (u32 i = 0; i < 3; i++) {
		orack_read_entry(&d, i, &e);
		EXPECT_EQ(e.sport, kThree[i].sport);
		EXPECT_EQ(e.dport, kThree[i].dport);
		EXPECT_EQ(e.end_seq, kThree[i].end_seq);
		EXPECT_EQ(e.age_ns, kThree[i].age_ns);
	}
}

TEST(orack_encode, layout__is_that_of_the_documentation)
{
	const Bytes expected = {
		1, 1, 0, 1, 0x12, 0x34, 0x56, 0x78,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
		0x13, 0x89, 0x9c, 0x40, 0x01, 0x02, 0x03, 0x04, 0x00, 0x00, 0x27, 0x10};

	EXPECT_EQ(encode(receipt(1), {{5001, 40000, 0x01020304, 10000}}), expected);
}

Bytes encode_price(u8 kind, const orack_price_entry &p, u8 key = 0, u32 clock = 0)
{
	orack_header h = {kind, key, 1, false, clock, 0x1122334455667788};
	Bytes out(ORACK_BYTES_MAX);

	out.resize(orack_encode_price(out.data(), &h, &p));
	if (key)
		out.resize(out.size() + ORACK_MAC_BYTES, 0xaa);
	return out;
}

TEST(orack_encode_price, layout__is_that_of_the_documentation)
{
	const Bytes expected = {
		1, 5, 0, 1, 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
		0x01, 0x02, 0x03, 0x04, 0, 0, 0x10, 0x20, 0x05, 0x06, 0x07, 0x08};

	EXPECT_EQ(encode_price(ORACK_PRICE_OF_ALL, {0x01020304, 0x1020, 0x05060708}), expected);
}

TEST(orack_encode_price, price__is_read_back)
{
	for (u8 key : {0, 3}) {
		Bytes wire = encode_price(ORACK_PRICE, {ORACK_PRICE_MAX_Q, ORACK_WEIGHT_MAX, 0x9c401389}, key);
		orack_price_entry p;
		orack_datagram d;

		ASSERT_EQ(orack_decode(wire.data(), wire.size(), &d), ORACK_GOOD);
		orack_read_price(&d, &p);
		EXPECT_EQ(p.price_q, ORACK_PRICE_MAX_Q);
		EXPECT_EQ(p.weight, ORACK_WEIGHT_MAX);
		EXPECT_EQ(p.told_q, 0x9c401389u);
		EXPECT_EQ(d.mac != nullptr, key != 0);
	}
}

TEST(orack_decode, price_out_of_range__is_a_bad_value)
{
	constexpr u32 kMost = ORACK_PRICE_MAX_Q, kPorts = 0x10001;

	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {kMost, 1, kPorts})), ORACK_GOOD);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {kMost + 1, 1, kPorts})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {1, 0, kPorts})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {1, ORACK_WEIGHT_MAX + 1, kPorts})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {1, 1, 1})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {1, 1, 1 << 16})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE, {1, 1, kPorts}, 0, 7)), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE_OF_ALL, {1, 1, kMost})), ORACK_GOOD);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE_OF_ALL, {1, 1, kMost + 1})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_price(ORACK_PRICE_OF_ALL, {1, 1, 1}, 0, 7)), ORACK_BAD_VALUE);
}

TEST(orack_encode, most_entries_with_mac__fit)
{
	std::vector<orack_entry> entries(ORACK_ENTRIES_MAX, orack_entry{1, 2, 3, 4});
	Bytes wire = encode(receipt(ORACK_ENTRIES_MAX, 9), entries);
	orack_datagram d;

	EXPECT_EQ(wire.size(), static_cast<size_t>(ORACK_BYTES_MAX));
	ASSERT_EQ(orack_decode(wire.data(), wire.size(), &d), ORACK_GOOD);
	EXPECT_EQ(d.mac, wire.data() + wire.size() - ORACK_MAC_BYTES);
	EXPECT_EQ(d.maced_bytes, wire.size() - ORACK_MAC_BYTES);
}

TEST(orack_encode, few__is_the_first_bit_of_the_count)
{
	for (orack_header h : {receipt(1), announcement(1000)}) {
		h.sparse = true;
		Bytes wire = encode(h, {{1, 2, 0, 0}});
		orack_datagram d;

		EXPECT_EQ(wire[3], 0x81);
		ASSERT_EQ(orack_decode(wire.data(), wire.size(), &d), ORACK_GOOD);
		EXPECT_TRUE(d.h.sparse);
		EXPECT_EQ(d.h.count, 1);
		wire[3] = 1;
		ASSERT_EQ(orack_decode(wire.data(), wire.size(), &d), ORACK_GOOD);
		EXPECT_FALSE(d.h.sparse);
	}
}

TEST(orack_decode, few_in_a_clock__is_refused)
{
	Bytes wire = encode_clock({1, 2});

	wire[3] |= 0x80;
	EXPECT_EQ(fault_of(wire), ORACK_BAD_COUNT);
}

TEST(orack_decode, every_length_but_the_right_one__is_refused)
{
	for (u8 key : {0, 3}) {
		Bytes wire = encode(receipt(3, key), kThree);
		size_t right = wire.size();

		wire.resize(right + 40);
		for (size_t length = 0; length <= wire.size(); length++) {
			Bytes part(wire.begin(), wire.begin() + length);
			EXPECT_EQ(fault_of(part), length == right ? ORACK_GOOD : ORACK_BAD_LENGTH)
				<< length;
		}
	}
}

TEST(orack_decode, header__other_values_are_refused)
{
	Bytes wire = encode(receipt(1), {{1, 2, 3, 4}});

	for (int value = 0; value < 256; value++) {
		Bytes other = wire;
		other[0] = value;
		EXPECT_EQ(fault_of(other), value == 1 ? ORACK_GOOD : ORACK_BAD_VERSION);
		other = wire;
		other[1] = value;
		// As an announcement its entry is not empty, and its lifetime too long.
		// As a clock it has an error of 4 ns. As a price it is of a clock.
		EXPECT_EQ(fault_of(other), value == ORACK_RECEIPT || value == ORACK_CLOCK ? ORACK_GOOD :
			  value == ORACK_ANNOUNCEMENT || orack_kind_is_price(value) ?
			  ORACK_BAD_VALUE : ORACK_BAD_KIND);
		other = wire;
		other[3] = value;
		// The first bit is no part of the count.
		u32 count = value % 128;
		EXPECT_EQ(fault_of(other), count == 1 ? ORACK_GOOD :
			  count && count <= ORACK_ENTRIES_MAX ? ORACK_BAD_LENGTH : ORACK_BAD_COUNT);
	}
}

TEST(orack_decode, entry__nonsense_is_refused)
{
	EXPECT_EQ(fault_of(encode(receipt(1), {{0, 2, 3, 4}})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode(receipt(1), {{1, 0, 3, 4}})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode(receipt(1), {{1, 2, 3, ORACK_AGE_MAX_NS + 1}})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode(receipt(2), {{1, 2, 3, 4}, {0, 2, 3, 4}})), ORACK_BAD_VALUE);
}

TEST(orack_decode, announcement__has_one_empty_entry_and_a_lifetime)
{
	EXPECT_EQ(fault_of(encode(announcement(10000), {{1, 2, 0, 0}})), ORACK_GOOD);
	EXPECT_EQ(fault_of(encode(announcement(0), {{1, 2, 0, 0}})), ORACK_GOOD);
	EXPECT_EQ(fault_of(encode(announcement(ORACK_LIFETIME_MAX_MS + 1), {{1, 2, 0, 0}})),
		  ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode(announcement(1), {{1, 2, 1, 0}})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode(announcement(1), {{1, 2, 0, 1}})), ORACK_BAD_VALUE);

	orack_header two = announcement(1);
	two.count = 2;
	EXPECT_EQ(fault_of(encode(two, {{1, 2, 0, 0}, {1, 2, 0, 0}})), ORACK_BAD_COUNT);
}

TEST(orack_encode_clock, any_value__is_read_back)
{
	for (u64 real : {0ULL, 1ULL, 1700000000123456789ULL, ~0ULL}) {
		for (u32 error : {0u, 1u, ORACK_ERROR_MAX_NS}) {
			Bytes wire = encode_clock({real, error});
			orack_datagram d;
			orack_clock_entry c;

			ASSERT_EQ(decode(wire, &d), ORACK_GOOD);
			ASSERT_EQ(orack_decode(wire.data(), wire.size(), &d), ORACK_GOOD);
			orack_read_clock(&d, &c);
			EXPECT_EQ(d.h.kind, ORACK_CLOCK);
			EXPECT_EQ(d.h.clock, 0x12345678u);
			EXPECT_EQ(d.h.time_ns, 0x1122334455667788u);
			EXPECT_EQ(c.real_ns, real);
			EXPECT_EQ(c.error_ns, error);
		}
	}
}

TEST(orack_encode_clock, layout__is_that_of_the_documentation)
{
	const Bytes expected = {
		1, 3, 0, 1, 0x12, 0x34, 0x56, 0x78,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x00, 0x00, 0x27, 0x10};

	EXPECT_EQ(encode_clock({0x0102030405060708, 10000}), expected);
}

// An identity that changes begins anew whatever it means; who stamped is no other clock.
TEST(orack_clock_of, who_stamped__is_in_the_last_bit)
{
	EXPECT_TRUE(orack_clock_is_nic(0x12345679));
	EXPECT_FALSE(orack_clock_is_nic(0x12345678));
	EXPECT_EQ(orack_clock_of(0x12345679), 0x12345678u);
	EXPECT_EQ(orack_clock_of(0x12345678), 0x12345678u);
}

TEST(orack_decode, clock__error_beyond_the_bound_or_two_entries_are_refused)
{
	EXPECT_EQ(fault_of(encode_clock({1, ORACK_ERROR_MAX_NS + 1})), ORACK_BAD_VALUE);
	EXPECT_EQ(fault_of(encode_clock({1, ~0u})), ORACK_BAD_VALUE);

	orack_header two = {ORACK_CLOCK, 0, 2, false, 1, 1};
	EXPECT_EQ(fault_of(encode(two, {{1, 2, 0, 0}, {1, 2, 0, 0}})), ORACK_BAD_COUNT);
}

// What is taken is what its encoding gives back: no two readings, no byte without meaning.
void expect_canonical(const Bytes &in, const orack_datagram &d)
{
	std::vector<orack_entry> entries(d.h.count);
	orack_datagram again = d;

	again.entries = in.data() + ORACK_HEADER_BYTES;
	for (u32 i = 0; i < d.h.count; i++)
		orack_read_entry(&again, i, &entries[i]);
	Bytes out(ORACK_BYTES_MAX);
	u32 bytes = orack_encode(out.data(), &d.h, entries.data());
	ASSERT_EQ(bytes, d.maced_bytes);
	ASSERT_EQ(std::memcmp(out.data(), in.data(), bytes), 0);
}

TEST(orack_decode, million_random_and_mutated_datagrams__none_read_wrong)
{
	std::mt19937 random(4);
	std::vector<Bytes> seeds = {encode(receipt(3), kThree), encode(receipt(3, 1), kThree),
				    encode(announcement(1000), {{1, 2, 0, 0}}),
				    encode_clock({1700000000123456789, 500}),
				    encode_clock({~0ULL, 0}, 1)};
	size_t good = 0;

	for (int i = 0; i < 1000000; i++) {
		Bytes in;
		if (random() % 4 == 0) {
			in.resize(random() % 64);
			for (u8 &byte : in)
				byte = random();
			if (!in.empty() && random() % 2)
				in[0] = ORACK_VERSION;
		} else {
			in = seeds[random() % seeds.size()];
			for (int n = random() % 4; n; n--)
				in[random() % in.size()] ^= 1 << random() % 8;
			if (random() % 8 == 0)
				in.resize(random() % (in.size() + 20));
		}
		orack_datagram d;
		if (decode(in, &d) == ORACK_GOOD) {
			good++;
			expect_canonical(in, d);
		}
	}
	EXPECT_GT(good, 100000u);
	EXPECT_LT(good, 900000u);
}

}  // namespace
