// SPDX-License-Identifier: GPL-2.0
//
// The connections of a server of checks, bounded in number, memory and time.
#ifndef TURNPIKE_TOOLS_CHECK_SESSION_H
#define TURNPIKE_TOOLS_CHECK_SESSION_H

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include <poll.h>

#include "../netns.h"
#include "protocol.h"

namespace turnpike {

using Clock = std::chrono::steady_clock;

// A client has a dozen; the rest is for those that come at the same time.
constexpr std::size_t kMostConnections = 48, kMostGreeting = 16;
// A client that says nothing goes: its route may be gone while it is switched, but not for so long.
constexpr std::chrono::seconds kGreetingPatience{10}, kSessionPatience{120};

struct ClientConnection {
	enum class Role { greeting, open, bulk, request };

	ClientConnection(int fd, std::string host) : file(fd), host(std::move(host)), since(Clock::now()) {}

	File file;
	std::string host;
	Clock::time_point since;
	Role role = Role::greeting;
	std::string line = {};			// of a greeting, what came of it
	std::size_t request_bytes = 0;		// of a request, what came of it
	std::size_t answer_bytes = 0;		// of an answer, what has still to go
	bool over = false;
};

class Sessions {
public:
	// A connection that was accepted, from a host that may. It is closed if there are too many.
	void add(int fd, const std::string &host);

	std::vector<pollfd> waits_for() const;

	// What became of waits_for(), in the same order.
	void serve(const std::vector<pollfd> &ready);

	// Closes what kept silent for too long.
	void give_up_silent(Clock::time_point now);

private:
	void greet(ClientConnection &connection);
	void begin(ClientConnection &connection, const Greeting &answer);
	void sink(ClientConnection &connection);
	void answer(ClientConnection &connection);
	void end_session();
	void sweep();

	std::list<ClientConnection> connections_;	// in the order they came
	std::string token_;			// of the session; empty: there is none
	std::string host_;
	Clock::time_point last_;		// something came of the session
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_SESSION_H
