// SPDX-License-Identifier: GPL-2.0
//
// What hosts and their coordinator say to each other, signed as probes are (signed_datagram.h). Hosts are named by
// their number in the file of hosts, from 0; a digest of that file says that both have the same.
//
// A host's report, kind 2, each window:
//
//     | run, run of the coordinator as heard, number, its number as heard: 24 bytes   |   + 8
//     | digest of the file of hosts                                                   |  + 32
//     | edges E | wanted W                                                            |  + 40
//     | E * (host, 0, offset of its clock in ns: 8, drift in 10^-12: 4, sigma in ps)  |  + 44
//     | W * (host whose clock is asked for)                                           |
//
// The coordinator's answer, kind 3, one or more for each host that it heard:
//
//     | run, run of the host as heard, number, its number as heard: 24 bytes          |   + 8
//     | digest of the file of hosts                                                   |  + 32
//     | when it holds, in ns of the host's clock; 0: the host's clock is not known    |  + 40
//     | hosts that are known | that report | edges: 4 | edges left out: 4             |  + 48
//     | surpluses, in thousandths of what edges say of their errors: 4                |  + 60
//     | clocks N | 0                                                                  |  + 64
//     | N * (host, flags, offset: 8, drift: 4, sigma in ps: 4, surplus in ns: 4)      |  + 68
//
// Of a clock, flag 1: offset, drift and sigma are known, else 0; flag 2: the host has an edge there, with that surplus;
// flag 4: which was left out. What is not said in bytes has two.
#ifndef TURNPIKE_TOOLS_CLOCKD_COORDINATOR_WIRE_H
#define TURNPIKE_TOOLS_CLOCKD_COORDINATOR_WIRE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "../onramp.h"
#include "signed_datagram.h"
#include "word_session.h"

namespace turnpike {

using HostNumber = std::uint16_t;

// What a host says of one of its pairs, at the moment at which it says it.
struct ReportedEdge {
	HostNumber host;
	std::int64_t offset_ns;		// its clock less ours
	std::int32_t drift_ppt;		// 10^-12
	std::uint32_t sigma_ps;

	bool operator==(const ReportedEdge &) const = default;
};

struct ClockReport {
	WordNumbers numbers;
	std::uint64_t digest = 0;
	std::vector<ReportedEdge> edges;
	std::vector<HostNumber> wanted;

	bool operator==(const ClockReport &) const = default;
};

struct AnsweredClock {
	HostNumber host;
	bool known;
	bool has_edge, left_out;
	std::int64_t offset_ns;		// its clock less the asking host's
	std::int32_t drift_ppt;
	std::uint32_t sigma_ps;
	std::int32_t surplus_ns;

	bool operator==(const AnsweredClock &) const = default;
};

// Of the mesh as a whole.
struct MeshSummary {
	std::uint16_t known = 0, reporting = 0;		// hosts
	std::uint32_t edges = 0, left_out = 0;
	std::uint32_t scale_milli = 0;

	bool operator==(const MeshSummary &) const = default;
};

struct ClockAnswer {
	WordNumbers numbers;
	std::uint64_t digest = 0;
	std::int64_t at_ns = 0;
	MeshSummary summary;
	std::vector<AnsweredClock> clocks;

	bool operator==(const ClockAnswer &) const = default;
};

namespace coordinator_wire {

using clockd_wire::kHashBytes;
using clockd_wire::kMostBytes;
using clockd_wire::DatagramKind;
using clockd_wire::Reader;
using clockd_wire::Writer;

constexpr std::size_t kReportBytes = 44, kEdgeBytes = 20, kWantedBytes = 2;
constexpr std::size_t kAnswerBytes = 68, kClockBytes = 24;
constexpr std::size_t kEdgesMost = 64;
constexpr std::size_t kClocksMost = (kMostBytes - kAnswerBytes - kHashBytes) / kClockBytes;
// Sums of them along any path of a mesh do not overflow.
constexpr std::int64_t kOffsetMostNs = 1000000000000000;
// As the kernel takes it.
constexpr std::int64_t kApartMostNs = 1000000000000000000;
// What a strip may have, and somewhat more: 400 us/s.
constexpr std::int32_t kDriftMostPpt = 400000000;

// As many as fit beside so many edges.
constexpr std::size_t wanted_most(std::size_t edges)
{
	return (kMostBytes - kReportBytes - kHashBytes - edges * kEdgeBytes) / kWantedBytes;
}

inline void put(Writer &writer, const WordNumbers &numbers, std::uint64_t digest)
{
	writer.put(numbers.run, 8);
	writer.put(numbers.peer_run, 8);
	writer.put(numbers.number, 4);
	writer.put(numbers.peer_number, 4);
	writer.put(digest, 8);
}

// False: of nobody.
inline bool get(Reader &reader, WordNumbers &numbers, std::uint64_t &digest)
{
	numbers.run = reader.get(8);
	numbers.peer_run = reader.get(8);
	numbers.number = reader.get(4);
	numbers.peer_number = reader.get(4);
	digest = reader.get(8);
	return numbers.run && numbers.number;
}

inline std::vector<std::uint8_t> begun(std::size_t bytes, DatagramKind kind, const OnrampNumberedKey &key)
{
	std::vector<std::uint8_t> datagram(bytes + kHashBytes, 0);

	clockd_wire::put_head(datagram.data(), kind, key.id);
	return datagram;
}

inline void sign(std::vector<std::uint8_t> &datagram, const OnrampAddress &from, const OnrampNumberedKey &key)
{
	std::size_t bytes = datagram.size() - kHashBytes;

	clockd_wire::hash(datagram.data() + bytes, datagram.data(), bytes, from, key.key);
}

inline bool is_drift(std::int32_t ppt)
{
	return std::abs(static_cast<std::int64_t>(ppt)) <= kDriftMostPpt;
}

inline bool is_within(std::int64_t ns, std::int64_t most_ns)
{
	return ns >= -most_ns && ns <= most_ns;
}

inline std::optional<ReportedEdge> get_edge(Reader &reader)
{
	ReportedEdge edge = {};

	edge.host = reader.get(2);
	bool zero = !reader.get(2);
	edge.offset_ns = reader.get(8);
	edge.drift_ppt = reader.get(4);
	edge.sigma_ps = reader.get(4);
	if (!zero || !is_within(edge.offset_ns, kOffsetMostNs) || !is_drift(edge.drift_ppt) || !edge.sigma_ps)
		return std::nullopt;
	return edge;
}

inline std::optional<AnsweredClock> get_clock(Reader &reader)
{
	AnsweredClock clock = {};

	clock.host = reader.get(2);
	unsigned flags = reader.get(2);
	clock.known = flags & 1;
	clock.has_edge = flags & 2;
	clock.left_out = flags & 4;
	clock.offset_ns = reader.get(8);
	clock.drift_ppt = reader.get(4);
	clock.sigma_ps = reader.get(4);
	clock.surplus_ns = reader.get(4);
	bool nothing = !clock.offset_ns && !clock.drift_ppt && !clock.sigma_ps;
	if (flags > 7 || !is_within(clock.offset_ns, kApartMostNs) || !is_drift(clock.drift_ppt) ||
	    (!clock.known && !nothing) || (!clock.has_edge && (clock.left_out || clock.surplus_ns)))
		return std::nullopt;
	return clock;
}

}  // namespace coordinator_wire

// To a whole number of a range, what is beyond it to its ends.
template <typename To> To saturated(double value)
{
	constexpr double least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();

	return static_cast<To>(std::clamp(std::nearbyint(value), least, most));
}

// Of the addresses in their order: hosts with another file are told from those with ours.
inline std::uint64_t hosts_digest(const std::vector<OnrampAddress> &hosts)
{
	const std::uint8_t key[crypto_shorthash_KEYBYTES] = {};
	std::uint8_t digest[crypto_shorthash_BYTES];

	crypto_shorthash(digest, hosts.empty() ? key : hosts.front().data(), hosts.size() * sizeof(OnrampAddress), key);
	return clockd_wire::Reader(digest).get(8);
}

// Of at most kEdgesMost edges, and of the wanted as many as fit.
inline std::vector<std::uint8_t> report_encode(const ClockReport &report, const OnrampAddress &from,
					       const OnrampNumberedKey &key)
{
	using namespace coordinator_wire;
	std::size_t edges = std::min(report.edges.size(), kEdgesMost),
		    wanted = std::min(report.wanted.size(), wanted_most(edges));
	std::vector<std::uint8_t> datagram =
		begun(kReportBytes + edges * kEdgeBytes + wanted * kWantedBytes, DatagramKind::report, key);
	Writer writer(datagram.data() + clockd_wire::kHeadBytes);

	put(writer, report.numbers, report.digest);
	writer.put(edges, 2);
	writer.put(wanted, 2);
	for (std::size_t i = 0; i < edges; i++) {
		writer.put(report.edges[i].host, 2);
		writer.put(0, 2);
		writer.put(report.edges[i].offset_ns, 8);
		writer.put(static_cast<std::uint32_t>(report.edges[i].drift_ppt), 4);
		writer.put(report.edges[i].sigma_ps, 4);
	}
	for (std::size_t i = 0; i < wanted; i++)
		writer.put(report.wanted[i], 2);
	sign(datagram, from, key);
	return datagram;
}

// hosts: of the mesh. Nothing: it is no report, not from there, or none of these keys signed it.
inline std::optional<ClockReport> report_decode(const std::uint8_t *bytes, std::size_t length,
						const OnrampAddress &from, const std::vector<OnrampNumberedKey> &keys,
						std::size_t hosts)
{
	using namespace coordinator_wire;
	ClockReport report;
	std::set<HostNumber> named;

	if (length < kReportBytes + kHashBytes || !clockd_wire::has_head(bytes, length, DatagramKind::report))
		return std::nullopt;
	Reader reader(bytes + clockd_wire::kHeadBytes);
	bool numbered = get(reader, report.numbers, report.digest);
	std::size_t edges = reader.get(2), wanted = reader.get(2);
	if (!numbered || edges > kEdgesMost ||
	    length != kReportBytes + edges * kEdgeBytes + wanted * kWantedBytes + kHashBytes ||
	    !clockd_wire::is_signed(bytes, length, from, keys))
		return std::nullopt;
	for (std::size_t i = 0; i < edges; i++) {
		std::optional<ReportedEdge> edge = get_edge(reader);
		if (!edge || edge->host >= hosts || !named.insert(edge->host).second)
			return std::nullopt;
		report.edges.push_back(*edge);
	}
	for (std::size_t i = 0; i < wanted; i++) {
		report.wanted.push_back(reader.get(2));
		// once each, and edges are answered anyway
		if (report.wanted.back() >= hosts || !named.insert(report.wanted.back()).second)
			return std::nullopt;
	}
	return report;
}

// Of at most kClocksMost clocks.
inline std::vector<std::uint8_t> answer_encode(const ClockAnswer &answer, const OnrampAddress &from,
					       const OnrampNumberedKey &key)
{
	using namespace coordinator_wire;
	std::size_t clocks = std::min(answer.clocks.size(), kClocksMost);
	std::vector<std::uint8_t> datagram = begun(kAnswerBytes + clocks * kClockBytes, DatagramKind::answer, key);
	Writer writer(datagram.data() + clockd_wire::kHeadBytes);

	put(writer, answer.numbers, answer.digest);
	writer.put(answer.at_ns, 8);
	writer.put(answer.summary.known, 2);
	writer.put(answer.summary.reporting, 2);
	writer.put(answer.summary.edges, 4);
	writer.put(answer.summary.left_out, 4);
	writer.put(answer.summary.scale_milli, 4);
	writer.put(clocks, 2);
	writer.put(0, 2);
	for (std::size_t i = 0; i < clocks; i++) {
		const AnsweredClock &clock = answer.clocks[i];
		writer.put(clock.host, 2);
		writer.put(clock.known | clock.has_edge << 1 | clock.left_out << 2, 2);
		writer.put(clock.offset_ns, 8);
		writer.put(static_cast<std::uint32_t>(clock.drift_ppt), 4);
		writer.put(clock.sigma_ps, 4);
		writer.put(static_cast<std::uint32_t>(clock.surplus_ns), 4);
	}
	sign(datagram, from, key);
	return datagram;
}

// As report_decode().
inline std::optional<ClockAnswer> answer_decode(const std::uint8_t *bytes, std::size_t length,
						const OnrampAddress &from, const std::vector<OnrampNumberedKey> &keys,
						std::size_t hosts)
{
	using namespace coordinator_wire;
	ClockAnswer answer;
	std::set<HostNumber> named;

	if (length < kAnswerBytes + kHashBytes || !clockd_wire::has_head(bytes, length, DatagramKind::answer))
		return std::nullopt;
	Reader reader(bytes + clockd_wire::kHeadBytes);
	bool numbered = get(reader, answer.numbers, answer.digest);
	answer.at_ns = reader.get(8);
	answer.summary.known = reader.get(2);
	answer.summary.reporting = reader.get(2);
	answer.summary.edges = reader.get(4);
	answer.summary.left_out = reader.get(4);
	answer.summary.scale_milli = reader.get(4);
	std::size_t clocks = reader.get(2);
	bool zero = !reader.get(2);
	if (!numbered || !zero || answer.at_ns < 0 || clocks > kClocksMost ||
	    length != kAnswerBytes + clocks * kClockBytes + kHashBytes ||
	    !clockd_wire::is_signed(bytes, length, from, keys))
		return std::nullopt;
	for (std::size_t i = 0; i < clocks; i++) {
		std::optional<AnsweredClock> clock = get_clock(reader);
		if (!clock || clock->host >= hosts || (clock->known && !answer.at_ns) ||
		    !named.insert(clock->host).second)
			return std::nullopt;
		answer.clocks.push_back(*clock);
	}
	return answer;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_COORDINATOR_WIRE_H
