// SPDX-License-Identifier: GPL-2.0
#include "clockd.h"

#include <algorithm>

#include "../command.h"

namespace turnpike {
namespace {

std::uint64_t new_run()
{
	std::random_device random;
	std::uint64_t run = 0;

	while (!run)
		run = std::uint64_t(random()) << 32 | random();
	return run;
}

constexpr unsigned kWordWindows = 3;

}  // namespace

// Each peer is met with a run of its own: a transmit stamp's datagram names its peer by that.
Clockd::Clockd(const std::vector<OnrampAddress> &peers, std::vector<OnrampNumberedKey> keys, std::uint16_t port,
	       std::unique_ptr<StampClock> clock, unsigned window_s, std::int64_t next_ns)
	: keys_(std::move(keys)), clock_(std::move(clock)), socket_(port, clock_->hardware()),
	  kernel_(kWordWindows * window_s), next_ns_(next_ns), order_(peers), random_(std::random_device()())
{
	for (const OnrampAddress &peer : peers) {
		std::uint64_t run = new_run();
		peers_.emplace(peer, Peer{ProbeTrack(run), PairClock(clock_->grain_ns()), std::nullopt, 0});
		runs_[run] = peer;
	}
	find_routes();
}

void Clockd::find_routes()
{
	for (auto &[address, peer] : peers_) {
		try {
			peer.from = address_towards(address);
		} catch (const Error &) {
			peer.from.reset();
		}
	}
}

void Clockd::receive()
{
	socket_.stamps([this](const std::uint8_t *bytes, std::int64_t stamp_ns) {
		probe_wire::Reader reader(bytes + 8);
		auto run = runs_.find(reader.get(8));
		reader.get(8);
		std::uint32_t sequence = reader.get(4);
		std::int64_t ns = clock_->told_ns(stamp_ns);
		if (run != runs_.end() && ns > 0)
			peers_.at(run->second).track.sent(sequence / 2, sequence % 2, ns);
	});
	socket_.receive([this](const OnrampAddress &from, const std::uint8_t *bytes, std::size_t length,
			       std::int64_t stamp_ns) {
		auto peer = peers_.find(from);
		std::optional<Probe> probe;
		if (peer != peers_.end())
			probe = probe_decode(bytes, length, from, keys_);
		std::int64_t ns = clock_->told_ns(stamp_ns);
		refused_ += !probe;
		if (probe && ns > 0)
			peer->second.track.received(*probe, ns);
	});
}

void Clockd::send()
{
	std::vector<ProbeDatagram> datagrams;

	// Probes leave one after the other, and the kernel stamps all at once: each peer's are the first now and then.
	std::shuffle(order_.begin(), order_.end(), random_);
	for (const OnrampAddress &address : order_) {
		Peer &peer = peers_.at(address);
		if (!peer.from)
			continue;
		for (const Probe &probe : peer.track.next())
			datagrams.push_back({address, probe_encode(probe, *peer.from, keys_.front())});
	}
	socket_.send(datagrams);
}

void Clockd::tick()
{
	receive();
	send();
	for (const auto &[address, peer] : peers_) {
		if (!kernel_.told(address))
			continue;
		if (std::optional<PeerOffset> now = offset_now(peer))
			kernel_.follow(address, *now);
	}
}

std::optional<PeerOffset> Clockd::offset_now(const Peer &peer) const
{
	std::optional<PeerOffset> now = peer.clock.at(clock_->now_ns());

	if (!now)
		return std::nullopt;
	now->error_ns += std::llround(clock_->error_ns());
	return offset_to_tell(*now, next_ns_);
}

PeerSeen Clockd::judge(const OnrampAddress &address, Peer &peer)
{
	std::string trouble = peer.clock.heard(peer.track.take());

	if (!peer.from)
		trouble = "no route leads there";
	peer.silent = trouble.empty() ? 0 : peer.silent + 1;
	// what was known before is believed as long as a word counts
	std::optional<PeerOffset> now = peer.silent < kWordWindows ? offset_now(peer) : std::nullopt;
	if (now && trouble.empty())
		kernel_.tell(address, *now);
	else if (!now)
		kernel_.forget(address);
	return {address, now, trouble, kernel_.told(address), peer.clock.there(), peer.clock.back(),
		peer.clock.width_ns()};
}

std::vector<PeerSeen> Clockd::window()
{
	std::vector<PeerSeen> seen;

	receive();
	find_routes();
	for (auto &[address, peer] : peers_)
		seen.push_back(judge(address, peer));
	return seen;
}

}  // namespace turnpike
