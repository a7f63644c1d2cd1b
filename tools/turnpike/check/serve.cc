// SPDX-License-Identifier: GPL-2.0
#include "serve.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

#include <unistd.h>

#include "../command.h"
#include "../onramp.h"
#include "../setup/routes.h"
#include "net.h"
#include "session.h"

namespace turnpike {
namespace {

constexpr int kLookMs = 1000;

[[noreturn]] void fail(const std::string &what)
{
	throw Error(what + ": " + std::strerror(errno));
}

// For both families, or for IPv4 where there is no other.
int listen_on(std::uint16_t port)
{
	sockaddr_in6 six = {};
	sockaddr_in four = {};
	int on = 1, off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool has_six = fd >= 0;

	six.sin6_family = AF_INET6;
	four.sin_family = AF_INET;
	six.sin6_port = four.sin_port = htons(port);
	if (!has_six)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fail("no socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (has_six)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	auto *address = has_six ? reinterpret_cast<sockaddr *>(&six) : reinterpret_cast<sockaddr *>(&four);
	if (bind(fd, address, has_six ? sizeof(six) : sizeof(four)) || listen(fd, static_cast<int>(kMostGreeting)))
		fail("cannot listen on port " + std::to_string(port));
	return fd;
}

std::uint16_t port_of(int fd)
{
	Address address = own_address(fd);

	if (address.storage.ss_family == AF_INET)
		return ntohs(reinterpret_cast<const sockaddr_in *>(&address.storage)->sin_port);
	return ntohs(reinterpret_cast<const sockaddr_in6 *>(&address.storage)->sin6_port);
}

bool may_ask(const std::string &host, const std::vector<onramp_ask> &allowed)
{
	return std::any_of(allowed.begin(), allowed.end(),
			   [&](const onramp_ask &network) { return is_inside(onramp_prefix(host), network); });
}

// Who may not ask gets nothing, and is not told of: others could fill a log.
void accept_one(int listener, const std::vector<onramp_ask> &allowed, Sessions &sessions)
{
	Address from;

	from.bytes = sizeof(from.storage);
	int fd = accept4(listener, reinterpret_cast<sockaddr *>(&from.storage), &from.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (may_ask(host_text(from), allowed)) {
		sessions.add(fd, host_text(from));
		return;
	}
	reset_at_close(fd);
	close(fd);
}

std::string joined(const std::vector<std::string> &words)
{
	std::string text;

	for (const std::string &word : words)
		text += (text.empty() ? "" : ", ") + word;
	return text;
}

}  // namespace

void serve_checks(std::uint16_t port, const std::vector<std::string> &allow)
{
	std::vector<onramp_ask> allowed;
	Signals signals;
	File listener(listen_on(port));
	Sessions sessions;

	for (const std::string &network : allow)
		allowed.push_back(onramp_prefix(network));
	std::cout << "answers checks of " << joined(allow) << " on port " << port_of(listener.fd()) << "; Ctrl-C ends it" << std::endl;
	while (!signals.take()) {
		std::vector<pollfd> waits = sessions.waits_for();

		waits.insert(waits.end(), {{listener.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}});
		poll(waits.data(), waits.size(), kLookMs);
		bool comes = waits[waits.size() - 2].revents;
		waits.resize(waits.size() - 2);
		sessions.serve(waits);
		if (comes)
			accept_one(listener.fd(), allowed, sessions);
		sessions.give_up_silent(Clock::now());
	}
}

}  // namespace turnpike
