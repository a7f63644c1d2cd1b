// SPDX-License-Identifier: GPL-2.0
//
// turnpike clockd at work: probes to peers, and after each window what is known of their clocks, by their pairs and by
// the coordinator of the mesh.
#ifndef TURNPIKE_TOOLS_CLOCKD_CLOCKD_H
#define TURNPIKE_TOOLS_CLOCKD_CLOCKD_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hosts_file.h"
#include "kernel_offsets.h"
#include "mesh_link.h"
#include "pair_clock.h"
#include "probe_socket.h"
#include "probe_track.h"
#include "stamp_clock.h"

namespace turnpike {

struct ClockdOptions {
	ClockdMesh mesh;
	std::vector<OnrampNumberedKey> keys;
	std::uint16_t port;
	std::optional<HostNumber> coordinator;
	unsigned window_s;		// also a third of the time that a word to the kernel counts
};

// What is known of one peer when a window ends.
struct PeerSeen {
	OnrampAddress peer;
	bool probed;
	std::optional<PeerOffset> offset;
	bool by_mesh;			// the offset is the coordinator's
	std::string trouble;		// empty: none
	bool told;			// to the kernel
	std::size_t there, back;	// pairs
	double width_ns;		// the round trip, as far as probes show it
	// By the coordinator, of the edge to this peer: what it is off by, as the loops show it.
	std::optional<std::int32_t> surplus_ns;
	bool left_out;
};

// Of the coordinator.
struct LinkSeen {
	OnrampAddress coordinator;
	bool own;			// it is this host
	std::string trouble;		// empty: none
	MeshSummary summary;		// of the last answer
	std::vector<OnrampAddress> misfits, strangers;
};

class Clockd {
public:
	Clockd(ClockdOptions options, std::unique_ptr<StampClock> clock);

	// A pair to each peer; and all that came since the last time.
	void tick();

	// A window is over.
	std::vector<PeerSeen> window();

	// When the next one is to end that began at this moment (monotonic_ns()): windows of all hosts end shortly
	// before the coordinator's, which answers at once.
	std::int64_t window_end_ns(std::int64_t begin_ns) const;

	// What the kernel was told stays when this ends, for its time.
	void leave() { kernel_.leave(); }

	// A few times a second: at the NIC's clock, and whose error has grown.
	void look();

	const StampClock &clock() const { return *clock_; }
	const std::string &refusal() const { return kernel_.refusal(); }

	// Nothing: no coordinator is to be asked.
	std::optional<LinkSeen> link() const;

	// Datagrams of strangers, with another key, or broken.
	std::uint64_t refused() const { return refused_; }

private:
	struct Peer {
		ProbeTrack track;
		PairClock clock;
		std::optional<OnrampAddress> from;	// our address towards it; nothing: no route
		std::string trouble;			// of the last window
		unsigned silent = 0;			// windows since the last good one
	};

	// What is told of a host now.
	struct Now {
		PeerOffset offset;
		bool by_mesh;
	};

	void find_routes();
	void send();
	void send_link();
	void receive();
	void answered();
	void heard_of_sets();
	std::vector<ReportedEdge> edges() const;
	std::vector<HostNumber> wanted();
	PeerSeen judge(HostNumber number, const Peer *peer);
	std::optional<Now> now(HostNumber number, const Peer *peer) const;
	const Peer *peer(HostNumber number) const;

	ClockdMesh mesh_;
	std::vector<OnrampNumberedKey> keys_;
	std::unique_ptr<StampClock> clock_;
	ProbeSocket socket_;
	std::map<OnrampAddress, HostNumber> numbers_;
	std::map<HostNumber, Peer> peers_;
	KernelOffsets kernel_;
	std::optional<MeshLink> link_;
	std::int64_t window_ns_;
	std::int64_t answered_ns_ = 0;		// monotonic_ns() of the last answer; 0: none came
	std::vector<HostNumber> order_;		// of probes of one tick
	std::vector<HostNumber> wanted_;	// of the coordinator, besides peers
	std::mt19937_64 random_;
	std::uint64_t refused_ = 0;
	// Datagrams of a pair that is under way: the run is ours, and the pair's number is of one peer.
	std::map<std::uint64_t, HostNumber> runs_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_CLOCKD_H
