// SPDX-License-Identifier: GPL-2.0
// Probes of a host that has the key, and lies: tools/turnpike/clockd/probe_wire.h, what they are matched by, and what
// is made of them.  Bytes are signed here, since no fuzzer finds a key; without that they are refused.
//
// A datagram that is taken and written again is the same bytes.
//
// libraries: -lsodium
#include "fuzz.h"

#include <algorithm>

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
	probe_wire::hash(bytes.data() + probe_wire::kSignedBytes, bytes.data(), kFrom, kKey.key);
	std::optional<Probe> probe = probe_decode(bytes.data(), bytes.size(), kFrom, {kKey});
	if (!probe)
		return;
	HOLDS(probe_encode(*probe, kFrom, kKey) == bytes);
	track.received(*probe, now_ns);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	std::vector<std::uint8_t> copy = exact_copy(data, bytes);
	std::int64_t now_ns = 1700000000000000000;
	ProbeTrack track(0x0101010101010101);
	PairClock clock(8);

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
