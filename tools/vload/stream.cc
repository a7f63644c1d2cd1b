// SPDX-License-Identifier: GPL-2.0
#include "stream.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace vload
{

// One system call moves this much when the socket has room.
constexpr uint64_t WRITE_BYTES = 1 << 20;
// More than any receive queue holds
constexpr size_t DISCARD_BYTES = 64 << 20;
// A sink is woken for this much at a time. Its window must be several times as large, or the
// sender would run dry while the sink waits to be woken: asking for BULK_WINDOW_BYTES once makes the
// kernel provide it (tcp_set_rcvlowat() raises the buffer), and a lower mark later keeps it.
constexpr int BULK_LOWAT_BYTES = 512 << 10;
constexpr int BULK_WINDOW_BYTES = 2 << 20;
// Raising the mark for a smaller gain than this costs more system calls than it saves.
constexpr int LOWAT_GAIN = 4;
constexpr int LOWAT_MIN_BYTES = 2896;

// Below this copying is cheaper than sendfile().
constexpr uint64_t SENDFILE_MIN_BYTES = 16 << 10;

static std::array<char, WRITE_BYTES> write_buffer;

// sendfile() from a file in memory puts the same pages into all packets: nothing is allocated and
// copied for the data, which in User Mode Linux saves a third of the time of a bulk transfer.
static int make_write_file()
{
	int fd = memfd_create("vload", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, write_buffer.data(), WRITE_BYTES) != static_cast<ssize_t>(WRITE_BYTES)) {
		::close(fd);
		fd = -1;
	}
	return fd;
}

static ssize_t write_some(int fd, size_t bytes)
{
	static const int write_file = make_write_file();
	off_t offset = 0;

	if (bytes >= SENDFILE_MIN_BYTES && write_file >= 0)
		return sendfile(fd, write_file, &offset, bytes);
	return ::send(fd, write_buffer.data(), bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// TCP discards with MSG_TRUNC (tcp(7)) and touches no buffer. The library's recv() wants one of the
// full size all the same, at least with a sanitizer.
static ssize_t discard_some(int fd)
{
	return syscall(SYS_recvfrom, fd, nullptr, DISCARD_BYTES, MSG_TRUNC | MSG_DONTWAIT, nullptr, nullptr);
}

void StreamEnd::attach(int fd, bool connecting)
{
	fd_ = fd;
	connecting_ = connecting;
	writable_ = false;
	lowat_bytes_ = 1;
	bulk_window_ = false;
	generation_++;
	stream_.connector_.loop().watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this);
	update_lowat();
}

void StreamEnd::detach(bool abort)
{
	linger immediately = {1, 0};

	if (fd_ >= 0) {
		if (abort)
			setsockopt(fd_, SOL_SOCKET, SO_LINGER, &immediately, sizeof(immediately));
		::close(fd_);
	}
	fd_ = -1;
	generation_++;
	connecting_ = paused_ = writable_ = endless_ = false;
	unsent_bytes_ = read_bytes_ = expected_bytes_ = 0;
	marks_.clear();
}

void StreamEnd::on_events(uint32_t events)
{
	uint32_t generation = generation_;

	// Closed by a handler earlier in this batch
	if (fd_ < 0)
		return;
	if (events & EPOLLERR) {
		int error = 0;
		socklen_t size = sizeof(error);
		getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error)
			return stream_.ended(error);
	}
	if (connecting_) {
		if (!(events & EPOLLOUT))
			return;
		connecting_ = false;
		stream_.end_up();
		if (generation != generation_)
			return;
	}
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) {
		if (!paused_)
			read(events & (EPOLLRDHUP | EPOLLHUP));
		if (generation != generation_)
			return;
	}
	if (events & EPOLLOUT) {
		writable_ = true;
		flush();
	}
}

void StreamEnd::flush()
{
	while (unsent_bytes_ && writable_ && is_up()) {
		size_t want = std::min(unsent_bytes_, WRITE_BYTES);
		ssize_t sent = write_some(fd_, want);
		if (sent < 0) {
			if (errno == EINTR)
				continue;
			writable_ = false;
			// A broken connection comes as an event too; it is handled there.
			return;
		}
		if (unsent_bytes_ != Stream::ENDLESS)
			unsent_bytes_ -= static_cast<uint64_t>(sent);
		// The kernel has noted that somebody waits for room: the edge will come.
		if (static_cast<size_t>(sent) < want)
			writable_ = false;
	}
}

void StreamEnd::read(bool to_end)
{
	uint32_t generation = generation_;

	do {
		ssize_t count = discard_some(fd_);
		if (count == 0)
			return stream_.ended(0);
		if (count < 0) {
			if (errno == EAGAIN)
				break;
			if (errno == EINTR)
				continue;
			return stream_.ended(errno);
		}
		read_bytes_ += static_cast<uint64_t>(count);
		if (!pass_marks())
			return;
	} while (to_end);
	if (generation == generation_)
		update_lowat();
}

// false: the socket is not the one it was
bool StreamEnd::pass_marks()
{
	uint32_t generation = generation_;

	while (!marks_.empty() && read_bytes_ >= marks_.front().at_bytes) {
		uint64_t cookie = marks_.front().cookie;
		marks_.pop_front();
		stream_.owner_.stream_message(stream_, side_, cookie);
		if (generation != generation_)
			return false;
	}
	return true;
}

void StreamEnd::expect(uint64_t bytes, uint64_t cookie)
{
	expected_bytes_ += bytes;
	marks_.push_back({expected_bytes_, cookie});
	update_lowat();
}

void StreamEnd::send(uint64_t bytes)
{
	unsent_bytes_ = bytes == Stream::ENDLESS ? bytes : unsent_bytes_ + bytes;
	flush();
}

void StreamEnd::set_lowat(int bytes)
{
	setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
	lowat_bytes_ = bytes;
}

void StreamEnd::update_lowat()
{
	const auto &rcvbuf_bytes = stream_.connector_.config_.rcvbuf_bytes;
	int limit = BULK_LOWAT_BYTES;
	int want;

	if (!is_up() || (marks_.empty() && !endless_))
		return;
	// A buffer of fixed size must have room left when the reader is woken.
	if (rcvbuf_bytes)
		limit = std::clamp(*rcvbuf_bytes / 2, 1, limit);
	want = limit;
	if (!marks_.empty())
		want = static_cast<int>(std::min<uint64_t>(marks_.front().at_bytes - read_bytes_, want));
	if (want >= lowat_bytes_ && (want < LOWAT_MIN_BYTES || want < LOWAT_GAIN * lowat_bytes_))
		return;
	if (want == BULK_LOWAT_BYTES && !bulk_window_ && !rcvbuf_bytes) {
		bulk_window_ = true;
		set_lowat(BULK_WINDOW_BYTES);
	}
	set_lowat(want);
}

Stream::Stream(Connector &connector, StreamOwner &owner, HostIndex from, HostIndex to)
	: connector_(connector), owner_(owner), from_(from), to_(to), ends_{{*this, 0}, {*this, 1}}
{
}

void Stream::open()
{
	int fd = connector_.network_.bind_socket(from_, SOCK_STREAM, connector_.config_, local_);

	remote_ = connector_.listeners_.at(to_)->local;
	connector_.waiting_[local_] = this;
	if (connect(fd, &remote_.any, remote_.size()) < 0 && errno != EINPROGRESS) {
		int error = errno;
		::close(fd);
		ended(error);
		return;
	}
	ends_[0].attach(fd, true);
}

void Stream::accepted(int fd)
{
	ends_[1].attach(fd, false);
	end_up();
}

void Stream::end_up()
{
	if (is_up())
		owner_.stream_up(*this);
}

void Stream::send(int from_end, uint64_t bytes, uint64_t cookie)
{
	ends_[1 - from_end].expect(bytes, cookie);
	ends_[from_end].send(bytes);
}

void Stream::send_unframed(int from_end, uint64_t bytes)
{
	StreamEnd &sink = ends_[1 - from_end];

	if (!sink.endless_) {
		sink.endless_ = true;
		sink.update_lowat();
	}
	ends_[from_end].send(bytes);
}

void Stream::pause_reading(int end)
{
	ends_[end].paused_ = true;
}

void Stream::resume_reading(int end)
{
	ends_[end].paused_ = false;
	if (ends_[end].is_up())
		ends_[end].read(true);
}

void Stream::finish_sending(int end)
{
	ends_[end].unsent_bytes_ = 0;
	if (ends_[end].is_up())
		shutdown(ends_[end].fd(), SHUT_WR);
	else
		abort();
}

void Stream::ended(int error)
{
	owner_.stream_ended(*this, error);
	detach(false);
}

void Stream::detach(bool abort)
{
	auto waiting = connector_.waiting_.find(local_);

	if (waiting != connector_.waiting_.end() && waiting->second == this)
		connector_.waiting_.erase(waiting);
	for (StreamEnd &end : ends_)
		end.detach(abort);
}

void Stream::close()
{
	detach(false);
}

void Stream::abort()
{
	detach(true);
}

void Connector::listen(HostIndex host)
{
	SockAddr local;

	if (listeners_.contains(host))
		return;
	int fd = network_.listen_tcp(host, config_, local);
	auto listener = std::make_unique<Listener>(*this, fd, local);
	loop_.watch(fd, EPOLLIN, *listener);
	listeners_[host] = std::move(listener);
}

Connector::Listener::~Listener()
{
	::close(fd_);
}

// One at a time: the listener is level triggered, and mostly there is no second.
void Connector::Listener::on_events(uint32_t)
{
	SockAddr peer;
	socklen_t size = sizeof(peer);
	int fd = accept4(fd_, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	auto waiting = connector_.waiting_.find(peer);
	if (waiting == connector_.waiting_.end()) {
		// Not one of ours, or given up meanwhile
		::close(fd);
		return;
	}
	Stream &stream = *waiting->second;
	connector_.waiting_.erase(waiting);
	stream.accepted(fd);
}

} // namespace vload
