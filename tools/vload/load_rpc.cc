// SPDX-License-Identifier: GPL-2.0
//
// Request and response. Closed loop: each connection keeps `outstanding' requests under way. Open
// loop: requests come every interval_us (exponential gaps with `poisson'), and one that finds
// `outstanding' under way waits its turn; its time counts from when it was due.
#include "load.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace vload
{

namespace
{

constexpr int64_t RETRY_NS = NS_PER_SEC / 1000;

class RpcLoad : public Load {
public:
	RpcLoad(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
		: Load(config, network, loop, rng), rpc_(std::get<RpcConfig>(config.kind)) {}

	void prepare() override;
	void start(const Window &window) override;

private:
	struct Client {
		uint32_t under_way = 0;
		std::deque<int64_t> waiting_since_ns;
		uint64_t most_waiting = 0;
	};

	void start_client(size_t index, int64_t start_ns);
	void request(size_t index, int64_t due_ns);
	void send_request(size_t index, int64_t due_ns);
	void request_done(size_t index);

	void stream_message(Stream &stream, int end, uint64_t cookie) override;
	void message_failed(const Message &message) override;
	void add_details(Json &json) override;

	const RpcConfig &rpc_;
	std::vector<Client> clients_;
};

void RpcLoad::prepare()
{
	for (const HostPair &pair : rpc_.pairs)
		for (uint32_t i = 0; i < rpc_.per_pair; i++)
			add_stream(pair.first, pair.second, 1);
	clients_.resize(stream_count());
	for (size_t i = 0; i < clients_.size(); i++)
		connect_early(stream(i));
}

void RpcLoad::start(const Window &window)
{
	Load::start(window);
	for (size_t i = 0; i < clients_.size(); i++) {
		double spread = static_cast<double>(rpc_.spread_ns) * rng_.uniform();
		start_client(i, config_.start_ns + static_cast<int64_t>(spread));
	}
}

void RpcLoad::start_client(size_t index, int64_t start_ns)
{
	if (!rpc_.interval_ns) {
		at(start_ns, [this, index] {
			for (uint32_t i = 0; i < rpc_.outstanding; i++)
				send_request(index, loop_.now_ns());
		});
		return;
	}
	auto gap = [this] {
		return rpc_.poisson ?
			       std::llround(rng_.exponential(static_cast<double>(rpc_.interval_ns))) :
			       rpc_.interval_ns;
	};
	// A Poisson process has no request at its start.
	repeat(start_ns + (rpc_.poisson ? gap() : 0), gap,
	       [this, index](int64_t due_ns) { request(index, due_ns); });
}

void RpcLoad::request(size_t index, int64_t due_ns)
{
	Client &client = clients_[index];

	if (!rpc_.outstanding || client.under_way < rpc_.outstanding) {
		send_request(index, due_ns);
		return;
	}
	client.waiting_since_ns.push_back(due_ns);
	client.most_waiting = std::max<uint64_t>(client.most_waiting, client.waiting_since_ns.size());
}

// Cookies are slots of messages; the lowest bit tells a request from a response.
void RpcLoad::send_request(size_t index, int64_t due_ns)
{
	if (!rpc_.interval_ns && is_over())
		return;
	clients_[index].under_way++;
	size_t slot = message_begin(&stream(index), rpc_.response_bytes, due_ns, index);
	transmit(slot, 0, rpc_.request_bytes, slot << 1 | 1);
}

void RpcLoad::stream_message(Stream &stream, int end, uint64_t cookie)
{
	if (cookie & 1) {
		message(cookie >> 1).response_ns = loop_.now_ns();
		stream.send(end, rpc_.response_bytes, cookie & ~1ULL);
		return;
	}
	Message done = message_end(cookie >> 1);
	note_fct(done, done.response_ns);
	note_rct(done.start_ns);
	request_done(done.group);
}

void RpcLoad::request_done(size_t index)
{
	Client &client = clients_[index];

	client.under_way--;
	if (!rpc_.interval_ns) {
		send_request(index, loop_.now_ns());
	} else if (!client.waiting_since_ns.empty()) {
		int64_t due_ns = client.waiting_since_ns.front();
		client.waiting_since_ns.pop_front();
		send_request(index, due_ns);
	}
}

void RpcLoad::message_failed(const Message &message)
{
	loop_.at(loop_.now_ns() + RETRY_NS, [this, index = message.group] { request_done(index); });
}

void RpcLoad::add_details(Json &json)
{
	uint64_t most = 0;

	for (const Client &client : clients_)
		most = std::max(most, client.most_waiting);
	json["most_waiting"] = most;
}

} // namespace

std::unique_ptr<Load> make_rpc_load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	return std::make_unique<RpcLoad>(config, network, loop, rng);
}

} // namespace vload
