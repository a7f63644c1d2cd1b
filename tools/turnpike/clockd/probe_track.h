// SPDX-License-Identifier: GPL-2.0
//
// Probes to one peer and from it, until all four stamps of a pair are known. State in, probe or stamp in, pairs out.
//
//   us                                      peer
//   tx of pair p  ---- pair p ---------->   rx
//   rx            <--- pair q, rx of p --   tx        there: tx of p, rx of p
//   rx            <--- pair q+1, tx of q -            back:  tx of q, rx of q
//
// A peer counts as heard once it has said our run: what was recorded earlier is not taken for it. Then a new run of his
// begins anew. What a stranger repeats can only be heard, and not believed.
#ifndef TURNPIKE_TOOLS_CLOCKD_PROBE_TRACK_H
#define TURNPIKE_TOOLS_CLOCKD_PROBE_TRACK_H

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "probe_wire.h"

namespace turnpike {

// Both probes of a pair; sent by the one's clock, received by the other's.
struct ProbePair {
	std::array<std::int64_t, 2> sent_ns, received_ns;
};

struct ProbePairs {
	std::vector<ProbePair> there, back;
};

class ProbeTrack {
public:
	// run: random, above 0.
	explicit ProbeTrack(std::uint64_t run) : run_(run) {}

	// The pair to send now; both probes say the same but which they are.
	std::array<Probe, 2> next()
	{
		Probe probe = {run_, said_run_, ++pair_ & probe_wire::kPairMax, 0, newest(own_), newest(peers_)};
		Probe second = probe;

		pair_ = probe.pair;
		own_[probe.pair % kPairs] = {{probe.pair, {}}, false};
		second.which = 1;
		return {probe, second};
	}

	// When a probe of ours left.
	void sent(std::uint32_t pair, unsigned which, std::int64_t ns)
	{
		Known &known = own_[pair % kPairs];

		if (known.stamps.pair == pair)
			known.stamps.ns[which] = ns;
	}

	// A probe of the peer came. False: it is not known to be of now.
	bool received(const Probe &probe, std::int64_t ns)
	{
		said_run_ = probe.run;
		if (probe.peer_run != run_)
			return false;
		if (probe.run != peer_run_) {
			peers_ = {};
			peer_run_ = probe.run;
		}
		came(probe, ns);
		for (const ProbeStamps &stamps : probe.sent)
			match(peers_, stamps, [this](const ProbeStamps &heard, const ProbeStamps &sent) {
				pairs_.back.push_back({sent.ns, heard.ns});
			});
		for (const ProbeStamps &stamps : probe.heard)
			match(own_, stamps, [this](const ProbeStamps &sent, const ProbeStamps &heard) {
				pairs_.there.push_back({sent.ns, heard.ns});
			});
		return true;
	}

	// Those that are whole since this was asked last.
	ProbePairs take() { return std::exchange(pairs_, {}); }

private:
	// As many may be under way.
	static constexpr std::uint32_t kPairs = 16;
	// A peer that sends more than anybody is to fills no memory.
	static constexpr std::size_t kMost = 8192;

	struct Known {
		ProbeStamps stamps;
		bool used;
	};

	using Ring = std::array<Known, kPairs>;

	// The two newest pairs whose stamps are known, newest first.
	static std::array<ProbeStamps, 2> newest(const Ring &ring)
	{
		std::array<ProbeStamps, 2> found;

		for (const Known &known : ring) {
			if (!known.stamps.known())
				continue;
			if (known.stamps.pair > found[0].pair || !found[0].known())
				found = {known.stamps, found[0]};
			else if (known.stamps.pair > found[1].pair || !found[1].known())
				found[1] = known.stamps;
		}
		return found;
	}

	// The first time that this probe comes; a pair that is too old finds its place taken.
	void came(const Probe &probe, std::int64_t ns)
	{
		Known &known = peers_[probe.pair % kPairs];

		if (probe.pair > known.stamps.pair || (!known.stamps.ns[0] && !known.stamps.ns[1]))
			known = {{probe.pair, {}}, false};
		if (probe.pair == known.stamps.pair && !known.stamps.ns[probe.which])
			known.stamps.ns[probe.which] = ns;
	}

	template <typename Take> void match(Ring &ring, const ProbeStamps &told, const Take &take)
	{
		Known &known = ring[told.pair % kPairs];

		if (!told.known() || known.used || known.stamps.pair != told.pair || !known.stamps.known() ||
		    pairs_.there.size() + pairs_.back.size() >= kMost)
			return;
		known.used = true;
		take(known.stamps, told);
	}

	std::uint64_t run_, peer_run_ = 0;
	std::uint64_t said_run_ = 0;	// of the peer, by his newest datagram, whether it is of now or not
	std::uint32_t pair_ = 0;
	Ring own_ = {}, peers_ = {};
	ProbePairs pairs_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_PROBE_TRACK_H
