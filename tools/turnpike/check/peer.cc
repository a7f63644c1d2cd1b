// SPDX-License-Identifier: GPL-2.0
#include "peer.h"

#include <unistd.h>

#include "protocol.h"

namespace turnpike {
namespace {

// What the peer answers to a greeting: a token, or nothing.
std::string greet(int fd, const Greeting &greeting, const std::string &peer, const Signals &signals)
{
	send_all(fd, greeting_text(greeting), peer);
	return understood(read_line(fd, peer, signals), peer, host_text(own_address(fd)));
}

}  // namespace

Peer::Peer(const std::string &name, const Address &address, const Signals &signals)
	: name_(name), address_(address), signals_(signals), session_(connect_to(address, name, signals)),
	  token_(greet(session_.fd(), {kCheckVersion, "open", ""}, name, signals))
{
}

int Peer::join(const std::string &word) const
{
	int fd = connect_to(address_, name_, signals_);

	reset_at_close(fd);
	try {
		greet(fd, {kCheckVersion, word, token_}, name_, signals_);
	} catch (...) {
		close(fd);
		throw;
	}
	return fd;
}

}  // namespace turnpike
