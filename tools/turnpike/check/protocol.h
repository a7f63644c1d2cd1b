// SPDX-License-Identifier: GPL-2.0
//
// What turnpike check and turnpike check --serve say to each other, over TCP:
//
//	client							server
//	turnpike-check 1 open			->
//						<-	turnpike-check 1 token 0123456789abcdef
//
// The session lasts as long as this connection. Each further one begins with the session's token, and is either for a
// long flow, which the server reads and throws away, or for requests of kRequestBytes, each of which has an answer of
// kAnswerBytes.
//
//	turnpike-check 1 bulk TOKEN		->
//						<-	turnpike-check 1 joined
//
// To a line of another version the server says `turnpike-check 1 refused', while it has another client
// `turnpike-check 1 busy', and nothing to any other line.
#ifndef TURNPIKE_TOOLS_CHECK_PROTOCOL_H
#define TURNPIKE_TOOLS_CHECK_PROTOCOL_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace turnpike {

constexpr std::uint16_t kCheckPort = 61005;
constexpr unsigned kCheckVersion = 1;
constexpr std::size_t kRequestBytes = 100, kAnswerBytes = 1000;
// A line is shorter, its end included.
constexpr std::size_t kLineBytes = 128;

// A line of either side, taken apart.
struct Greeting {
	unsigned version = kCheckVersion;
	std::string word;	// open, bulk, request; token, joined, busy, refused
	std::string token;	// of open, joined, busy and refused empty
};

// Without its end; none if it is no line of this protocol.
std::optional<Greeting> parse_greeting(const std::string &line);

// With its end.
std::string greeting_text(const Greeting &greeting);

// What a server answers to a client that greets. session: the token of the one it has, or empty; same_host: the greeting
// is from the host of the session; fresh: the token of a new one.
std::optional<Greeting> answer_to(const std::string &line, const std::string &session, bool same_host,
				  const std::string &fresh);

// The answer that a client got to a word: its token. Throws Error with what is wrong with the peer.
std::string understood(const std::string &line, const std::string &peer, const std::string &own_address);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_PROTOCOL_H
