// SPDX-License-Identifier: GPL-2.0
//
// This host and the coordinator of its mesh, which may be this host itself: reports and answers, by datagrams or not.
#ifndef TURNPIKE_TOOLS_CLOCKD_MESH_LINK_H
#define TURNPIKE_TOOLS_CLOCKD_MESH_LINK_H

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "coordinated.h"
#include "coordinator.h"
#include "hosts_file.h"
#include "word_session.h"

namespace turnpike {

// Random, above 0.
std::uint64_t new_run();

struct LinkDatagram {
	HostNumber to;
	std::vector<std::uint8_t> bytes;
};

class MeshLink {
public:
	// grain_ns: of stamps.
	MeshLink(const ClockdMesh &mesh, HostNumber coordinator, const std::vector<OnrampNumberedKey> &keys,
		 std::int64_t window_ns, double grain_ns);

	// A datagram of another host; at_ns: when it came, by our clock. False: it is not for us, not signed, or of
	// another time.
	bool heard(HostNumber from, const std::uint8_t *bytes, std::size_t length, std::int64_t at_ns);

	// A window is over; now_ns: by our clock. Edges are those of now.
	void window(std::vector<ReportedEdge> edges, std::vector<HostNumber> wanted, std::int64_t now_ns);

	// Now and then: is the mesh solved? True: there is an answer since this was asked last.
	bool look(std::int64_t now_ns);

	// What is to be sent.
	std::vector<LinkDatagram> take() { return std::exchange(to_send_, {}); }

	const Coordinated &known() const { return known_; }
	Coordinated &known() { return known_; }

	HostNumber coordinator() const { return number_; }
	bool coordinates() const { return coordinator_.has_value(); }

	// What is wrong with the coordinator, or with this host to it; empty: nothing is.
	std::string trouble(std::int64_t now_ns) const;

	// Of the coordinator: hosts whose edges do not fit, and those with another file of hosts.
	std::vector<HostNumber> misfits() const;
	std::vector<HostNumber> strangers() const;

private:
	struct Host {
		WordSession session;
		bool heard = false;		// since the last answers
		bool stranger = false;		// with another file of hosts
	};

	bool heard_report(HostNumber from, const std::uint8_t *bytes, std::size_t length, std::int64_t at_ns);
	bool heard_answer(const std::uint8_t *bytes, std::size_t length, std::int64_t at_ns);
	void send_answers();

	const ClockdMesh mesh_;
	HostNumber number_;
	std::vector<OnrampNumberedKey> keys_;
	std::uint64_t digest_;
	Coordinated known_;
	std::vector<LinkDatagram> to_send_;
	bool answered_ = false;		// since the last look
	bool stranger_ = false;		// the coordinator is, to us

	std::vector<Host> hosts_;	// a coordinator's; else the coordinator alone
	std::optional<Coordinator> coordinator_;
	MeshProblem problem_ = {};
	std::future<MeshClocks> solution_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_MESH_LINK_H
