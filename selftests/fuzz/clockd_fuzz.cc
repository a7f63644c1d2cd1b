// SPDX-License-Identifier: GPL-2.0
// Datagrams of a host that has the key, and lies: tools/turnpike/clockd/probe_wire.h and coordinator_wire.h, what they
// are matched by, and what is made of them.  Bytes are signed here, since no fuzzer finds a key; without that they are
// refused.  The kind of the first datagram tells what all are.
//
// A datagram that is taken and written again is the same bytes.
//
// libraries: -lsodium
#include "fuzz.h"

#include <algorithm>

#include "tools/turnpike/clockd/coordinated.h"
#include "tools/turnpike/clockd/coordinator.h"
#include "tools/turnpike/clockd/pair_clock.h"

namespace {

using namespace turnpike;

const OnrampAddress kFrom = {1, 2, 3};
const OnrampNumberedKey kKey = {7, {9}};

// We meet it, and send pairs that it may say to have heard.
void begin(ProbeTrack &track, std::int64_t now_ns)
{
	for (const Probe &probe : track.next())
		track.sent(probe.pair, probe.which, now_ns + probe.which);
}

void hear(ProbeTrack &track, const std::uint8_t *body, std::int64_t now_ns)
{
	ProbeBytes bytes = {};

	std::copy(body, body + probe_wire::kSignedBytes, bytes.begin());
	HOLDS(!probe_decode(bytes.data(), bytes.size(), kFrom, {kKey}));
	clockd_wire::hash(bytes.data() + probe_wire::kSignedBytes, bytes.data(), probe_wire::kSignedBytes, kFrom, kKey.key);
	std::optional<Probe> probe = probe_decode(bytes.data(), bytes.size(), kFrom, {kKey});
	if (!probe)
		return;
	HOLDS(probe_encode(*probe, kFrom, kKey) == bytes);
	track.received(*probe, now_ns);
}

constexpr std::int64_t kNow = 1700000000000000000, kWindow = 4000000000;
constexpr HostNumber kHosts = 5;

std::vector<std::uint8_t> signed_body(const std::uint8_t *body, std::size_t bytes)
{
	std::vector<std::uint8_t> datagram(body, body + std::min(bytes, coordinator_wire::kMostBytes - coordinator_wire::kHashBytes));

	datagram.resize(datagram.size() + coordinator_wire::kHashBytes);
	coordinator_wire::sign(datagram, kFrom, kKey);
	return datagram;
}

// Host 1's word to the coordinator, 0, beside three that say the truth.
void hear_report(const std::uint8_t *body, std::size_t bytes)
{
	std::vector<std::uint8_t> datagram = signed_body(body, bytes);
	std::optional<ClockReport> report = report_decode(datagram.data(), datagram.size(), kFrom, {kKey}, kHosts);
	Coordinator coordinator(kHosts, 0, random_mesh(kHosts, 4, 1), kWindow, 8);

	if (!report)
		return;
	HOLDS(report_encode(*report, kFrom, kKey) == datagram);
	for (HostNumber host : {0, 2, 3, 4}) {
		ClockReport truth;
		for (HostNumber other = 0; other < kHosts; other++) {
			if (other != host)
				truth.edges.push_back({other, 1000 * (other - host), 0, 10000});
		}
		coordinator.heard(host, kNow, truth);
	}
	coordinator.heard(1, kNow, *report);
	MeshProblem problem = coordinator.problem(kNow + kWindow / 8);
	coordinator.solved(problem, coordinator.solve(problem));
	for (const ClockAnswer &answer : coordinator.answers(1)) {
		ClockAnswer numbered = answer;
		numbered.numbers = {1, 1, 1, 1};
		std::vector<std::uint8_t> sent = answer_encode(numbered, kFrom, kKey);
		HOLDS(answer_decode(sent.data(), sent.size(), kFrom, {kKey}, kHosts) == numbered);
	}
	// Whatever one of five says: of an edge that is right to 10 ns half of 8 sigmas is the most that it can move.
	std::vector<ClockAnswer> answers = coordinator.answers(2);
	for (const AnsweredClock &clock : answers[0].clocks)
		HOLDS(clock.host == 1 || (clock.known && std::abs(clock.offset_ns - 1000 * (clock.host - 2)) <= 60));
}

void hear_answer(const std::uint8_t *body, std::size_t bytes)
{
	std::vector<std::uint8_t> datagram = signed_body(body, bytes);
	std::optional<ClockAnswer> answer = answer_decode(datagram.data(), datagram.size(), kFrom, {kKey}, kHosts);
	Coordinated known(kWindow, 8);

	if (!answer)
		return;
	HOLDS(answer_encode(*answer, kFrom, kKey) == datagram);
	known.heard(*answer, kNow);
	for (HostNumber host = 0; host < kHosts; host++) {
		if (auto now = known.at(host, kNow + kWindow))
			HOLDS(now->error_ns >= 8);
	}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	std::vector<std::uint8_t> copy = exact_copy(data, bytes);
	std::int64_t now_ns = kNow;
	ProbeTrack track(0x0101010101010101);
	PairClock clock(8);

	if (bytes > clockd_wire::kHeadBytes && copy[5] == static_cast<std::uint8_t>(clockd_wire::DatagramKind::report))
		hear_report(copy.data(), bytes);
	if (bytes > clockd_wire::kHeadBytes && copy[5] == static_cast<std::uint8_t>(clockd_wire::DatagramKind::answer))
		hear_answer(copy.data(), bytes);
	for (std::size_t at = 0; at + probe_wire::kSignedBytes <= bytes; at += probe_wire::kSignedBytes, now_ns += 20000000) {
		begin(track, now_ns);
		hear(track, copy.data() + at, now_ns + 10000);
	}
	ProbePairs pairs = track.take();
	HOLDS(pairs.there.size() <= bytes / probe_wire::kSignedBytes && pairs.back.size() <= 2 * bytes / probe_wire::kSignedBytes);
	// eight of each make a window
	for (auto *side : {&pairs.there, &pairs.back}) {
		for (std::size_t i = 0; !side->empty() && side->size() < 8; i++)
			side->push_back((*side)[i]);
	}
	clock.heard(pairs);
	clock.heard(pairs);
	if (auto now = clock.at(now_ns))
		HOLDS(now->error_ns >= 8);
	return 0;
}
