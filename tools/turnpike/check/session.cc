// SPDX-License-Identifier: GPL-2.0
#include "session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "../command.h"

namespace turnpike {
namespace {

// Of a long flow at once: the kernel throws it away, without a copy.
constexpr std::size_t kBulkBytes = 1 << 20;

std::string new_token()
{
	std::array<unsigned char, 16> random;
	std::string text;

	if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
		throw Error("no random numbers");
	for (unsigned char byte : random)
		for (unsigned nibble : {byte >> 4, byte & 15})
			text += "0123456789abcdef"[nibble];
	return text;
}

bool would_block()
{
	return errno == EAGAIN || errno == EINTR;
}

}  // namespace

void Sessions::add(int fd, const std::string &host)
{
	auto greeting = std::count_if(connections_.begin(), connections_.end(),
				      [](const ClientConnection &c) { return c.role == ClientConnection::Role::greeting; });
	int on = 1;

	connections_.emplace_back(fd, host);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	connections_.back().over = connections_.size() > kMostConnections ||
				   static_cast<std::size_t>(greeting) >= kMostGreeting;
	sweep();
}

std::vector<pollfd> Sessions::waits_for() const
{
	std::vector<pollfd> list;

	// Who does not take an answer is asked for no further request.
	for (const ClientConnection &connection : connections_)
		list.push_back({connection.file.fd(), static_cast<short>(connection.answer_bytes ? POLLOUT : POLLIN), 0});
	return list;
}

void Sessions::serve(const std::vector<pollfd> &ready)
{
	std::size_t at = 0;

	for (ClientConnection &connection : connections_) {
		if (at == ready.size())
			break;
		if (!ready[at++].revents)
			continue;
		switch (connection.role) {
		case ClientConnection::Role::greeting:
			greet(connection);
			break;
		case ClientConnection::Role::request:
			answer(connection);
			break;
		default:
			sink(connection);
		}
		if (connection.role != ClientConnection::Role::greeting)
			last_ = Clock::now();
	}
	sweep();
}

void Sessions::greet(ClientConnection &connection)
{
	char c;

	while (connection.line.size() < kLineBytes) {
		ssize_t got = recv(connection.file.fd(), &c, 1, MSG_DONTWAIT);
		if (got < 0 && would_block())
			return;
		if (got <= 0) {
			connection.over = true;
			return;
		}
		if (c == '\n')
			break;
		connection.line += c;
	}
	auto answer = answer_to(connection.line, token_, connection.host == host_, new_token());
	connection.over = !answer;
	if (answer)
		begin(connection, *answer);
}

void Sessions::begin(ClientConnection &connection, const Greeting &answer)
{
	std::string text = greeting_text(answer);
	std::string asked = parse_greeting(connection.line)->word;

	if (answer.word == "token") {
		connection.role = ClientConnection::Role::open;
		token_ = answer.token;
		host_ = connection.host;
		std::cout << host_ << " checks" << std::endl;
	} else if (answer.word == "joined") {
		connection.role = asked == "bulk" ? ClientConnection::Role::bulk : ClientConnection::Role::request;
	} else {
		connection.over = true;
	}
	if (send(connection.file.fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) != static_cast<ssize_t>(text.size()))
		connection.over = true;
}

// Of the connection that the session stands on nothing comes but its end.
void Sessions::sink(ClientConnection &connection)
{
	ssize_t got = recv(connection.file.fd(), nullptr, kBulkBytes, MSG_TRUNC | MSG_DONTWAIT);

	connection.over = !got || (got < 0 && !would_block());
}

void Sessions::answer(ClientConnection &connection)
{
	static const std::array<char, kAnswerBytes> nothing = {};
	int fd = connection.file.fd();

	if (!connection.answer_bytes) {
		ssize_t got = recv(fd, nullptr, kRequestBytes - connection.request_bytes, MSG_TRUNC | MSG_DONTWAIT);
		connection.over = !got || (got < 0 && !would_block());
		if (got <= 0)
			return;
		connection.request_bytes += static_cast<std::size_t>(got);
		if (connection.request_bytes < kRequestBytes)
			return;
		connection.request_bytes = 0;
		connection.answer_bytes = kAnswerBytes;
	}
	ssize_t sent = send(fd, nothing.data(), connection.answer_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	connection.over = sent < 0 && !would_block();
	if (sent > 0)
		connection.answer_bytes -= static_cast<std::size_t>(sent);
}

void Sessions::give_up_silent(Clock::time_point now)
{
	for (ClientConnection &connection : connections_)
		if (connection.role == ClientConnection::Role::greeting && now - connection.since > kGreetingPatience)
			connection.over = true;
	if (!token_.empty() && now - last_ > kSessionPatience)
		end_session();
	sweep();
}

void Sessions::end_session()
{
	for (ClientConnection &connection : connections_)
		connection.over = connection.over || connection.role != ClientConnection::Role::greeting;
	token_.clear();
	std::cout << host_ << " is done" << std::endl;
	host_.clear();
}

void Sessions::sweep()
{
	for (ClientConnection &connection : connections_) {
		if (connection.over && connection.role == ClientConnection::Role::open && !token_.empty()) {
			end_session();
			break;
		}
	}
	connections_.remove_if([](const ClientConnection &connection) { return connection.over; });
}

}  // namespace turnpike
