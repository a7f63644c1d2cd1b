// SPDX-License-Identifier: GPL-2.0
//
// turnpike clockd at work: probes to peers, and after each window what is known of their clocks.
#ifndef TURNPIKE_TOOLS_CLOCKD_CLOCKD_H
#define TURNPIKE_TOOLS_CLOCKD_CLOCKD_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernel_offsets.h"
#include "pair_clock.h"
#include "probe_socket.h"
#include "probe_track.h"
#include "stamp_clock.h"

namespace turnpike {

// What is known of one peer when a window ends.
struct PeerSeen {
	OnrampAddress peer;
	std::optional<PeerOffset> offset;
	std::string trouble;		// empty: none
	bool told;			// to the kernel
	std::size_t there, back;	// pairs
	double width_ns;		// the round trip, as far as probes show it
};

class Clockd {
public:
	// window_s: also a third of the time that a word to the kernel counts; next_ns: the longest time between two
	// ticks.
	Clockd(const std::vector<OnrampAddress> &peers, std::vector<OnrampNumberedKey> keys, std::uint16_t port,
	       std::unique_ptr<StampClock> clock, unsigned window_s, std::int64_t next_ns);

	// A pair to each peer; and all that came since the last time.
	void tick();

	// A window is over.
	std::vector<PeerSeen> window();

	// What the kernel was told stays when this ends, for its time.
	void leave() { kernel_.leave(); }

	// The NIC's clock is to be looked at a few times a second.
	void look() { clock_->look(); }

	const StampClock &clock() const { return *clock_; }
	const std::string &refusal() const { return kernel_.refusal(); }

	// Datagrams of strangers, with another key, or broken.
	std::uint64_t refused() const { return refused_; }

private:
	struct Peer {
		ProbeTrack track;
		PairClock clock;
		std::optional<OnrampAddress> from;	// our address towards it; nothing: no route
		unsigned silent = 0;			// windows since the last good one
	};

	void find_routes();
	void send();
	void receive();
	PeerSeen judge(const OnrampAddress &address, Peer &peer);
	std::optional<PeerOffset> offset_now(const Peer &peer) const;

	std::vector<OnrampNumberedKey> keys_;
	std::unique_ptr<StampClock> clock_;
	ProbeSocket socket_;
	std::map<OnrampAddress, Peer> peers_;
	KernelOffsets kernel_;
	std::int64_t next_ns_;
	std::vector<OnrampAddress> order_;	// of probes of one tick
	std::mt19937_64 random_;
	std::uint64_t refused_ = 0;
	// Datagrams of a pair that is under way: the run is ours, and the pair's number is of one peer.
	std::map<std::uint64_t, OnrampAddress> runs_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_CLOCKD_H
