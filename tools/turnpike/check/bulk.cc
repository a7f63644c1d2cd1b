// SPDX-License-Identifier: GPL-2.0
#include "bulk.h"

#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace turnpike {
namespace {

// One fills most paths; some more keep it full while one of them makes up for a loss.
constexpr unsigned kFlows = 4;
constexpr std::size_t kWriteBytes = 64 * 1024;
// What is written and not yet sent: enough to stay busy, and the path's buffer is not looked for here.
constexpr int kUnsentBytes = 256 * 1024;
constexpr int kLookMs = 100;

}  // namespace

Bulk::Bulk(const Peer &peer) : peer_(peer.name())
{
	int unsent = kUnsentBytes;

	for (unsigned i = 0; i < kFlows; i++) {
		files_.emplace_back(peer.join("bulk"));
		setsockopt(files_.back().fd(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	}
	thread_ = std::thread([this] { fill(); });
}

Bulk::~Bulk()
{
	stop();
}

void Bulk::stop()
{
	ends_ = true;
	if (thread_.joinable())
		thread_.join();
}

void Bulk::finish()
{
	std::vector<int> fds;

	stop();
	for (const File &file : files_)
		fds.push_back(file.fd());
	end_together(fds);
}

void Bulk::fill()
{
	static const std::vector<char> nothing(kWriteBytes);
	std::vector<pollfd> waits;

	for (const File &file : files_)
		waits.push_back({file.fd(), POLLOUT, 0});
	while (!ends_ && !error_) {
		poll(waits.data(), waits.size(), kLookMs);
		for (const pollfd &one : waits) {
			if (!one.revents)
				continue;
			ssize_t sent = send(one.fd, nothing.data(), nothing.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
			if (sent < 0 && errno != EAGAIN && errno != EINTR)
				error_ = errno;
		}
	}
}

std::string Bulk::congestion() const
{
	std::set<std::string> names;
	std::string text;

	for (const File &file : files_)
		names.insert(congestion_of(file.fd()));
	for (const std::string &name : names)
		text += (text.empty() ? "" : ",") + name;
	return text;
}

Counters Bulk::counters() const
{
	Counters sum;

	for (const File &file : files_) {
		Counters one = counters_of(file.fd());
		sum.acked_bytes += one.acked_bytes;
		sum.retransmits += one.retransmits;
	}
	return sum;
}

void Bulk::check() const
{
	if (int error = error_)
		throw Error(peer_ + " went away: " + std::strerror(error));
}

}  // namespace turnpike
