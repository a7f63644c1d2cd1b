// SPDX-License-Identifier: GPL-2.0
#include "net.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include "../command.h"
#include "../onramp.h"
#include "../units.h"
#include "protocol.h"

namespace turnpike {
namespace {

constexpr int kLookMs = 100;

[[noreturn]] void fail(const std::string &peer, int error)
{
	if (error == ECONNREFUSED)
		throw Error(peer + " refuses connections: start 'turnpike check --serve' there");
	throw Error(peer + ": " + std::strerror(error));
}

// Until there is one of these events, or a signal.
void wait_for(int fd, short events, const std::string &peer, const Signals &signals)
{
	pollfd both[] = {{fd, events, 0}, {signals.fd(), POLLIN, 0}};

	int ready = poll(both, 2, kPatienceMs);
	signals.check();
	if (!ready)
		throw Error(peer + " does not answer: is a firewall in between, or is it down?");
}

}  // namespace

Address address_of(const std::string &peer, std::uint16_t port)
{
	addrinfo hints = {}, *list = nullptr;
	Address address;

	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_ADDRCONFIG;
	// Numbers are taken without a look at what addresses this host has.
	if (peer.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos)
		hints.ai_flags = 0;
	int error = getaddrinfo(peer.c_str(), std::to_string(port).c_str(), &hints, &list);
	if (error)
		throw Error("'" + printable(peer) + "': " + gai_strerror(error));
	address.bytes = list->ai_addrlen;
	std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
	freeaddrinfo(list);
	return address;
}

std::string host_text(const Address &address)
{
	in6_addr six = {};

	if (address.storage.ss_family == AF_INET6)
		return onramp_address_text(&reinterpret_cast<const sockaddr_in6 *>(&address.storage)->sin6_addr);
	six.s6_addr[10] = six.s6_addr[11] = 0xff;
	std::memcpy(six.s6_addr + 12, &reinterpret_cast<const sockaddr_in *>(&address.storage)->sin_addr, 4);
	return onramp_address_text(&six);
}

std::string host_prefix(const Address &address)
{
	std::string host = host_text(address);

	return host + (host.find(':') == std::string::npos ? "/32" : "/128");
}

int connect_to(const Address &address, const std::string &peer, const Signals &signals)
{
	int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	int error = 0;
	socklen_t bytes = sizeof(error);

	if (fd < 0)
		fail(peer, errno);
	try {
		if (connect(fd, reinterpret_cast<const sockaddr *>(&address.storage), address.bytes) && errno != EINPROGRESS)
			fail(peer, errno);
		wait_for(fd, POLLOUT, peer, signals);
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
		if (error)
			fail(peer, error);
	} catch (...) {
		close(fd);
		throw;
	}
	return fd;
}

Address own_address(int fd)
{
	Address address;

	address.bytes = sizeof(address.storage);
	getsockname(fd, reinterpret_cast<sockaddr *>(&address.storage), &address.bytes);
	return address;
}

void wait_for_answer(int fd, const std::string &peer, const Signals &signals)
{
	wait_for(fd, POLLIN, peer, signals);
}

std::string read_line(int fd, const std::string &peer, const Signals &signals)
{
	std::string line;
	char c;

	while (line.size() < kLineBytes) {
		wait_for_answer(fd, peer, signals);
		ssize_t got = recv(fd, &c, 1, 0);
		if (got < 0 && errno == EAGAIN)
			continue;
		if (got < 0 && errno != ECONNRESET)
			fail(peer, errno);
		if (got <= 0 || c == '\n')
			break;
		line += c;
	}
	return line;
}

void send_all(int fd, const std::string &text, const std::string &peer)
{
	ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL);

	if (sent < 0)
		fail(peer, errno);
	if (static_cast<std::size_t>(sent) != text.size())
		throw Error(peer + " takes no data");
}

void reset_at_close(int fd)
{
	linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

void end_together(const std::vector<int> &fds)
{
	auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
	std::vector<pollfd> open;
	char rest[4096];

	for (int fd : fds) {
		shutdown(fd, SHUT_WR);
		open.push_back({fd, POLLIN, 0});
	}
	while (!open.empty() && std::chrono::steady_clock::now() < until) {
		poll(open.data(), open.size(), kLookMs);
		std::erase_if(open, [&](const pollfd &one) {
			ssize_t got = recv(one.fd, rest, sizeof(rest), MSG_DONTWAIT);
			return !got || (got < 0 && errno != EAGAIN && errno != EINTR);
		});
	}
}

std::string congestion_of(int fd)
{
	char name[16 + 1] = "";
	socklen_t bytes = sizeof(name) - 1;

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &bytes))
		throw Error(std::string("the kernel tells no congestion control: ") + std::strerror(errno));
	return name;
}

Counters counters_of(int fd)
{
	tcp_info info = {};
	socklen_t bytes = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes))
		throw Error(std::string("the kernel tells nothing of a connection: ") + std::strerror(errno));
	return {info.tcpi_bytes_acked, info.tcpi_total_retrans};
}

}  // namespace turnpike
