// SPDX-License-Identifier: GPL-2.0
//
// A TCP connection with both its ends in this process.
//
//     end 0 (connects)                            end 1 (accepted)
//     send() ---> socket ---- network ---> socket ---> expected bytes counted, owner told
//                 (and the same in the other direction)
//
// Because one process sees both ends, a message needs no header: the receiving end is told how
// many bytes to wait for when they are written, sleeps on SO_RCVLOWAT until they are there, and
// discards them with one recv(MSG_TRUNC). Nothing the network brings is interpreted.
#pragma once

#include "net.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace vload
{

class Stream;

class StreamOwner {
public:
	virtual ~StreamOwner() = default;
	// Both ends are connected.
	virtual void stream_up(Stream &) {}
	// The message sent with this cookie has been read to its last byte by the given end.
	virtual void stream_message(Stream &stream, int end, uint64_t cookie) = 0;
	// The connection is at its end and will be closed on return: error is an errno (broken by the
	// network or the kernel), 0: end of file.
	virtual void stream_ended(Stream &stream, int error) = 0;
};

class StreamEnd : public Handler {
public:
	StreamEnd(Stream &stream, int side) : stream_(stream), side_(side) {}

	void on_events(uint32_t events) override;
	int fd() const { return fd_; }
	bool is_up() const { return fd_ >= 0 && !connecting_; }
	uint64_t unsent_bytes() const { return unsent_bytes_; }
	uint64_t read_bytes() const { return read_bytes_; }

private:
	friend class Stream;
	struct Mark {
		uint64_t at_bytes;
		uint64_t cookie;
	};

	void attach(int fd, bool connecting);
	void expect(uint64_t bytes, uint64_t cookie);
	void send(uint64_t bytes);
	void flush();
	void read(bool to_end);
	bool pass_marks();
	void update_lowat();
	void set_lowat(int bytes);
	void detach(bool abort);

	Stream &stream_;
	int side_;
	int fd_ = -1;
	bool connecting_ = false;
	bool paused_ = false;
	bool readable_ = false;
	bool writable_ = false;
	bool endless_ = false; // a sink without messages
	bool bulk_window_ = false;
	// Changes when the socket does: a callback may close the stream, and even open it again.
	uint32_t generation_ = 0;
	int lowat_bytes_ = 1;
	uint64_t unsent_bytes_ = 0;
	uint64_t read_bytes_ = 0;
	uint64_t expected_bytes_ = 0;
	std::deque<Mark> marks_;
};

class Connector;

class Stream {
public:
	static constexpr uint64_t ENDLESS = UINT64_MAX;

	Stream(Connector &connector, StreamOwner &owner, HostIndex from, HostIndex to);

	// May throw RuntimeError; a failure of the connection itself is told to the owner.
	void open();
	// The other end will say stream_message(cookie).
	void send(int from_end, uint64_t bytes, uint64_t cookie);
	// The other end just swallows it. bytes may be ENDLESS. Not to be mixed with send().
	void send_unframed(int from_end, uint64_t bytes);
	void pause_reading(int end);
	void resume_reading(int end);
	// What the kernel has from this end is still sent; then the owner hears stream_ended(0).
	void finish_sending(int end);
	// For a stream all of whose messages have arrived
	void close();
	// What is queued is thrown away and the peer reset.
	void abort();

	bool is_open() const { return ends_[0].fd_ >= 0; }
	bool is_up() const { return ends_[0].is_up() && ends_[1].is_up(); }
	const StreamEnd &end(int side) const { return ends_[side]; }
	HostIndex host(int side) const { return side ? to_ : from_; }
	uint16_t port(int side) const { return (side ? remote_ : local_).port(); }
	// For the owner's use
	size_t tag = 0;

private:
	friend class StreamEnd;
	friend class Connector;

	void accepted(int fd);
	void end_up();
	void ended(int error);
	void detach(bool abort);

	Connector &connector_;
	StreamOwner &owner_;
	HostIndex from_;
	HostIndex to_;
	SockAddr local_{};
	SockAddr remote_{};
	StreamEnd ends_[2];
};

// The listening sockets of one load and the connections on their way to them
class Connector {
public:
	Connector(Network &network, Loop &loop, const SocketConfig &config)
		: network_(network), loop_(loop), config_(config) {}

	void listen(HostIndex host);
	Loop &loop() { return loop_; }

private:
	friend class Stream;
	friend class StreamEnd;
	class Listener : public Handler {
	public:
		Listener(Connector &connector, int fd, const SockAddr &local)
			: local(local), connector_(connector), fd_(fd) {}
		~Listener() override;
		void on_events(uint32_t events) override;

		const SockAddr local;

	private:
		Connector &connector_;
		int fd_;
	};

	Network &network_;
	Loop &loop_;
	const SocketConfig &config_;
	std::map<HostIndex, std::unique_ptr<Listener>> listeners_;
	// by the connecting end's address
	std::map<SockAddr, Stream *> waiting_;
};

} // namespace vload
