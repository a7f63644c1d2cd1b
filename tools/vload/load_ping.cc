// SPDX-License-Identifier: GPL-2.0
//
// UDP probes. The server, in this process too, sends each probe back, so that both the round trip
// and the way there are known on one clock. With `poisson' and without `reply' it is an open-loop
// source of packets, for which queueing theory has closed forms.
#include "load.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

namespace vload
{

namespace
{

constexpr unsigned int BATCH = 32;

// All that a probe carries; the rest is zeros. One that comes in is believed only when it names a
// probe that is under way, and comes from where that one was sent.
struct ProbeHeader {
	uint32_t pinger;
	uint32_t sequence_high;
	uint32_t sequence_low;

	uint64_t sequence() const { return static_cast<uint64_t>(sequence_high) << 32 | sequence_low; }
};

// A UDP socket, and the probes of one wake-up at a time
class ProbeSocket : public Handler {
public:
	struct Probe {
		ProbeHeader header;
		SockAddr from;
		size_t bytes;
	};
	using Receiver = std::function<bool(const Probe &)>; // true: send it back

	ProbeSocket(Network &network, Loop &loop, HostIndex host, const SocketConfig &config, Receiver receiver);
	~ProbeSocket() override { close(); }

	void connect_to(const SockAddr &peer);
	bool send(const ProbeHeader &header, size_t bytes);
	void close();
	const SockAddr &local() const { return local_; }
	void on_events(uint32_t events) override;

private:
	void send_back(unsigned int count);

	// Before fd_, whose making fills it in
	SockAddr local_{};
	int fd_;
	Receiver receiver_;
	std::array<Probe, BATCH> probes_;
	std::array<iovec, 2 * BATCH> parts_;
	std::array<mmsghdr, BATCH> messages_;
};

std::array<char, 1 << 16> zeros;

ProbeSocket::ProbeSocket(Network &network, Loop &loop, HostIndex host, const SocketConfig &config,
			 Receiver receiver)
	: fd_(network.bind_socket(host, SOCK_DGRAM, config, local_)), receiver_(std::move(receiver))
{
	loop.watch(fd_, EPOLLIN | EPOLLET, *this);
}

void ProbeSocket::connect_to(const SockAddr &peer)
{
	if (connect(fd_, &peer.any, peer.size()) < 0)
		throw RuntimeError::from_errno("connect");
}

void ProbeSocket::close()
{
	if (fd_ >= 0)
		::close(fd_);
	fd_ = -1;
}

bool ProbeSocket::send(const ProbeHeader &header, size_t bytes)
{
	iovec parts[2] = {{const_cast<ProbeHeader *>(&header), sizeof(header)},
			  {zeros.data(), bytes - sizeof(header)}};
	msghdr message{};

	message.msg_iov = parts;
	message.msg_iovlen = 2;
	return sendmsg(fd_, &message, MSG_DONTWAIT) == static_cast<ssize_t>(bytes);
}

void ProbeSocket::on_events(uint32_t)
{
	int count;

	do {
		if (fd_ < 0)
			return;
		for (unsigned int i = 0; i < BATCH; i++) {
			parts_[2 * i] = {&probes_[i].header, sizeof(ProbeHeader)};
			messages_[i] = {};
			messages_[i].msg_hdr.msg_iov = &parts_[2 * i];
			messages_[i].msg_hdr.msg_iovlen = 1;
			messages_[i].msg_hdr.msg_name = &probes_[i].from;
			messages_[i].msg_hdr.msg_namelen = sizeof(SockAddr);
		}
		// MSG_TRUNC: the length is the datagram's
		count = recvmmsg(fd_, messages_.data(), BATCH, MSG_DONTWAIT | MSG_TRUNC, nullptr);
		unsigned int replies = 0;
		for (int i = 0; i < count; i++) {
			probes_[i].bytes = messages_[i].msg_len;
			if (probes_[i].bytes < sizeof(ProbeHeader) || !receiver_(probes_[i]))
				continue;
			probes_[replies++] = probes_[i];
		}
		send_back(replies);
	} while (count == static_cast<int>(BATCH));
}

void ProbeSocket::send_back(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		parts_[2 * i] = {&probes_[i].header, sizeof(ProbeHeader)};
		parts_[2 * i + 1] = {zeros.data(), probes_[i].bytes - sizeof(ProbeHeader)};
		messages_[i] = {};
		messages_[i].msg_hdr.msg_iov = &parts_[2 * i];
		messages_[i].msg_hdr.msg_iovlen = 2;
		messages_[i].msg_hdr.msg_name = &probes_[i].from;
		messages_[i].msg_hdr.msg_namelen = probes_[i].from.size();
	}
	// What the socket does not take is lost, as on any network.
	if (count)
		sendmmsg(fd_, messages_.data(), count, MSG_DONTWAIT);
}

class PingLoad : public Load {
public:
	PingLoad(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
		: Load(config, network, loop, rng), ping_(std::get<PingConfig>(config.kind)) {}

	void prepare() override;
	void start(const Window &window) override;
	void shut_down() override;

private:
	struct Pinger {
		HostPair pair;
		std::unique_ptr<ProbeSocket> socket;
		std::vector<size_t> slots; // of the messages, by sequence number
		uint64_t measured = 0;
		std::vector<double> rtt_us;
	};
	static constexpr size_t DONE = SIZE_MAX;

	void add_pinger(const HostPair &pair);
	ProbeSocket &server(HostIndex host);
	bool reached_server(HostIndex host, const ProbeSocket::Probe &probe);
	bool came_back(size_t index, const ProbeSocket::Probe &probe);
	// The slot of the message of a probe under way, or DONE
	size_t *find(const ProbeSocket::Probe &probe);
	void send_probe(size_t index);

	void stream_message(Stream &, int, uint64_t) override {}
	Json flows_json() override;

	const PingConfig &ping_;
	std::vector<Pinger> pingers_;
	std::map<HostIndex, std::unique_ptr<ProbeSocket>> servers_;
};

void PingLoad::prepare()
{
	for (const HostPair &pair : ping_.pairs)
		for (uint32_t i = 0; i < ping_.per_pair; i++)
			add_pinger(pair);
}

void PingLoad::add_pinger(const HostPair &pair)
{
	size_t index = pingers_.size();
	auto receiver = [this, index](const ProbeSocket::Probe &probe) { return came_back(index, probe); };
	Pinger pinger;

	pinger.pair = pair;
	pinger.socket =
		std::make_unique<ProbeSocket>(network_, loop_, pair.first, config_.socket, std::move(receiver));
	pinger.socket->connect_to(server(pair.second).local());
	pingers_.push_back(std::move(pinger));
}

ProbeSocket &PingLoad::server(HostIndex host)
{
	auto &server = servers_[host];

	if (!server)
		server = std::make_unique<ProbeSocket>(network_, loop_, host, config_.socket,
						       [this, host](const ProbeSocket::Probe &probe) {
							       return reached_server(host, probe);
						       });
	return *server;
}

void PingLoad::start(const Window &window)
{
	double interval_ns = static_cast<double>(ping_.interval_ns);
	auto gap = [this, interval_ns] {
		return ping_.poisson ? std::llround(rng_.exponential(interval_ns)) : ping_.interval_ns;
	};

	Load::start(window);
	// Pingers of one interval must not all fire at the same instant.
	for (size_t i = 0; i < pingers_.size(); i++) {
		int64_t phase_ns = ping_.poisson ? gap() : static_cast<int64_t>(interval_ns * rng_.uniform());
		repeat(config_.start_ns + phase_ns, gap, [this, i](int64_t) { send_probe(i); });
	}
}

void PingLoad::send_probe(size_t index)
{
	Pinger &pinger = pingers_[index];
	uint64_t sequence = pinger.slots.size();
	ProbeHeader header{static_cast<uint32_t>(index), static_cast<uint32_t>(sequence >> 32),
			   static_cast<uint32_t>(sequence)};
	size_t slot = message_begin(nullptr, ping_.bytes, loop_.now_ns(), index);

	pinger.slots.push_back(slot);
	pinger.measured += message(slot).in_window;
	if (!pinger.socket->send(header, ping_.bytes)) {
		lost_messages_ += message_end(slot).in_window;
		pinger.slots.back() = DONE;
	}
}

size_t *PingLoad::find(const ProbeSocket::Probe &probe)
{
	uint64_t sequence = probe.header.sequence();

	if (probe.header.pinger >= pingers_.size() || probe.bytes != ping_.bytes)
		return nullptr;
	Pinger &pinger = pingers_[probe.header.pinger];
	if (sequence >= pinger.slots.size() || pinger.slots[sequence] == DONE)
		return nullptr;
	return &pinger.slots[sequence];
}

bool PingLoad::reached_server(HostIndex host, const ProbeSocket::Probe &probe)
{
	size_t *slot = find(probe);

	if (!slot)
		return false;
	const Pinger &pinger = pingers_[probe.header.pinger];
	const SockAddr &sent_from = pinger.socket->local();
	bool is_ours = pinger.pair.second == host && !(sent_from < probe.from) && !(probe.from < sent_from);
	// A second copy of a probe is not sent back.
	if (!is_ours || message(*slot).response_ns)
		return false;
	message(*slot).response_ns = loop_.now_ns();
	if (message(*slot).in_window)
		owd_us_.push_back(static_cast<double>(loop_.now_ns() - message(*slot).start_ns) / 1e3);
	if (ping_.reply)
		return true;
	message_end(*slot);
	*slot = DONE;
	return false;
}

bool PingLoad::came_back(size_t index, const ProbeSocket::Probe &probe)
{
	size_t *slot = find(probe);

	if (!slot || probe.header.pinger != index)
		return false;
	Message done = message_end(*slot);
	*slot = DONE;
	if (done.in_window) {
		rtt_us_.push_back(static_cast<double>(loop_.now_ns() - done.start_ns) / 1e3);
		pingers_[index].rtt_us.push_back(rtt_us_.back());
	}
	return false;
}

void PingLoad::shut_down()
{
	for (Pinger &pinger : pingers_)
		pinger.socket->close();
	for (auto &server : servers_)
		server.second->close();
}

Json PingLoad::flows_json()
{
	Json flows = Json::array();

	for (const Pinger &pinger : pingers_)
		flows.push_back({{"from", network_.host_name(pinger.pair.first)},
				 {"to", network_.host_name(pinger.pair.second)},
				 {"port", pinger.socket->local().port()},
				 {"sent", pinger.measured},
				 {"rtt_us", summary_json(pinger.rtt_us)}});
	return flows;
}

} // namespace

std::unique_ptr<Load> make_ping_load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	return std::make_unique<PingLoad>(config, network, loop, rng);
}

} // namespace vload
