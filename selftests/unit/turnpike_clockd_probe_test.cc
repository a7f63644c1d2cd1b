// SPDX-License-Identifier: GPL-2.0
//
// Probes of turnpike clockd: on the wire, until their stamps are known, and what a pair of hosts makes of them.
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tools/turnpike/clockd/drift_filter.h"
#include "tools/turnpike/clockd/hosts_file.h"
#include "tools/turnpike/clockd/kernel_offsets.h"
#include "tools/turnpike/clockd/nic_realtime.h"
#include "tools/turnpike/clockd/pair_clock.h"
#include "tools/turnpike/clockd/probe_track.h"
#include "tools/turnpike/clockd/probe_wire.h"
#include "tools/turnpike/command.h"

using namespace turnpike;

namespace {

constexpr std::int64_t kSecond = 1000000000;

const OnrampAddress kHost = onramp_address("10.0.0.1"), kOther = onramp_address("10.0.0.2");
const OnrampNumberedKey kKey = {7, onramp_key("000102030405060708090a0b0c0d0e0f")};
const OnrampNumberedKey kNextKey = {8, onramp_key("0f0e0d0c0b0a09080706050403020100")};

// -- probe_wire

Probe some_probe()
{
	Probe probe;

	probe.run = 0x1122334455667788;
	probe.peer_run = 0x99aabbccddeeff00;
	probe.pair = 41;
	probe.which = 1;
	probe.sent[0] = {40, {1700000000000000001, 1700000000000000301}};
	probe.heard[0] = {977, {1700000000000000777, 1700000000000001077}};
	probe.heard[1] = {976, {1, INT64_C(1) << 61}};
	return probe;
}

TEST(probe_wire, what_is_written__is_read)
{
	ProbeBytes bytes = probe_encode(some_probe(), kHost, kKey);

	EXPECT_EQ(probe_decode(bytes.data(), bytes.size(), kHost, {kKey}), some_probe());
	// while a key is changed, both are known
	EXPECT_EQ(probe_decode(bytes.data(), bytes.size(), kHost, {kNextKey, kKey}), some_probe());
}

TEST(probe_wire, hash__is_siphash_of_address_and_datagram)
{
	ProbeBytes bytes = probe_encode(Probe{1, 0, 0, 0, {}, {}}, kHost, kKey);
	std::vector<std::uint8_t> tail(bytes.end() - 8, bytes.end());

	// by another SipHash, of ::ffff:10.0.0.1, 5450636401010700 0000000000000001, and 92 zeroes
	EXPECT_EQ(tail, (std::vector<std::uint8_t>{0x63, 0xb4, 0xeb, 0xf7, 0x79, 0xd1, 0x75, 0x8b}));
}

TEST(probe_wire, any_byte_that_is_another__is_refused)
{
	ProbeBytes bytes = probe_encode(some_probe(), kHost, kKey);

	for (std::size_t i = 0; i < bytes.size(); i++) {
		bytes[i] ^= 1;
		EXPECT_FALSE(probe_decode(bytes.data(), bytes.size(), kHost, {kKey})) << i;
		bytes[i] ^= 1;
	}
}

TEST(probe_wire, another_length_sender_or_key__is_refused)
{
	ProbeBytes bytes = probe_encode(some_probe(), kHost, kKey);

	for (std::size_t length : {0, 1, 115})
		EXPECT_FALSE(probe_decode(bytes.data(), length, kHost, {kKey})) << length;
	std::vector<std::uint8_t> longer(bytes.begin(), bytes.end());
	longer.push_back(0);
	EXPECT_FALSE(probe_decode(longer.data(), longer.size(), kHost, {kKey}));
	EXPECT_FALSE(probe_decode(bytes.data(), bytes.size(), kOther, {kKey}));
	EXPECT_FALSE(probe_decode(bytes.data(), bytes.size(), kHost, {kNextKey}));
	EXPECT_FALSE(probe_decode(bytes.data(), bytes.size(), kHost, {{7, kNextKey.key}}));
	EXPECT_FALSE(probe_decode(bytes.data(), bytes.size(), kHost, {}));
}

// One who has the key may still be wrong.
TEST(probe_wire, stamps_that_cannot_be__are_refused)
{
	auto refused = [](const std::function<void(Probe &)> &change) {
		Probe probe = some_probe();
		change(probe);
		ProbeBytes bytes = probe_encode(probe, kHost, kKey);
		return !probe_decode(bytes.data(), bytes.size(), kHost, {kKey});
	};

	EXPECT_FALSE(refused([](Probe &) {}));
	EXPECT_TRUE(refused([](Probe &p) { p.run = 0; }));
	EXPECT_TRUE(refused([](Probe &p) { p.sent[0].ns[0] = 0; }));
	EXPECT_TRUE(refused([](Probe &p) { p.sent[1].pair = 3; }));
	EXPECT_TRUE(refused([](Probe &p) { p.heard[0].ns[1] = -1; }));
	EXPECT_TRUE(refused([](Probe &p) { p.heard[0].ns[1] = INT64_C(1) << 62; }));
	EXPECT_TRUE(refused([](Probe &p) { p.heard[0].pair = UINT32_C(1) << 31; }));
}

// -- probe_track

// Two hosts whose clocks are apart, and who hear each other after a second each way.
struct Two {
	ProbeTrack one{11}, other{22};
	std::int64_t now = 100 * kSecond, ahead = 5000;

	// A pair from the first to the second; lost: the first of both, the second.
	void there(bool first_lost = false, bool second_lost = false)
	{
		pass(one, other, 0, ahead, first_lost, second_lost);
	}

	void back(bool first_lost = false, bool second_lost = false)
	{
		pass(other, one, ahead, 0, first_lost, second_lost);
	}

	void pass(ProbeTrack &from, ProbeTrack &to, std::int64_t from_ahead, std::int64_t to_ahead, bool first_lost,
		  bool second_lost)
	{
		for (const Probe &probe : from.next()) {
			from.sent(probe.pair, probe.which, now + from_ahead);
			if (!(probe.which ? second_lost : first_lost))
				to.received(probe, now + 1000 + to_ahead);
			now += 100;
		}
		now += kSecond;
	}

	void rounds(int count)
	{
		for (int i = 0; i < count; i++) {
			there();
			back();
		}
	}
};

TEST(probe_track, pairs_there_and_back__are_whole_in_time)
{
	Two two;

	two.rounds(10);
	ProbePairs pairs = two.one.take();
	EXPECT_GE(pairs.there.size(), 8u);
	EXPECT_GE(pairs.back.size(), 8u);
	for (const ProbePair &pair : pairs.there)
		EXPECT_EQ(pair.received_ns[0] - pair.sent_ns[0], 1000 + 5000);
	for (const ProbePair &pair : pairs.back) {
		EXPECT_EQ(pair.received_ns[1] - pair.sent_ns[1], 1000 - 5000);
		EXPECT_EQ(pair.received_ns[1] - pair.received_ns[0], 100);
	}
	EXPECT_TRUE(two.one.take().there.empty());
}

TEST(probe_track, no_pair__counts_twice)
{
	Two two;

	two.rounds(20);
	ProbePairs pairs = two.one.take();
	std::set<std::int64_t> sent;
	for (const ProbePair &pair : pairs.there)
		EXPECT_TRUE(sent.insert(pair.sent_ns[0]).second);
	for (const ProbePair &pair : pairs.back)
		EXPECT_TRUE(sent.insert(pair.sent_ns[0]).second);
}

TEST(probe_track, half_a_pair__is_none)
{
	Two two;

	for (int i = 0; i < 10; i++) {
		two.there(i % 2, false);
		two.back();
	}
	EXPECT_LE(two.one.take().there.size(), 5u);
	EXPECT_LE(two.other.take().back.size(), 5u);
}

TEST(probe_track, datagram_that_is_lost__costs_no_other_pair)
{
	Two two;

	two.there();
	two.back();
	two.there();
	two.back();
	two.one.take();
	two.there();
	// the second answer says it again
	two.back(true, true);
	two.back();
	EXPECT_EQ(two.one.take().there.size(), 1u);
}

TEST(probe_track, stamp_that_is_missing__is_no_pair)
{
	ProbeTrack one(11), other(22);

	for (int i = 0; i < 6; i++) {
		for (const Probe &probe : one.next()) {
			if (i != 3 || !probe.which)
				one.sent(probe.pair, probe.which, 1000 * probe.pair + 1);
			other.received(probe, 1000 * probe.pair + 5);
		}
		for (const Probe &probe : other.next()) {
			other.sent(probe.pair, probe.which, 1000 * probe.pair + 1);
			one.received(probe, 1000 * probe.pair + 5);
		}
	}
	for (const ProbePair &pair : one.take().there) {
		EXPECT_NE(pair.sent_ns[0], 4001);
		EXPECT_TRUE(pair.sent_ns[1]);
	}
}

// What somebody recorded says another run than ours is now.
TEST(probe_track, datagram_of_an_earlier_run__is_not_believed)
{
	Two two;

	two.there();
	two.back();
	two.there();
	Probe recorded = two.other.next()[0];
	EXPECT_EQ(recorded.peer_run, 11u);
	ProbeTrack again(12);
	again.next();
	again.sent(1, 0, 5);
	again.sent(1, 1, 6);
	EXPECT_FALSE(again.received(recorded, 7));
	EXPECT_TRUE(again.take().there.empty());
}

TEST(probe_track, peer_that_began_anew__is_heard_again)
{
	Two two;

	two.rounds(5);
	two.other = ProbeTrack(33);
	two.one.take();
	two.rounds(5);
	ProbePairs pairs = two.one.take();
	EXPECT_GE(pairs.there.size(), 3u);
	EXPECT_GE(pairs.back.size(), 2u);
	for (const ProbePair &pair : pairs.back)
		EXPECT_EQ(pair.received_ns[0] - pair.sent_ns[0], 1000 - 5000);
}

TEST(probe_track, probe_that_comes_again__changes_nothing)
{
	ProbeTrack one(11), other(22);
	std::array<Probe, 2> first = one.next();

	one.sent(1, 0, 100);
	one.sent(1, 1, 200);
	// the other has to be met first
	other.received(first[0], 1);
	for (const Probe &probe : other.next())
		one.received(probe, 300);
	std::array<Probe, 2> second = one.next();
	one.sent(2, 0, 1100);
	one.sent(2, 1, 1200);
	EXPECT_TRUE(other.received(second[0], 1500));
	EXPECT_TRUE(other.received(second[1], 1600));
	EXPECT_TRUE(other.received(second[1], 99999));
	EXPECT_EQ(other.next()[0].heard[0].ns[1], 1600);
}

// -- drift_filter

TEST(drift_filter, offsets_on_a_line__are_followed)
{
	DriftFilter filter;

	EXPECT_FALSE(filter.at(0));
	for (int i = 0; i < 20; i++)
		EXPECT_TRUE(filter.heard(i * 4 * kSecond, 1000000 + i * 120000, 20, 3e-5, 2e-8));
	std::optional<OffsetNow> now = filter.at(84 * kSecond);
	ASSERT_TRUE(now);
	EXPECT_NEAR(now->offset_ns, 1000000 + 21 * 120000, 2);
	EXPECT_NEAR(now->drift, 3e-5, 1e-9);
	EXPECT_LT(now->sigma_ns, 150);
}

TEST(drift_filter, window_that_is_bad__moves_little)
{
	DriftFilter filter;

	for (int i = 0; i < 10; i++)
		filter.heard(i * 4 * kSecond, 500, 10, 0, 1e-8);
	EXPECT_TRUE(filter.heard(40 * kSecond, 5500, 3000, 0, 1e-6));
	EXPECT_NEAR(filter.at(40 * kSecond)->offset_ns, 500, 50);
}

TEST(drift_filter, offset_that_cannot_be__begins_anew)
{
	DriftFilter filter;

	for (int i = 0; i < 10; i++)
		filter.heard(i * 4 * kSecond, 500, 10, 0, 1e-8);
	EXPECT_FALSE(filter.heard(40 * kSecond, 1000500, 10, 0, 1e-8));
	EXPECT_NEAR(filter.at(40 * kSecond)->offset_ns, 1000500, 1);
	EXPECT_TRUE(filter.heard(44 * kSecond, 1000510, 10, 0, 1e-8));
}

TEST(drift_filter, sigma__grows_until_the_next_window)
{
	DriftFilter filter;

	filter.heard(0, 0, 10, 0, 1e-8);
	EXPECT_GE(filter.at(0)->sigma_ns, 10);
	EXPECT_GT(filter.at(4 * kSecond)->sigma_ns, 40);
	EXPECT_GT(filter.at(40 * kSecond)->sigma_ns, filter.at(4 * kSecond)->sigma_ns);
}

TEST(drift_filter, great_offset__keeps_its_nanoseconds)
{
	DriftFilter filter;

	for (int i = 0; i < 10; i++)
		filter.heard(i * 4 * kSecond, 900000000000000001, 10, 0, 1e-8);
	EXPECT_EQ(filter.at(40 * kSecond)->offset_ns, 900000000000000001);
}

// -- pair_clock

// A window of pairs on a path with a queue that is empty at times; `set_ns' in its middle.
ProbePairs window(std::int64_t begin_ns, std::int64_t ahead_ns, double drift, std::int64_t set_ns,
		  std::mt19937_64 &random)
{
	ProbePairs pairs;

	for (int i = 0; i < 200; i++) {
		std::int64_t at = begin_ns + i * kSecond / 50;
		std::int64_t ahead = ahead_ns + std::llround(drift * (at - 100 * kSecond)) + (i >= 100 ? set_ns : 0);
		std::int64_t queue = random() % 3 ? random() % 30000 : 0,
			     other_queue = random() % 3 ? random() % 30000 : 0;
		std::int64_t first = random() % 8, second = random() % 8;
		pairs.there.push_back({{at, at + 200},
				       {at + ahead + 6000 + queue + first, at + 200 + ahead + 6000 + queue + second}});
		at += 3000000;
		ahead = ahead_ns + std::llround(drift * (at - 100 * kSecond)) + (i >= 100 ? set_ns : 0);
		pairs.back.push_back({{at + ahead, at + 200 + ahead},
				      {at + 6000 + other_queue + first, at + 200 + 6000 + other_queue + second}});
	}
	return pairs;
}

TEST(pair_clock, offset_and_drift__are_found_through_queues)
{
	PairClock clock(8);
	std::mt19937_64 random(1);

	for (int i = 0; i < 12; i++)
		EXPECT_EQ(clock.heard(window((100 + 4 * i) * kSecond, -777000, 3e-5, 0, random)), "");
	std::optional<PeerOffset> now = clock.at(150 * kSecond);
	ASSERT_TRUE(now);
	EXPECT_NEAR(now->offset_ns, -777000 + 50 * 30000, 20);
	EXPECT_LE(std::llabs(now->offset_ns - (-777000 + 50 * 30000)), now->error_ns);
	EXPECT_LT(now->error_ns, 200);
	EXPECT_NEAR(now->drift, 3e-5, 1e-8);
	EXPECT_NEAR(clock.width_ns(), 12000, 30);
}

// The way there is empty in the first fifth of the window alone, the way back in the second: the widest strip is
// tilted.
TEST(pair_clock, queues_that_come_and_go__tilt_nothing)
{
	PairClock clock(8);
	std::mt19937_64 random(1);

	for (int i = 0; i < 10; i++)
		clock.heard(window((100 + 4 * i) * kSecond, 5000, 1e-6, 0, random));
	ProbePairs pairs = window(140 * kSecond, 5000, 1e-6, 0, random);
	for (std::size_t i = 40; i < pairs.there.size(); i++) {
		for (std::int64_t &ns : pairs.there[i].received_ns)
			ns += 20000 * static_cast<std::int64_t>(i - 40);
	}
	for (std::size_t i = 0; i < pairs.back.size(); i++) {
		std::int64_t from =
			std::max<std::int64_t>(40 - static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) - 80);
		for (std::int64_t &ns : pairs.back[i].received_ns)
			ns += 20000 * std::max<std::int64_t>(from, 0);
	}
	EXPECT_EQ(clock.heard(pairs), "");
	std::optional<PeerOffset> now = clock.at(144 * kSecond);
	EXPECT_NEAR(now->offset_ns, 5000 + 44000, 100);
	EXPECT_LE(std::llabs(now->offset_ns - 49000), now->error_ns);
	EXPECT_NEAR(now->drift, 1e-6, 2e-8);
}

TEST(pair_clock, drift_that_changes__is_followed)
{
	PairClock clock(8);
	std::mt19937_64 random(1);

	for (int i = 0; i < 10; i++)
		clock.heard(window((100 + 4 * i) * kSecond, 0, 0, 0, random));
	// from here on by 2 us a second
	for (int i = 10; i < 13; i++)
		clock.heard(window((100 + 4 * i) * kSecond, -80000, 2e-6, 0, random));
	std::optional<PeerOffset> now = clock.at(152 * kSecond);
	EXPECT_LE(std::llabs(now->offset_ns - 24000), now->error_ns);
	EXPECT_NEAR(now->offset_ns, 24000, 200);
}

TEST(pair_clock, silence_and_little__are_said)
{
	PairClock clock(8);
	std::mt19937_64 random(1);

	EXPECT_EQ(clock.heard({}), "does not answer");
	EXPECT_FALSE(clock.at(0));
	ProbePairs few = window(100 * kSecond, 0, 0, 0, random);
	few.back.resize(7);
	EXPECT_EQ(clock.heard(few), "too few probes come");
	few.back.clear();
	EXPECT_EQ(clock.heard(few), "too few probes come");
	// what was known before is known still
	clock.heard(window(100 * kSecond, 5, 0, 0, random));
	std::int64_t error_ns = clock.at(104 * kSecond)->error_ns;
	EXPECT_EQ(clock.heard({}), "does not answer");
	EXPECT_GT(clock.at(112 * kSecond)->error_ns, error_ns);
}

TEST(pair_clock, clock_that_is_set__is_forgotten_and_known_by_the_next_window)
{
	PairClock clock(8);
	std::mt19937_64 random(1);

	for (int i = 0; i < 10; i++)
		clock.heard(window((100 + 4 * i) * kSecond, 0, 0, 0, random));
	EXPECT_EQ(clock.heard(window(140 * kSecond, 0, 0, 1000000, random)), "a clock was set");
	EXPECT_FALSE(clock.at(144 * kSecond));
	EXPECT_EQ(clock.heard(window(144 * kSecond, 1000000, 0, 0, random)), "");
	EXPECT_NEAR(clock.at(148 * kSecond)->offset_ns, 1000000, 40);
}

TEST(pair_clock, clock_that_is_set_between_windows__is_said_and_known_at_once)
{
	PairClock clock(8);
	std::mt19937_64 random(1);

	for (int i = 0; i < 10; i++)
		clock.heard(window((100 + 4 * i) * kSecond, 0, 0, 0, random));
	EXPECT_EQ(clock.heard(window(140 * kSecond, 1000000, 0, 0, random)), "a clock was set");
	EXPECT_NEAR(clock.at(144 * kSecond)->offset_ns, 1000000, 40);
}

TEST(pair_clock, stamps_of_a_liar__are_no_overflow)
{
	PairClock clock(8);
	std::mt19937_64 random(1);
	const std::int64_t most = (INT64_C(1) << 62) - 1;

	for (int round = 0; round < 50; round++) {
		ProbePairs pairs = window(100 * kSecond, 0, 0, 0, random);
		for (ProbePair &pair : pairs.there)
			pair.received_ns = {random() % 2 ? 1 : most, random() % 2 ? 1 : most};
		for (ProbePair &pair : pairs.back)
			pair.sent_ns = {random() % 2 ? 1 : most, random() % 2 ? 1 : most};
		EXPECT_NE(clock.heard(pairs), "");
		auto now = clock.at(200 * kSecond);
		EXPECT_GE(now ? now->error_ns : 0, 0);
	}
}

// -- nic_realtime

TEST(nic_realtime, readings__make_a_line)
{
	NicRealtime clock;
	std::mt19937_64 random(1);

	EXPECT_FALSE(clock.known());
	// the NIC's clock gains 20 us a second, and a reading takes 400 ns
	for (int i = 0; i < 16; i++) {
		std::int64_t real = 1000 * kSecond + i * kSecond / 4, nic = 50 * kSecond + i * (kSecond / 4 + 5000);
		std::int64_t off = random() % 400;
		clock.read({real - off, nic, real - off + 400});
	}
	EXPECT_TRUE(clock.known());
	EXPECT_NEAR(clock.realtime(50 * kSecond + 16 * (kSecond / 4 + 5000)), 1000 * kSecond + 4 * kSecond, 150);
	EXPECT_EQ(clock.error_ns(), 200);
}

TEST(nic_realtime, clock_that_is_set__begins_anew)
{
	NicRealtime clock;

	for (int i = 0; i < 20; i++)
		clock.read({1000 + i * kSecond, i * kSecond, 1200 + i * kSecond});
	clock.read({kSecond + 1000 + 20 * kSecond, 20 * kSecond, kSecond + 1200 + 20 * kSecond});
	EXPECT_EQ(clock.realtime(21 * kSecond), 22 * kSecond + 1100);
}

// -- clockd_hosts

std::vector<OnrampAddress> hosts_of(const std::string &text)
{
	std::istringstream file(text);

	return clockd_hosts(file, "hosts");
}

TEST(clockd_hosts, addresses_and_remarks__are_read)
{
	EXPECT_EQ(hosts_of("# all\n10.0.0.1\n\n  10.0.0.2  # the other\nfd01::1\n"),
		  (std::vector<OnrampAddress>{kHost, kOther, onramp_address("fd01::1")}));
}

TEST(clockd_hosts, what_is_wrong__is_said_with_its_line)
{
	auto why = [](const std::string &text) -> std::string {
		try {
			hosts_of(text);
		} catch (const Error &error) {
			return error.what();
		}
		return "";
	};

	EXPECT_NE(why("10.0.0.1\nten\n").find("hosts, line 2: "), std::string::npos);
	EXPECT_NE(why("10.0.0.1\n10.0.0.1\n").find("line 2: 10.0.0.1 is there twice"), std::string::npos);
	EXPECT_NE(why("10.0.0.1\n").find("two hosts"), std::string::npos);
	EXPECT_NE(why("").find("two hosts"), std::string::npos);
}

TEST(clockd_mesh, all_hosts__come_to_one)
{
	std::vector<OnrampAddress> hosts;

	for (int i = 0; i < 40; i++)
		hosts.push_back(onramp_address("10.0.1." + std::to_string(i)));
	auto peers = [&hosts](std::uint16_t number) {
		return clockd_mesh(hosts, 6, [&](const OnrampAddress &a) { return a == hosts[number]; }).peers();
	};
	for (std::uint16_t number = 0; number < hosts.size(); number++) {
		EXPECT_EQ(peers(number).size(), 6u);
		for (std::uint16_t peer : peers(number)) {
			auto back = peers(peer);
			EXPECT_NE(std::find(back.begin(), back.end(), number), back.end());
		}
	}
	EXPECT_THROW(clockd_mesh(hosts, 6, [](const OnrampAddress &) { return false; }), Error);
}

TEST(clockd_mesh, host_that_is_none_of_it__is_said)
{
	ClockdMesh mesh = clockd_mesh({kHost, kOther}, 6, [](const OnrampAddress &a) { return a == kOther; });

	EXPECT_EQ(mesh.own, 1);
	EXPECT_EQ(mesh.number(kHost), 0);
	EXPECT_THROW(mesh.number(onramp_address("10.0.0.3")), Error);
}

// -- kernel_offsets

TEST(offset_to_tell, error__has_room_to_grow)
{
	PeerOffset told = offset_to_tell({1000, 30, -3e-5});

	EXPECT_EQ(told.offset_ns, 1000);
	EXPECT_EQ(told.error_ns, 40);
	EXPECT_EQ(told.drift, -3e-5);
	EXPECT_EQ(offset_to_tell({1000, 1, 0}).error_ns, 2);
}

TEST(offset_to_tell, drift__is_one_that_the_kernel_takes)
{
	EXPECT_EQ(offset_to_tell({0, 30, 2e-3}).drift, 1e-3);
	EXPECT_EQ(offset_to_tell({0, 30, -2e-3}).drift, -1e-3);
}

TEST(offset_is_another, a_quarter_of_its_error__is)
{
	EXPECT_FALSE(offset_is_another({1100, 400, 0}, {1000, 400, 0}, 0));
	EXPECT_TRUE(offset_is_another({1101, 400, 0}, {1000, 400, 0}, 0));
	EXPECT_TRUE(offset_is_another({899, 400, 0}, {1000, 400, 0}, 0));
}

TEST(offset_is_another, drift_that_was_told__is_none)
{
	EXPECT_FALSE(offset_is_another({31000, 400, 3e-5}, {1000, 400, 3e-5}, kSecond));
	EXPECT_TRUE(offset_is_another({31000, 400, 3e-5}, {1000, 400, 0}, kSecond));
	EXPECT_TRUE(offset_is_another({31000, 400, 3e-5}, {1000, 400, -3e-5}, kSecond));
}

TEST(offset_is_another, error_that_has_grown_by_a_quarter__is)
{
	EXPECT_FALSE(offset_is_another({1000, 500, 0}, {1000, 400, 0}, 0));
	EXPECT_TRUE(offset_is_another({1000, 501, 0}, {1000, 400, 0}, 0));
	EXPECT_FALSE(offset_is_another({1000, 100, 0}, {1000, 400, 0}, 0));
}

}  // namespace
