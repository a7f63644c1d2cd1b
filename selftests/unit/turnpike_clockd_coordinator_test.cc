// SPDX-License-Identifier: GPL-2.0
//
// The coordinator of turnpike clockd's mesh: datagrams, what makes them ones of now, what is made of reports, and what
// hosts make of answers.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tools/turnpike/clockd/clockd_shown.h"
#include "tools/turnpike/clockd/clockd_state.h"
#include "tools/turnpike/clockd/coordinated.h"
#include "tools/turnpike/clockd/coordinator.h"
#include "tools/turnpike/clockd/coordinator_wire.h"
#include "tools/turnpike/clockd/mesh_link.h"
#include "tools/turnpike/clockd/word_session.h"

using namespace turnpike;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kSecond = 1000000000, kWindow = 4 * kSecond, kNow = 1700000000 * kSecond;

const OnrampAddress kHost = onramp_address("10.0.0.1"), kOther = onramp_address("10.0.0.2");
const OnrampNumberedKey kKey = {7, onramp_key("000102030405060708090a0b0c0d0e0f")};
const OnrampNumberedKey kNextKey = {8, onramp_key("0f0e0d0c0b0a09080706050403020100")};

// -- word_session

// What of one comes to the other.
bool says(WordSession &one, WordSession &other) { return other.heard(one.next()); }

TEST(word_session, second_datagram__is_believed)
{
	WordSession host(11), coordinator(22);

	EXPECT_FALSE(says(host, coordinator));
	EXPECT_TRUE(says(coordinator, host));
	for (int i = 0; i < 5; i++) {
		EXPECT_TRUE(says(host, coordinator));
		EXPECT_TRUE(says(coordinator, host));
		// an answer of several datagrams
		EXPECT_TRUE(says(coordinator, host));
	}
	// answers that are lost harm nothing
	EXPECT_TRUE(says(host, coordinator));
	EXPECT_TRUE(says(host, coordinator));
}

TEST(word_session, recording__is_refused)
{
	WordSession host(11), coordinator(22);

	says(host, coordinator);
	says(coordinator, host);
	WordNumbers first = host.next(), second = host.next();
	EXPECT_TRUE(coordinator.heard(second));
	EXPECT_FALSE(coordinator.heard(second));
	EXPECT_FALSE(coordinator.heard(first));
	EXPECT_TRUE(says(coordinator, host));
	EXPECT_FALSE(coordinator.heard(second));
	// nor does it make the coordinator echo an older one
	EXPECT_EQ(coordinator.next().peer_number, second.number);
}

TEST(word_session, either_that_begins_anew__is_believed_again)
{
	WordSession host(11), coordinator(22);

	for (int i = 0; i < 5; i++) {
		says(host, coordinator);
		says(coordinator, host);
	}
	WordNumbers recorded = host.next();
	host = WordSession(12);
	EXPECT_FALSE(says(host, coordinator));
	EXPECT_TRUE(says(coordinator, host));
	EXPECT_TRUE(says(host, coordinator));
	EXPECT_FALSE(coordinator.heard(recorded));
	says(coordinator, host);
	recorded = coordinator.next();
	coordinator = WordSession(23);
	EXPECT_FALSE(says(host, coordinator));
	EXPECT_TRUE(says(coordinator, host));
	EXPECT_TRUE(says(host, coordinator));
	EXPECT_FALSE(host.heard(recorded));
}

TEST(word_session, number_that_was_never_said__is_no_echo)
{
	WordSession host(11), coordinator(22);

	says(host, coordinator);
	says(coordinator, host);
	WordNumbers forged = host.next();
	forged.peer_number = 2;
	EXPECT_FALSE(coordinator.heard(forged));
}

TEST(word_session, recording_of_another_run__is_refused_whatever_it_echoes)
{
	WordSession host(11), coordinator(22);

	for (int i = 0; i < 5; i++) {
		says(host, coordinator);
		says(coordinator, host);
	}
	WordNumbers recorded = host.next();
	coordinator = WordSession(23);
	for (int i = 0; i < 9; i++)
		coordinator.next();
	EXPECT_FALSE(coordinator.heard(recorded));
}

// -- coordinator_wire

ClockReport some_report()
{
	return {{0x1122334455667788, 0x99aabbccddeeff00, 5, 9},
		0x0123456789abcdef,
		{{3, -1234567890123, -30000000, 4321}, {4095, 1000000000000000, 400000000, 1}},
		{7, 0}};
}

ClockAnswer some_answer()
{
	return {{0x1122334455667788, 0, 5, 0},
		0x0123456789abcdef,
		kNow,
		{16, 15, 80, 2, 1234},
		{{3, true, true, false, -1234567890123, 30000000, 4321, -5},
		 {9, false, true, true, 0, 0, 0, 0},
		 {4, true, false, false, 5, -1, 0, 0}}};
}

TEST(coordinator_wire, what_is_written__is_read)
{
	auto report = report_encode(some_report(), kHost, kKey);
	auto answer = answer_encode(some_answer(), kHost, kKey);

	EXPECT_EQ(report.size(), 44 + 2 * 20 + 2 * 2 + 8u);
	EXPECT_EQ(answer.size(), 68 + 3 * 24 + 8u);
	EXPECT_EQ(report_decode(report.data(), report.size(), kHost, {kNextKey, kKey}, 4096), some_report());
	EXPECT_EQ(answer_decode(answer.data(), answer.size(), kHost, {kNextKey, kKey}, 4096), some_answer());
	// nor is one taken for the other
	EXPECT_FALSE(answer_decode(report.data(), report.size(), kHost, {kKey}, 4096));
	EXPECT_FALSE(report_decode(answer.data(), answer.size(), kHost, {kKey}, 4096));
}

TEST(coordinator_wire, any_byte_that_is_another__is_refused)
{
	auto report = report_encode(some_report(), kHost, kKey), answer = answer_encode(some_answer(), kHost, kKey);

	for (std::size_t i = 0; i < report.size(); i++) {
		report[i] ^= 1;
		EXPECT_FALSE(report_decode(report.data(), report.size(), kHost, {kKey}, 4096)) << i;
		report[i] ^= 1;
	}
	for (std::size_t i = 0; i < answer.size(); i++) {
		answer[i] ^= 1;
		EXPECT_FALSE(answer_decode(answer.data(), answer.size(), kHost, {kKey}, 4096)) << i;
		answer[i] ^= 1;
	}
}

// What would be one but for its kind.
TEST(coordinator_wire, report_as_long_as_an_answer__is_none)
{
	ClockReport report = some_report();

	report.edges.resize(1);
	report.wanted = {0, 0};
	auto bytes = report_encode(report, kHost, kKey);
	ASSERT_EQ(bytes.size(), answer_encode({{1, 0, 1, 0}, 0, 0, {}, {}}, kHost, kKey).size());
	EXPECT_FALSE(answer_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096));
	bytes[5] = 3;
	clockd_wire::hash(bytes.data() + bytes.size() - 8, bytes.data(), bytes.size() - 8, kHost, kKey.key);
	EXPECT_TRUE(answer_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096));
}

// Every length but its own, of a copy of just that length.
void refused_at_any_length(const std::vector<std::uint8_t> &datagram,
			   const std::function<bool(const std::vector<std::uint8_t> &)> &is_taken)
{
	for (std::size_t length = 0; length <= datagram.size() + 30; length++) {
		std::vector<std::uint8_t> other = datagram;
		other.resize(length);
		other.shrink_to_fit();
		EXPECT_EQ(is_taken(other), length == datagram.size()) << length;
	}
}

TEST(coordinator_wire, another_length_sender_or_key__is_refused)
{
	auto report = report_encode(some_report(), kHost, kKey), answer = answer_encode(some_answer(), kHost, kKey);

	refused_at_any_length(report, [](const auto &bytes) {
		return report_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096).has_value();
	});
	refused_at_any_length(answer, [](const auto &bytes) {
		return answer_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096).has_value();
	});
	EXPECT_FALSE(report_decode(report.data(), report.size(), kOther, {kKey}, 4096));
	EXPECT_FALSE(report_decode(report.data(), report.size(), kHost, {kNextKey}, 4096));
	EXPECT_FALSE(answer_decode(answer.data(), answer.size(), kOther, {kKey}, 4096));
	EXPECT_FALSE(answer_decode(answer.data(), answer.size(), kHost, {{7, kNextKey.key}}, 4096));
}

// One who has the key may still lie.
TEST(coordinator_wire, reports_that_cannot_be__are_refused)
{
	auto refused = [](const std::function<void(ClockReport &)> &change) {
		ClockReport report = some_report();
		change(report);
		auto bytes = report_encode(report, kHost, kKey);
		return !report_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096);
	};

	EXPECT_FALSE(refused([](ClockReport &) {}));
	EXPECT_TRUE(refused([](ClockReport &r) { r.numbers.run = 0; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.numbers.number = 0; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].host = 4096; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].host = 4095; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].offset_ns = -1000000000000001; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].offset_ns = INT64_MIN; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].drift_ppt = 400000001; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].drift_ppt = INT32_MIN; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.edges[0].sigma_ps = 0; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.wanted[0] = 4096; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.wanted[0] = 0; }));
	EXPECT_TRUE(refused([](ClockReport &r) { r.wanted[0] = 3; }));
}

TEST(coordinator_wire, answers_that_cannot_be__are_refused)
{
	auto refused = [](const std::function<void(ClockAnswer &)> &change) {
		ClockAnswer answer = some_answer();
		change(answer);
		auto bytes = answer_encode(answer, kHost, kKey);
		return !answer_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096);
	};

	EXPECT_FALSE(refused([](ClockAnswer &) {}));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.numbers.run = 0; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.at_ns = -1; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.at_ns = 0; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[0].host = 4096; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[1].host = 3; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[0].offset_ns = 1000000000000000001; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[0].drift_ppt = -400000001; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[1].offset_ns = 1; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[2].left_out = true; }));
	EXPECT_TRUE(refused([](ClockAnswer &a) { a.clocks[2].surplus_ns = 1; }));
}

TEST(coordinator_wire, most_that_fits__is_no_longer_than_a_frame)
{
	ClockReport report = some_report();
	ClockAnswer answer = some_answer();

	report.edges.clear();
	report.wanted.clear();
	answer.clocks.clear();
	for (HostNumber i = 0; i < 100; i++) {
		report.edges.push_back({i, 0, 0, 1});
		answer.clocks.push_back({i, true, false, false, 0, 0, 0, 0});
	}
	for (HostNumber i = 100; i < 1000; i++)
		report.wanted.push_back(i);
	for (std::size_t edges : {0u, 10u, 64u, 100u}) {
		ClockReport some = report;
		some.edges.resize(edges);
		auto bytes = report_encode(some, kHost, kKey);
		EXPECT_LE(bytes.size(), 1400u);
		EXPECT_GE(bytes.size(), 1399u);
		auto read = report_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096);
		ASSERT_TRUE(read);
		EXPECT_EQ(read->edges.size(), std::min<std::size_t>(edges, 64));
	}
	auto bytes = answer_encode(answer, kHost, kKey);
	EXPECT_LE(bytes.size(), 1400u);
	EXPECT_EQ(answer_decode(bytes.data(), bytes.size(), kHost, {kKey}, 4096)->clocks.size(), 55u);
}

TEST(hosts_digest, other_hosts_or_another_order__are_another)
{
	EXPECT_EQ(hosts_digest({kHost, kOther}), hosts_digest({kHost, kOther}));
	EXPECT_NE(hosts_digest({kHost, kOther}), hosts_digest({kOther, kHost}));
	EXPECT_NE(hosts_digest({kHost, kOther}), hosts_digest({kHost}));
}

// -- coordinator

// Hosts whose clocks are ahead and drift; each reports what it sees of its peers, which the coordinator, 0, hears later.
struct Hosts {
	explicit Hosts(std::uint32_t hosts, std::uint32_t peers)
		: count(hosts), mesh(random_mesh(hosts, peers, 3)), coordinator(hosts, 0, mesh, kWindow, 8)
	{
	}

	std::int64_t ahead_ns(std::uint32_t host, std::int64_t at_ns) const
	{
		return host * host * 1000000LL + std::llround(drift(host) * static_cast<double>(at_ns - kNow));
	}

	double drift(std::uint32_t host) const { return 1e-6 * (static_cast<double>(host % 31) - 15); }

	std::int64_t truth_ns(std::uint32_t one, std::uint32_t other, std::int64_t at_ns) const
	{
		return ahead_ns(other, at_ns) - ahead_ns(one, at_ns);
	}

	std::vector<std::uint32_t> peers(std::uint32_t host) const
	{
		std::vector<std::uint32_t> peers;

		for (const MeshEdge &edge : mesh) {
			if (edge.first == host || edge.second == host)
				peers.push_back(edge.first == host ? edge.second : edge.first);
		}
		return peers;
	}

	ClockReport report(std::uint32_t host, std::int64_t at_ns) const
	{
		ClockReport report;

		for (std::uint32_t peer : peers(host)) {
			std::int32_t drift_ppt = std::lround((drift(peer) - drift(host)) * 1e12);
			report.edges.push_back({static_cast<HostNumber>(peer), truth_ns(host, peer, at_ns), drift_ppt,
						10000});
		}
		return report;
	}

	// All report, one after the other, over the second before `at_ns'; change has a word with each.
	template <typename Change> void all_report(std::int64_t at_ns, const Change &change)
	{
		for (std::uint32_t host = 0; host < count; host++) {
			std::int64_t then_ns = at_ns - kSecond + host * (kSecond / count);
			ClockReport one = report(host, then_ns);
			if (change(host, one))
				coordinator.heard(host, then_ns, one);
		}
	}

	void solve(std::int64_t at_ns)
	{
		MeshProblem problem = coordinator.problem(at_ns);
		MeshClocks clocks = coordinator.solve(problem);

		coordinator.solved(std::move(problem), std::move(clocks));
	}

	// What the first answer says of all, off the truth by no more.
	void knows(std::uint32_t host, std::int64_t at_ns, std::size_t clocks, std::int64_t within_ns) const
	{
		auto answers = coordinator.answers(host);
		std::size_t known = 0;

		ASSERT_FALSE(answers.empty());
		for (const AnsweredClock &clock : answers[0].clocks) {
			known += clock.known;
			if (!clock.known)
				continue;
			EXPECT_NEAR(clock.offset_ns, truth_ns(host, clock.host, at_ns), within_ns)
				<< host << " of " << clock.host;
			EXPECT_NEAR(clock.drift_ppt, (drift(clock.host) - drift(host)) * 1e12, 1000);
		}
		EXPECT_EQ(known, clocks) << host;
	}

	std::uint32_t count;
	std::vector<MeshEdge> mesh;
	Coordinator coordinator;
};

bool as_it_is(std::uint32_t, ClockReport &) { return true; }

TEST(coordinator, reports_of_different_moments__make_clocks_of_one)
{
	Hosts hosts(30, 6);

	EXPECT_TRUE(hosts.coordinator.answers(5).empty());
	hosts.all_report(kNow, as_it_is);
	hosts.solve(kNow);
	for (std::uint32_t host : {0u, 5u, 29u}) {
		hosts.knows(host, kNow, 6, 1);
		EXPECT_EQ(hosts.coordinator.answers(host)[0].at_ns, kNow + hosts.truth_ns(0, host, kNow));
	}
	EXPECT_EQ(hosts.coordinator.summary(), (MeshSummary{30, 30, 90, 0, hosts.coordinator.summary().scale_milli}));
	EXPECT_TRUE(hosts.coordinator.misfits().empty());
}

TEST(coordinator, clocks_that_are_wanted__are_answered_besides_peers_in_datagrams_that_fit)
{
	Hosts hosts(200, 4);
	std::vector<std::uint32_t> peers = hosts.peers(7);

	hosts.all_report(kNow, [&](std::uint32_t host, ClockReport &report) {
		for (HostNumber other = 0; host == 7 && other < 200; other++) {
			if (std::find(peers.begin(), peers.end(), other) == peers.end())
				report.wanted.push_back(other);
		}
		return true;
	});
	hosts.solve(kNow);
	auto answers = hosts.coordinator.answers(7);
	std::set<HostNumber> named;
	ASSERT_EQ(answers.size(), 4u);
	for (const ClockAnswer &answer : answers) {
		EXPECT_LE(answer.clocks.size(), coordinator_wire::kClocksMost);
		for (const AnsweredClock &clock : answer.clocks) {
			EXPECT_TRUE(named.insert(clock.host).second);
			EXPECT_NEAR(clock.offset_ns, hosts.truth_ns(7, clock.host, kNow), 1);
		}
	}
	// all but itself
	EXPECT_EQ(named.size(), 199u);
}

TEST(coordinator, edge_whose_ends_differ__counts_for_neither)
{
	Hosts hosts(30, 6);
	HostNumber peer = hosts.peers(5)[0];

	hosts.all_report(kNow, [](std::uint32_t host, ClockReport &report) {
		if (host == 5)
			report.edges[0].offset_ns += 5000;
		return true;
	});
	hosts.solve(kNow);
	hosts.knows(5, kNow, 6, 1);
	for (std::uint32_t host : {5u, std::uint32_t(peer)}) {
		auto answers = hosts.coordinator.answers(host);
		for (const AnsweredClock &clock : answers[0].clocks) {
			bool is_it = mesh::edge(host, clock.host) == mesh::edge(5, peer);
			EXPECT_EQ(clock.left_out, is_it);
			// each sees what it says itself
			EXPECT_NEAR(clock.surplus_ns, host == 5 && is_it ? 5000 : 0, 1);
		}
	}
	EXPECT_EQ(hosts.coordinator.summary().left_out, 1u);
	EXPECT_EQ(hosts.coordinator.summary().edges, 90u);
}

// All that it says is a lie, and it says it is sure of it.
TEST(coordinator, liar__loses_its_edges_and_harms_no_other)
{
	Hosts hosts(30, 6);
	std::mt19937_64 random(1);

	hosts.all_report(kNow, [&](std::uint32_t host, ClockReport &report) {
		for (ReportedEdge &edge : report.edges) {
			if (host == 5) {
				edge.offset_ns += static_cast<std::int64_t>(random() % 2000000) - 1000000;
				edge.sigma_ps = 1;
			}
		}
		return true;
	});
	hosts.solve(kNow);
	for (std::uint32_t host = 0; host < 30; host++) {
		if (host == 5)
			continue;
		auto peers = hosts.peers(host);
		hosts.knows(host, kNow, 6 - std::count(peers.begin(), peers.end(), 5u), 1);
	}
	hosts.knows(5, kNow, 0, 1);
	EXPECT_EQ(hosts.coordinator.answers(5)[0].at_ns, 0);
	EXPECT_EQ(hosts.coordinator.misfits(), std::vector<HostNumber>{5});
}

// Its stamps lie, so that its peers say the same of it as it does.
TEST(coordinator, liar_by_its_stamps__is_left_out)
{
	Hosts hosts(30, 6);

	hosts.all_report(kNow, [](std::uint32_t host, ClockReport &report) {
		for (ReportedEdge &edge : report.edges) {
			if (host == 5)
				edge.offset_ns += 40000 * (edge.host + 1);
			if (edge.host == 5)
				edge.offset_ns -= 40000 * static_cast<std::int64_t>(host + 1);
		}
		return true;
	});
	hosts.solve(kNow);
	EXPECT_EQ(hosts.coordinator.misfits(), std::vector<HostNumber>{5});
	for (std::uint32_t peer : hosts.peers(5))
		hosts.knows(peer, kNow, 5, 1);
}

TEST(coordinator, sigma_that_no_stamps_have__pulls_no_other)
{
	Hosts hosts(3, 2);

	// a loop with 9 ns over, and one of its edges is said to be sure
	for (HostNumber host : {0, 1, 2}) {
		ClockReport report;
		for (HostNumber other : {0, 1, 2}) {
			std::int64_t offset_ns = host + other == 3 ? (host == 1 ? 9 : -9) : 0;
			if (other != host)
				report.edges.push_back({other, offset_ns, 0, host + other == 3 ? 1u : 2000u});
		}
		hosts.coordinator.heard(host, kNow, report);
	}
	hosts.solve(kNow);
	auto answers = hosts.coordinator.answers(0);
	for (const AnsweredClock &clock : answers[0].clocks)
		EXPECT_NEAR(std::abs(clock.offset_ns), 3, 1) << clock.host;
}

TEST(coordinator, edges_that_the_mesh_has_not__are_no_ones)
{
	Hosts hosts(30, 6);
	std::vector<std::uint32_t> peers = hosts.peers(5);

	hosts.all_report(kNow, [&](std::uint32_t host, ClockReport &report) {
		for (HostNumber other = 0; host == 5 && other < 30; other++) {
			if (other != 5 && std::find(peers.begin(), peers.end(), other) == peers.end())
				report.edges.push_back({other, 77777, 0, 1});
		}
		return true;
	});
	hosts.solve(kNow);
	EXPECT_EQ(hosts.coordinator.summary().edges, 90u);
	hosts.knows(5, kNow, 6, 1);
	hosts.knows(6, kNow, 6, 1);
}

TEST(coordinator, report__counts_for_three_windows)
{
	Hosts hosts(30, 6);

	hosts.all_report(kNow, as_it_is);
	for (int window = 1; window <= 3; window++) {
		std::int64_t now_ns = kNow + window * kWindow;
		hosts.all_report(now_ns, [](std::uint32_t host, ClockReport &) { return host != 5; });
		hosts.solve(now_ns);
		// its peers' edges to it go on; a dead host's do not
		EXPECT_EQ(hosts.coordinator.summary().reporting, window < 3 ? 30 : 29) << window;
	}
}

TEST(coordinator, dead_host__is_not_known_and_harms_no_other)
{
	Hosts hosts(30, 6);

	hosts.all_report(kNow, [](std::uint32_t host, ClockReport &report) {
		std::erase_if(report.edges, [](const ReportedEdge &edge) { return edge.host == 5; });
		return host != 5;
	});
	hosts.solve(kNow);
	EXPECT_EQ(hosts.coordinator.summary().known, 29);
	for (std::uint32_t peer : hosts.peers(5))
		hosts.knows(peer, kNow, 5, 1);
}

TEST(coordinator, clock_of_its_own_that_is_set__makes_reports_none)
{
	Hosts hosts(30, 6);

	hosts.all_report(kNow, as_it_is);
	EXPECT_EQ(hosts.coordinator.problem(kNow).reporting, 30);
	EXPECT_EQ(hosts.coordinator.problem(kNow - 3600 * kSecond).reporting, 0);
	EXPECT_EQ(hosts.coordinator.problem(kNow + 3600 * kSecond).reporting, 0);
}

// -- coordinated

ClockAnswer answer_of(std::int64_t at_ns)
{
	return {{1, 2, 3, 4}, 0, at_ns, {3, 3, 3, 0, 1000}, {{3, true, true, false, 777000, 20000000, 5000, -12},
							     {4, false, true, true, 0, 0, 0, 0}}};
}

TEST(coordinated, answer__goes_on_by_its_drift_and_its_error_grows)
{
	Coordinated known(kWindow, 8);

	EXPECT_FALSE(known.at(3, kNow));
	EXPECT_FALSE(known.is_answered(kNow));
	EXPECT_TRUE(known.heard(answer_of(kNow), kNow + 1000));
	std::optional<PeerOffset> now = known.at(3, kNow), later = known.at(3, kNow + kSecond);
	ASSERT_TRUE(now && later);
	EXPECT_EQ(now->offset_ns, 777000);
	EXPECT_EQ(now->error_ns, 3 * 5 + 8);
	EXPECT_EQ(later->offset_ns, 777000 + 20000);
	EXPECT_NEAR(later->error_ns, 3 * std::hypot(5, 10) + 8, 1);
	EXPECT_FALSE(known.at(4, kNow));
	EXPECT_TRUE(known.of(4, kNow)->left_out);
	EXPECT_EQ(known.of(3, kNow)->surplus_ns, -12);
}

TEST(coordinated, answer__counts_for_three_windows)
{
	Coordinated known(kWindow, 8);

	known.heard(answer_of(kNow), kNow);
	EXPECT_TRUE(known.at(3, kNow + 3 * kWindow - 1));
	EXPECT_FALSE(known.at(3, kNow + 3 * kWindow));
	EXPECT_FALSE(known.is_answered(kNow + 3 * kWindow));
	// our clock was set back
	EXPECT_FALSE(known.at(3, kNow - 3 * kWindow));
	EXPECT_FALSE(known.heard(answer_of(kNow), kNow + 3 * kWindow));
}

TEST(coordinated, clock_that_was_set__is_forgotten_until_the_next_answer)
{
	Coordinated known(kWindow, 8);

	known.heard(answer_of(kNow), kNow);
	known.forget(3);
	EXPECT_FALSE(known.at(3, kNow));
	known.heard(answer_of(kNow + kWindow), kNow + kWindow);
	EXPECT_TRUE(known.at(3, kNow + kWindow));
	known.forget_all();
	EXPECT_FALSE(known.at(3, kNow + kWindow));
}

TEST(coordinated, host_that_is_left_out__knows_nothing_and_why)
{
	Coordinated known(kWindow, 8);
	ClockAnswer answer = answer_of(0);

	known.heard(answer_of(kNow), kNow);
	EXPECT_TRUE(known.is_known());
	answer.clocks = {{3, false, true, true, 0, 0, 0, 0}};
	EXPECT_TRUE(known.heard(answer, kNow + kWindow));
	EXPECT_TRUE(known.is_answered(kNow + kWindow));
	EXPECT_FALSE(known.is_known());
	EXPECT_TRUE(known.is_left_out());
	EXPECT_FALSE(known.at(3, kNow + kWindow));
	// one that has said nothing yet is not known, and not left out
	answer.clocks.clear();
	known.heard(answer, kNow + 2 * kWindow);
	EXPECT_FALSE(known.is_known());
	EXPECT_FALSE(known.is_left_out());
}

TEST(aligned_end, windows_of_hosts__end_shortly_before_the_next_answer)
{
	for (std::size_t host : {0u, 5u, 15u}) {
		std::int64_t end_ns = aligned_end_ns(100 * kSecond, 100 * kSecond - kWindow / 8, kWindow, host, 16);
		EXPECT_LE(end_ns, 100 * kSecond + kWindow - kWindow / 16);
		EXPECT_GE(end_ns, 100 * kSecond + kWindow - kWindow / 8);
	}
	EXPECT_NE(aligned_end_ns(0, 0, kWindow, 3, 16), aligned_end_ns(0, 0, kWindow, 4, 16));
	// no window is half as long, nor more than one and a half
	for (std::int64_t begin_ns = 0; begin_ns < 3 * kWindow; begin_ns += kWindow / 10) {
		std::int64_t long_ns = aligned_end_ns(0, begin_ns, kWindow, 7, 16) - begin_ns;
		EXPECT_GE(long_ns, kWindow / 2);
		EXPECT_LE(long_ns, kWindow * 3 / 2);
	}
}

// -- mesh_link

// Hosts and their coordinator, 0, whose datagrams all come, at once.
struct Links {
	explicit Links(std::uint32_t hosts) : model(hosts, 4)
	{
		for (std::uint32_t host = 0; host < hosts; host++)
			addresses.push_back(onramp_address("10.0.1." + std::to_string(host)));
		for (std::uint32_t host = 0; host < hosts; host++)
			links.push_back(link(host, addresses));
	}

	std::unique_ptr<MeshLink> link(std::uint32_t host, const std::vector<OnrampAddress> &file) const
	{
		return std::make_unique<MeshLink>(ClockdMesh{file, static_cast<std::uint16_t>(host), model.mesh}, 0,
						  std::vector{kKey}, kWindow, 8);
	}

	std::int64_t clock_ns(std::uint32_t host, std::int64_t at_ns) const
	{
		return at_ns + model.ahead_ns(host, at_ns);
	}

	void report(std::uint32_t host, std::int64_t at_ns)
	{
		links[host]->window(model.report(host, at_ns).edges, {}, clock_ns(host, at_ns));
		for (const LinkDatagram &datagram : links[host]->take()) {
			last_report = datagram.bytes;
			EXPECT_TRUE(links[datagram.to]->heard(host, datagram.bytes.data(), datagram.bytes.size(),
							      clock_ns(0, at_ns)));
		}
	}

	// The coordinator's window ends last.
	void window(std::int64_t at_ns)
	{
		for (std::uint32_t host = 1; host < links.size(); host++) {
			if (links[host])
				report(host, at_ns);
		}
		report(0, at_ns);
		while (!links[0]->look(clock_ns(0, at_ns)))
			std::this_thread::yield();
		for (const LinkDatagram &datagram : links[0]->take()) {
			last_answer = datagram.bytes;
			if (links[datagram.to])
				links[datagram.to]->heard(0, datagram.bytes.data(), datagram.bytes.size(),
							  clock_ns(datagram.to, at_ns));
		}
	}

	Hosts model;
	std::vector<OnrampAddress> addresses;
	std::vector<std::unique_ptr<MeshLink>> links;
	std::vector<std::uint8_t> last_report, last_answer;
};

TEST(mesh_link, hosts_and_coordinator__know_clocks_by_the_second_window)
{
	Links mesh(12);

	EXPECT_EQ(mesh.links[5]->trouble(kNow), "does not answer");
	mesh.window(kNow);
	EXPECT_TRUE(mesh.links[0]->coordinates());
	EXPECT_EQ(mesh.links[5]->trouble(mesh.clock_ns(5, kNow)), "does not know this host's clock yet");
	mesh.window(kNow + kWindow);
	for (std::uint32_t host : {0u, 5u, 11u}) {
		std::int64_t at_ns = kNow + kWindow + kSecond, clock_ns = mesh.clock_ns(host, at_ns);
		EXPECT_EQ(mesh.links[host]->trouble(clock_ns), "");
		EXPECT_EQ(mesh.links[host]->known().summary().known, 12);
		for (std::uint32_t peer : mesh.model.peers(host)) {
			std::optional<PeerOffset> now = mesh.links[host]->known().at(peer, clock_ns);
			ASSERT_TRUE(now) << host << " of " << peer;
			EXPECT_NEAR(now->offset_ns, mesh.model.truth_ns(host, peer, at_ns), 2);
		}
	}
}

TEST(mesh_link, coordinator_that_is_gone__is_said_and_its_words_end)
{
	Links mesh(12);

	for (int i = 0; i < 3; i++)
		mesh.window(kNow + i * kWindow);
	std::int64_t then_ns = mesh.clock_ns(5, kNow + 2 * kWindow) + 3 * kWindow;
	EXPECT_EQ(mesh.links[5]->trouble(then_ns - 1), "");
	EXPECT_EQ(mesh.links[5]->trouble(then_ns), "does not answer");
	EXPECT_FALSE(mesh.links[5]->known().at(mesh.model.peers(5)[0], then_ns));
	// one that begins anew is known by the second window
	mesh.links[0] = mesh.link(0, mesh.addresses);
	mesh.window(kNow + 6 * kWindow);
	mesh.window(kNow + 7 * kWindow);
	EXPECT_EQ(mesh.links[5]->trouble(mesh.clock_ns(5, kNow + 7 * kWindow)), "");
}

TEST(mesh_link, recordings__are_not_believed)
{
	Links mesh(12);

	mesh.window(kNow);
	mesh.window(kNow + kWindow);
	std::vector<std::uint8_t> report = mesh.last_report, answer = mesh.last_answer;
	EXPECT_FALSE(mesh.links[11]->heard(0, answer.data(), answer.size(), mesh.clock_ns(11, kNow + kWindow)));
	// to another host, or from one
	EXPECT_FALSE(mesh.links[10]->heard(0, answer.data(), answer.size(), mesh.clock_ns(10, kNow + kWindow)));
	EXPECT_FALSE(mesh.links[11]->heard(3, answer.data(), answer.size(), mesh.clock_ns(11, kNow + kWindow)));
	EXPECT_FALSE(mesh.links[0]->heard(3, report.data(), report.size(), kNow + kWindow));
	// it is heard, and changes nothing: what host 11 said last is older than three windows
	mesh.links[11].reset();
	for (int i = 2; i < 6; i++) {
		mesh.links[0]->heard(11, report.data(), report.size(), kNow + i * kWindow);
		mesh.window(kNow + i * kWindow);
	}
	EXPECT_EQ(mesh.links[0]->known().summary().reporting, 11);
}

TEST(mesh_link, host_with_another_file__is_told_and_named)
{
	Links mesh(12);
	std::vector<OnrampAddress> other = mesh.addresses;

	std::swap(other[7], other[8]);
	mesh.links[5] = mesh.link(5, other);
	for (int i = 0; i < 3; i++)
		mesh.window(kNow + i * kWindow);
	EXPECT_EQ(mesh.links[5]->trouble(mesh.clock_ns(5, kNow + 2 * kWindow)), "has another file of hosts");
	EXPECT_EQ(mesh.links[0]->strangers(), std::vector<HostNumber>{5});
	EXPECT_EQ(mesh.links[0]->known().summary().reporting, 11);
	EXPECT_EQ(mesh.links[6]->trouble(mesh.clock_ns(6, kNow + 2 * kWindow)), "");
}

// -- clockd_state

Json state()
{
	auto peer = [](const char *name, Json error_ns, Json surplus_ns, bool told, Json trouble) {
		return Json{{"peer", name}, {"error_ns", error_ns}, {"surplus_ns", surplus_ns}, {"told", told},
			    {"left_out", surplus_ns == 9000}, {"trouble", trouble}};
	};

	return {{"stamps", "hardware"}, {"refused", 3}, {"kernel", nullptr},
		{"coordinator", {{"address", "10.0.0.1"}, {"trouble", nullptr}, {"edges", 80}, {"edges_left_out", 2}}},
		{"peers", {peer("10.0.0.2", 40, -3, true, nullptr), peer("10.0.0.3", 90, 9000, true, nullptr),
			   peer("10.0.0.4", nullptr, nullptr, false, "does not answer"),
			   peer("10.0.0.5", 60, 5, true, "a clock was set")}}};
}

struct ClockdState : testing::Test {
	ClockdState() : directory(std::filesystem::temp_directory_path() / "turnpike-clockd-XXXXXX")
	{
		std::string name = directory;
		if (mkdtemp(name.data()))
			directory = name;
	}

	~ClockdState() override { std::filesystem::remove_all(directory); }

	std::string path() const { return directory / "below" / "clockd.json"; }

	void holds(const std::string &text) const { std::ofstream(path()) << text; }

	std::filesystem::path directory;
};

TEST_F(ClockdState, what_is_written__is_read_with_its_age)
{
	EXPECT_TRUE(read_clockd_state(path(), 0).is_null());
	write_clockd_state(path(), state(), 100 * kSecond, 4);
	Json read = read_clockd_state(path(), 103 * kSecond);
	ASSERT_FALSE(read.is_null());
	EXPECT_EQ(read["peers"], state()["peers"]);
	EXPECT_EQ(read["age_s"], 3.0);
	EXPECT_EQ(read["running"], true);
	EXPECT_EQ(read_clockd_state(path(), 112 * kSecond)["running"], false);
	// of before the boot
	EXPECT_TRUE(read_clockd_state(path(), 99 * kSecond).is_null());
}

TEST_F(ClockdState, what_is_no_state__is_none)
{
	write_clockd_state(path(), state(), 100 * kSecond, 4);
	for (const char *text : {"", "{", "null", "[]", "7", "{\"at_ns\": 1}", "{\"at_ns\": \"x\", \"window_s\": 4, \"peers\": []}",
				 "{\"at_ns\": 1, \"window_s\": 4, \"peers\": [{}]}"}) {
		holds(text);
		EXPECT_TRUE(read_clockd_state(path(), 103 * kSecond).is_null()) << text;
	}
	holds(std::string(2 << 20, ' ') + "{}");
	EXPECT_TRUE(read_clockd_state(path(), 103 * kSecond).is_null());
}

TEST_F(ClockdState, summary__counts_peers_errors_and_surpluses)
{
	write_clockd_state(path(), state(), 100 * kSecond, 4);
	Json summary = clockd_summary(read_clockd_state(path(), 101 * kSecond));

	EXPECT_EQ(summary["told"], 3);
	EXPECT_EQ(summary["silent"], Json::array({"10.0.0.4"}));
	EXPECT_EQ(summary["troubled"], 1);
	EXPECT_EQ(summary["error_p50_ns"], 60);
	EXPECT_EQ(summary["error_max_ns"], 90);
	EXPECT_EQ(summary["surplus_max_ns"], 9000);
	EXPECT_EQ(summary["left_out"][0]["peer"], "10.0.0.3");
	EXPECT_EQ(summary["answered"], true);
	EXPECT_TRUE(clockd_summary(nullptr).is_null());
}

}  // namespace
