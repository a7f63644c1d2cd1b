// SPDX-License-Identifier: GPL-2.0
#include "clockd.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../command.h"
#include "../monotonic.h"

namespace turnpike {
namespace {

// A mesh of no more hosts wants all clocks: the first packet to a host is measured by it then.
constexpr std::size_t kWantsAll = 128;

}  // namespace

// Each peer is met with a run of its own: a transmit stamp's datagram names its peer by that.
Clockd::Clockd(ClockdOptions options, std::unique_ptr<StampClock> clock)
	: mesh_(std::move(options.mesh)), keys_(std::move(options.keys)), clock_(std::move(clock)),
	  socket_(options.port, clock_->hardware()), kernel_(kWordWindows * options.window_s),
	  window_ns_(options.window_s * std::int64_t(1000000000)), order_(mesh_.peers()),
	  random_(std::random_device()())
{
	for (HostNumber number = 0; number < mesh_.hosts.size(); number++)
		numbers_[mesh_.hosts[number]] = number;
	for (HostNumber number : order_) {
		std::uint64_t run = new_run();
		peers_.emplace(number, Peer{ProbeTrack(run), PairClock(clock_->grain_ns()), {}, {}, 0});
		runs_[run] = number;
	}
	if (options.coordinator)
		link_.emplace(mesh_, *options.coordinator, keys_, window_ns_, clock_->grain_ns());
	find_routes();
}

void Clockd::find_routes()
{
	for (auto &[number, peer] : peers_) {
		try {
			peer.from = address_towards(mesh_.hosts[number]);
		} catch (const Error &) {
			peer.from.reset();
		}
	}
}

const Clockd::Peer *Clockd::peer(HostNumber number) const
{
	auto found = peers_.find(number);

	return found == peers_.end() ? nullptr : &found->second;
}

void Clockd::receive()
{
	socket_.stamps([this](const std::uint8_t *bytes, std::int64_t stamp_ns) {
		clockd_wire::Reader reader(bytes + clockd_wire::kHeadBytes);
		auto run = runs_.find(reader.get(8));
		reader.get(8);
		std::uint32_t sequence = reader.get(4);
		std::int64_t ns = clock_->told_ns(stamp_ns);
		if (run != runs_.end() && ns > 0)
			peers_.at(run->second).track.sent(sequence / 2, sequence % 2, ns);
	});
	socket_.receive([this](const OnrampAddress &from, const std::uint8_t *bytes, std::size_t length,
			       std::int64_t stamp_ns) {
		auto number = numbers_.find(from);
		std::int64_t ns = clock_->told_ns(stamp_ns);
		if (number == numbers_.end()) {
			refused_++;
			return;
		}
		if (link_ && ns > 0 && link_->heard(number->second, bytes, length, ns))
			return;
		auto peer = peers_.find(number->second);
		std::optional<Probe> probe;
		if (peer != peers_.end())
			probe = probe_decode(bytes, length, from, keys_);
		refused_ += !probe;
		if (probe && ns > 0)
			peer->second.track.received(*probe, ns);
	});
}

void Clockd::send()
{
	std::vector<ClockdDatagram> datagrams;

	// Probes leave one after the other, and the kernel stamps all at once: each peer's are the first now and then.
	std::shuffle(order_.begin(), order_.end(), random_);
	for (HostNumber number : order_) {
		Peer &peer = peers_.at(number);
		if (!peer.from)
			continue;
		for (const Probe &probe : peer.track.next()) {
			ProbeBytes bytes = probe_encode(probe, *peer.from, keys_.front());
			datagrams.push_back({mesh_.hosts[number], {bytes.begin(), bytes.end()}});
		}
	}
	socket_.send(datagrams);
}

void Clockd::send_link()
{
	std::vector<ClockdDatagram> datagrams;

	for (LinkDatagram &datagram : link_->take())
		datagrams.push_back({mesh_.hosts[datagram.to], std::move(datagram.bytes)});
	if (!datagrams.empty())
		socket_.send(datagrams);
}

void Clockd::tick()
{
	receive();
	send();
	if (link_) {
		if (link_->look(clock_->now_ns()))
			answered();
		send_link();
	}
}

void Clockd::look()
{
	clock_->look();
	for (const OnrampAddress &address : kernel_.told()) {
		HostNumber number = numbers_.at(address);
		if (std::optional<Now> known = now(number, peer(number)))
			kernel_.follow(address, known->offset);
	}
}

// What the mesh says counts from now on, and not from the end of a window.
void Clockd::answered()
{
	answered_ns_ = monotonic_ns();
	for (const auto &[address, number] : numbers_) {
		std::optional<Now> known = number == mesh_.own ? std::nullopt : now(number, peer(number));
		if (known && known->by_mesh)
			kernel_.tell(address, known->offset);
	}
}

// The mesh's word, or else the pair's own. What was known before is believed as long as a word counts.
std::optional<Clockd::Now> Clockd::now(HostNumber number, const Peer *peer) const
{
	std::int64_t now_ns = clock_->now_ns();
	std::optional<PeerOffset> known = link_ ? link_->known().at(number, now_ns) : std::nullopt;
	bool by_mesh = known.has_value();

	if (!known && peer && peer->silent < kWordWindows)
		known = peer->clock.at(now_ns);
	if (!known)
		return std::nullopt;
	known->error_ns += std::llround(clock_->error_ns());
	return Now{offset_to_tell(*known), by_mesh};
}

PeerSeen Clockd::judge(HostNumber number, const Peer *peer)
{
	const OnrampAddress &address = mesh_.hosts[number];
	std::optional<Now> known = now(number, peer);
	PeerSeen seen = {address, peer != nullptr, {}, known && known->by_mesh, {}, false, 0, 0, 0, {}, false};

	if (known)
		seen.offset = known->offset;
	if (peer) {
		seen.trouble = peer->trouble;
		seen.there = peer->clock.there();
		seen.back = peer->clock.back();
		seen.width_ns = peer->clock.width_ns();
	} else if (!known) {
		seen.trouble = "the coordinator does not know it";
	}
	const AnsweredClock *answer = link_ ? link_->known().of(number, clock_->now_ns()) : nullptr;
	if (answer && answer->has_edge) {
		if (answer->known)
			seen.surplus_ns = answer->surplus_ns;
		seen.left_out = answer->left_out;
	}
	if (known && (known->by_mesh || seen.trouble.empty()))
		kernel_.tell(address, known->offset);
	else if (!known)
		kernel_.forget(address);
	seen.told = kernel_.told(address);
	return seen;
}

// What the mesh said of a clock counts no more when it is set. If most were set in one moment, it was ours.
void Clockd::heard_of_sets()
{
	std::size_t set = 0;

	for (const auto &[number, peer] : peers_) {
		if (peer.trouble != PairClock::kWasSet)
			continue;
		set++;
		link_->known().forget(number);
	}
	if (2 * set > peers_.size())
		link_->known().forget_all();
}

std::vector<ReportedEdge> Clockd::edges() const
{
	std::int64_t now_ns = clock_->now_ns();
	std::vector<ReportedEdge> edges;

	for (const auto &[number, peer] : peers_) {
		std::optional<OffsetNow> now = peer.clock.estimate(now_ns);
		double drift_ppt = now ? now->drift * 1e12 : 0;
		bool heard = peer.trouble.empty() || peer.trouble == PairClock::kWasSet;
		if (!now || !heard || std::fabs(drift_ppt) > coordinator_wire::kDriftMostPpt ||
		    !coordinator_wire::is_within(now->offset_ns, coordinator_wire::kOffsetMostNs))
			continue;
		edges.push_back({number, now->offset_ns, saturated<std::int32_t>(drift_ppt),
				 std::max(saturated<std::uint32_t>(now->sigma_ns * 1e3), std::uint32_t(1))});
	}
	return edges;
}

// On-Ramp's peers among the hosts of the mesh, and in a small one all.
std::vector<HostNumber> Clockd::wanted()
{
	std::set<HostNumber> hosts;

	if (mesh_.hosts.size() <= kWantsAll) {
		for (const auto &[address, number] : numbers_)
			hosts.insert(number);
	} else {
		for (const OnrampAddress &peer : kernel_.peers()) {
			auto number = numbers_.find(peer);
			if (number != numbers_.end())
				hosts.insert(number->second);
		}
	}
	hosts.erase(mesh_.own);
	for (const auto &[number, peer] : peers_)
		hosts.erase(number);
	return {hosts.begin(), hosts.end()};
}

std::vector<PeerSeen> Clockd::window()
{
	std::vector<PeerSeen> seen;

	receive();
	find_routes();
	for (auto &[number, peer] : peers_) {
		peer.trouble = peer.clock.heard(peer.track.take());
		if (!peer.from)
			peer.trouble = "no route leads there";
		peer.silent = peer.trouble.empty() ? 0 : peer.silent + 1;
	}
	if (link_) {
		heard_of_sets();
		wanted_ = wanted();
		link_->window(edges(), wanted_, clock_->now_ns());
		send_link();
	}
	for (const auto &[number, peer] : peers_)
		seen.push_back(judge(number, &peer));
	for (HostNumber number : wanted_)
		seen.push_back(judge(number, nullptr));
	return seen;
}

std::int64_t Clockd::window_end_ns(std::int64_t begin_ns) const
{
	std::int64_t end_ns = begin_ns + window_ns_, apart_ns = monotonic_ns() - answered_ns_;

	if (!answered_ns_ || !link_ || link_->coordinates() || apart_ns > kWordWindows * window_ns_)
		return end_ns;
	return aligned_end_ns(answered_ns_, begin_ns, window_ns_, mesh_.own, mesh_.hosts.size());
}

std::optional<LinkSeen> Clockd::link() const
{
	if (!link_)
		return std::nullopt;
	LinkSeen seen = {mesh_.hosts[link_->coordinator()], link_->coordinates(), link_->trouble(clock_->now_ns()),
			 link_->known().summary(), {}, {}};
	for (HostNumber host : link_->misfits())
		seen.misfits.push_back(mesh_.hosts[host]);
	for (HostNumber host : link_->strangers())
		seen.strangers.push_back(mesh_.hosts[host]);
	return seen;
}

}  // namespace turnpike
