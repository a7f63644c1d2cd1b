// SPDX-License-Identifier: GPL-2.0
//
// Addresses and TCP connections of the check.
#ifndef TURNPIKE_TOOLS_CHECK_NET_H
#define TURNPIKE_TOOLS_CHECK_NET_H

#include <cstdint>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include "../netns.h"
#include "../signals.h"

namespace turnpike {

// How long a peer may keep silent before it is given up, in milliseconds.
constexpr int kPatienceMs = 10000;

struct Address {
	sockaddr_storage storage = {};
	socklen_t bytes = 0;
};

// Of a name or a number, the one that programs try first. Throws Error.
Address address_of(const std::string &peer, std::uint16_t port);

// Numbers alone; an IPv4 address that is mapped into IPv6 as what it is.
std::string host_text(const Address &address);

// Address and length of a network of that host alone, as 10.0.0.1/32.
std::string host_prefix(const Address &address);

// A connection that does not block; throws Error with what to do, or Stopped.
int connect_to(const Address &address, const std::string &peer, const Signals &signals);

// The own end's address.
Address own_address(int fd);

// Waits for something to read; throws Error if the peer keeps silent, or Stopped.
void wait_for_answer(int fd, const std::string &peer, const Signals &signals);

// A line without its end, or what came before the peer closed. The same errors.
std::string read_line(int fd, const std::string &peer, const Signals &signals);

// Sends all of it: a line fits into what the kernel keeps for a new connection. Throws Error.
void send_all(int fd, const std::string &text, const std::string &peer);

// The connection is gone at once, at both ends: its congestion control is in use no longer.
void reset_at_close(int fd);

// Tells the peer that no more comes, and waits for its end. A reset alone may be lost in the queue that was just filled,
// and the peer would keep the connection. Who keeps silent is waited for no longer than patience has it.
void end_together(const std::vector<int> &fds);

// What the kernel says of the congestion control of a connection.
std::string congestion_of(int fd);

struct Counters {
	std::uint64_t acked_bytes = 0;
	std::uint64_t retransmits = 0;
};

Counters counters_of(int fd);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_NET_H
