// SPDX-License-Identifier: GPL-2.0
#include "requests.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "protocol.h"

namespace turnpike {
namespace {

using std::chrono::milliseconds;

// As many at a time as make a sample of some hundred a second where an answer takes 20 ms, and no load of their own.
constexpr unsigned kConnections = 8;
constexpr milliseconds kPace{2};
// A retransmission timeout and one more.
constexpr milliseconds kLast{1000};
constexpr milliseconds kPatience{kPatienceMs};

}  // namespace

Requests::Requests(const Peer &peer) : peer_(peer)
{
	int on = 1;

	for (unsigned i = 0; i < kConnections; i++) {
		all_.emplace_back(peer.join("request"));
		setsockopt(all_.back().file.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	}
}

std::vector<double> Requests::run(Clock::time_point from, Clock::time_point until, const Bulk &bulk)
{
	Clock::time_point now;
	unsigned turn = 0;

	from_ = from;
	took_ns_.clear();
	// Not all at the same time.
	for (One &one : all_)
		one.next = Clock::now() + kPace * turn++ / kConnections;
	while ((now = Clock::now()) < until || (now < until + kLast && any_awaited())) {
		Clock::time_point wake = now < until ? until : until + kLast;

		look_after_peer(now);
		bulk.check();
		for (One &one : all_) {
			if (!one.awaited_bytes && now < until && one.next <= now)
				ask(one, now);
			if (!one.awaited_bytes && now < until)
				wake = std::min(wake, one.next);
		}
		wait(wake);
	}
	for (const One &one : all_)
		if (one.awaited_bytes)
			note(one, now);
	return took_ns_;
}

void Requests::finish() const
{
	std::vector<int> fds;

	for (const One &one : all_)
		fds.push_back(one.file.fd());
	end_together(fds);
}

void Requests::ask(One &one, Clock::time_point now)
{
	send_all(one.file.fd(), std::string(kRequestBytes, '\0'), peer_.name());
	one.asked = now;
	one.next = now + kPace;
	one.awaited_bytes = kAnswerBytes;
}

void Requests::take(One &one)
{
	std::array<char, kAnswerBytes> room;
	ssize_t got = recv(one.file.fd(), room.data(), std::max<std::size_t>(one.awaited_bytes, 1), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		throw Error(peer_.name() + " went away" + (got ? std::string(": ") + std::strerror(errno) : ""));
	if (static_cast<std::size_t>(got) > one.awaited_bytes)
		throw Error(peer_.name() + " answers what nobody asked");
	one.awaited_bytes -= static_cast<std::size_t>(got);
	if (!one.awaited_bytes)
		note(one, Clock::now());
}

void Requests::wait(Clock::time_point wake)
{
	std::vector<pollfd> waits = {{peer_.signals().fd(), POLLIN, 0}, {peer_.fd(), POLLIN, 0}};
	auto left = std::max(Clock::duration(0), std::min<Clock::duration>(wake - Clock::now(), kPatience));
	timespec limit = {std::chrono::duration_cast<std::chrono::seconds>(left).count(),
			  std::chrono::nanoseconds(left % std::chrono::seconds(1)).count()};

	for (const One &one : all_)
		waits.push_back({one.file.fd(), POLLIN, 0});
	ppoll(waits.data(), waits.size(), &limit, nullptr);
	peer_.signals().check();
	if (waits[1].revents)
		throw Error(peer_.name() + " went away");
	std::size_t at = 2;
	for (One &one : all_)
		if (waits[at++].revents)
			take(one);
}

void Requests::look_after_peer(Clock::time_point now) const
{
	for (const One &one : all_)
		if (one.awaited_bytes && now - one.asked > kPatience)
			throw Error(peer_.name() + " does not answer any more");
}

void Requests::note(const One &one, Clock::time_point now)
{
	if (one.asked >= from_)
		took_ns_.push_back(std::chrono::duration<double, std::nano>(now - one.asked).count());
}

bool Requests::any_awaited() const
{
	return std::any_of(all_.begin(), all_.end(), [](const One &one) { return one.awaited_bytes; });
}

}  // namespace turnpike
