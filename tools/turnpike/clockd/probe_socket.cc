// SPDX-License-Identifier: GPL-2.0
#include "probe_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../command.h"

namespace turnpike {
namespace {

constexpr int kBatch = 64;
// Of one look: who floods us is not answered by a loop without end.
constexpr int kBatchesMost = 64;
// A datagram with its headers, as the error queue gives it back.
constexpr std::size_t kMostBytes = clockd_wire::kMostBytes + 128;

[[noreturn]] void fail(const char *what)
{
	throw Error(std::string(what) + ": " + std::strerror(errno));
}

sockaddr_in6 socket_address(const OnrampAddress &address, std::uint16_t port)
{
	sockaddr_in6 to = {};

	to.sin6_family = AF_INET6;
	to.sin6_port = htons(port);
	std::memcpy(&to.sin6_addr, address.data(), address.size());
	return to;
}

OnrampAddress address_of(const sockaddr_in6 &from)
{
	OnrampAddress address;

	std::memcpy(address.data(), &from.sin6_addr, address.size());
	return address;
}

// IPv4 is mapped into IPv6: one socket for both.
int udp_socket()
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), no = 0;

	if (fd < 0)
		fail("socket");
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	return fd;
}


// 0: there is none.
std::int64_t stamp_of(msghdr &message, bool hardware)
{
	for (cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		scm_timestamping stamps;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPING ||
		    c->cmsg_len < CMSG_LEN(sizeof(stamps)))
			continue;
		std::memcpy(&stamps, CMSG_DATA(c), sizeof(stamps));
		const auto &stamp = stamps.ts[hardware ? 2 : 0];
		return stamp.tv_sec * std::int64_t(1000000000) + stamp.tv_nsec;
	}
	return 0;
}

// Buffers of one batch.
class Batch {
public:
	Batch()
	{
		for (int i = 0; i < kBatch; i++) {
			parts_[i] = {bytes_[i].data(), kMostBytes};
			messages_[i].msg_hdr = {&from_[i],          sizeof(from_[i]),   &parts_[i], 1,
						control_[i].data(), control_[i].size(), 0};
		}
	}

	// How many came.
	int receive(int fd, int flags)
	{
		for (int i = 0; i < kBatch; i++) {
			messages_[i].msg_hdr.msg_namelen = sizeof(from_[i]);
			messages_[i].msg_hdr.msg_controllen = control_[i].size();
		}
		return recvmmsg(fd, messages_.data(), kBatch, flags | MSG_DONTWAIT, nullptr);
	}

	const std::uint8_t *bytes(int i) const { return bytes_[i].data(); }
	std::size_t length(int i) const { return messages_[i].msg_len; }
	OnrampAddress from(int i) const { return address_of(from_[i]); }
	std::int64_t stamp(int i, bool hardware) { return stamp_of(messages_[i].msg_hdr, hardware); }

private:
	std::array<std::array<std::uint8_t, kMostBytes>, kBatch> bytes_;
	// stamps, and what the error queue says besides
	alignas(cmsghdr) std::array<std::array<std::uint8_t, 256>, kBatch> control_;
	std::array<sockaddr_in6, kBatch> from_;
	std::array<iovec, kBatch> parts_;
	std::array<mmsghdr, kBatch> messages_ = {};
};

}  // namespace

ProbeSocket::ProbeSocket(std::uint16_t port, bool hardware) : file_(udp_socket()), port_(port), hardware_(hardware)
{
	sockaddr_in6 any = socket_address({}, port);
	int flags =
		hardware ? SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE
			 : SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;

	if (bind(file_.fd(), reinterpret_cast<sockaddr *>(&any), sizeof(any)))
		fail(("UDP port " + std::to_string(port)).c_str());
	if (setsockopt(file_.fd(), SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		fail("SO_TIMESTAMPING");
}

void ProbeSocket::send(const std::vector<ClockdDatagram> &datagrams)
{
	std::vector<sockaddr_in6> to(datagrams.size());
	std::vector<iovec> parts(datagrams.size());
	std::vector<mmsghdr> messages(datagrams.size());

	for (std::size_t i = 0; i < datagrams.size(); i++) {
		to[i] = socket_address(datagrams[i].to, port_);
		parts[i] = {const_cast<std::uint8_t *>(datagrams[i].bytes.data()), datagrams[i].bytes.size()};
		messages[i].msg_hdr = {&to[i], sizeof(to[i]), &parts[i], 1, nullptr, 0, 0};
	}
	// one that fails ends the batch: the others go on behind it
	for (std::size_t i = 0; i < messages.size();) {
		int sent = sendmmsg(file_.fd(), &messages[i], messages.size() - i, MSG_DONTWAIT);
		i += sent > 0 ? sent : 1;
	}
}

void ProbeSocket::receive(const Came &came)
{
	static Batch batch;

	for (int batches = 0; batches < kBatchesMost; batches++) {
		int count = batch.receive(file_.fd(), 0);
		for (int i = 0; i < count; i++) {
			std::int64_t ns = batch.stamp(i, hardware_);
			without_stamp_ += !ns;
			if (ns)
				came(batch.from(i), batch.bytes(i), batch.length(i), ns);
		}
		// errors of unreachable peers come here, too, one at a time
		if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (count >= 0 && count < kBatch)
			return;
	}
}

void ProbeSocket::stamps(const Left &left)
{
	static Batch batch;

	for (int batches = 0; batches < kBatchesMost; batches++) {
		int count = batch.receive(file_.fd(), MSG_ERRQUEUE);
		for (int i = 0; i < count; i++) {
			std::int64_t ns = batch.stamp(i, hardware_);
			// a probe is at the end, behind the headers of all layers
			const std::uint8_t *probe = batch.bytes(i) + batch.length(i) - kProbeBytes;
			if (ns && batch.length(i) >= kProbeBytes &&
			    clockd_wire::has_head(probe, kProbeBytes, clockd_wire::DatagramKind::probe))
				left(probe, ns);
		}
		if (count < kBatch)
			return;
	}
}

OnrampAddress address_towards(const OnrampAddress &to)
{
	File file(udp_socket());
	sockaddr_in6 there = socket_address(to, 1), here = {};
	socklen_t length = sizeof(here);

	if (connect(file.fd(), reinterpret_cast<sockaddr *>(&there), sizeof(there)) ||
	    getsockname(file.fd(), reinterpret_cast<sockaddr *>(&here), &length))
		fail(("to " + onramp_address_text(to.data())).c_str());
	return address_of(here);
}

bool is_own_address(const OnrampAddress &address)
{
	File file(udp_socket());
	sockaddr_in6 here = socket_address(address, 0);

	return !bind(file.fd(), reinterpret_cast<sockaddr *>(&here), sizeof(here));
}

}  // namespace turnpike
