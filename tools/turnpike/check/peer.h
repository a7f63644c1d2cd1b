// SPDX-License-Identifier: GPL-2.0
//
// A session with a host that runs turnpike check --serve.
#ifndef TURNPIKE_TOOLS_CHECK_PEER_H
#define TURNPIKE_TOOLS_CHECK_PEER_H

#include <string>

#include "net.h"

namespace turnpike {

class Peer {
public:
	// Throws Error if nothing that knows checks answers, or Stopped.
	Peer(const std::string &name, const Address &address, const Signals &signals);

	// A new connection of the session, for `bulk' or `request'; the caller closes it.
	int join(const std::string &word) const;

	const std::string &name() const { return name_; }
	const Signals &signals() const { return signals_; }

	// Of the connection that the session stands on: readable when the peer is gone.
	int fd() const { return session_.fd(); }

private:
	std::string name_;
	Address address_;
	const Signals &signals_;
	File session_;
	std::string token_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_PEER_H
