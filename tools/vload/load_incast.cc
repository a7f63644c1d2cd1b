// SPDX-License-Identifier: GPL-2.0
//
// Incast: in every round `fanout' flows of `bytes' each start for one client at once, from the
// servers in turn. Every client has rounds of its own. With request_bytes the client asks for them over the network; without, the
// servers start by the clock, which is the hardest case.
#include "load.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vload
{

namespace
{

// A round that failed must not be followed by the next in no time at all.
constexpr int64_t RETRY_NS = NS_PER_SEC / 1000;

class IncastLoad : public Load {
public:
	IncastLoad(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
		: Load(config, network, loop, rng), incast_(std::get<IncastConfig>(config.kind)) {}

	void prepare() override;
	void start(const Window &window) override;

private:
	struct Client {
		HostIndex host = 0;
		std::vector<HostIndex> servers;
		// A flow's position says which server sends it, and with persistent connections over which.
		std::vector<size_t> positions;
		std::vector<Stream *> open_flows;
		// New connections each round: by server, closed and ready to be opened again
		std::vector<std::vector<Stream *>> closed_flows;
		uint64_t unfinished_rounds = 0;
		uint64_t rounds = 0;
	};
	struct Round {
		Client *client = nullptr;
		int64_t start_ns = 0;
		uint32_t missing = 0;
		bool failed = false;
	};

	void add_client(HostIndex host);
	Stream &add_flow(Client &client, size_t position);
	Stream &take_flow(Client &client, size_t position);
	void put_back(Stream &flow);
	void start_client(Client &client);
	void begin_round(Client &client, int64_t start_ns);
	void begin_flow(size_t position, size_t round);
	void flow_done(size_t round);

	void stream_message(Stream &stream, int end, uint64_t cookie) override;
	void message_failed(const Message &message) override;
	void add_details(Json &json) override;

	const IncastConfig &incast_;
	std::vector<Client> clients_; // not moved once there are flows
	std::vector<std::pair<Client *, size_t>> owner_of_flow_; // by tag: client, server
	std::vector<Round> rounds_;
	uint64_t overlapping_rounds_ = 0;
};

Stream &IncastLoad::add_flow(Client &client, size_t position)
{
	size_t server = position % client.servers.size();
	HostIndex host = client.servers[server];

	// Who speaks first connects.
	Stream &flow =
		incast_.request_bytes ? add_stream(client.host, host, 1) : add_stream(host, client.host, 0);
	owner_of_flow_.emplace_back(&client, server);
	return flow;
}

void IncastLoad::add_client(HostIndex host)
{
	Client &client = clients_.emplace_back();

	client.host = host;
	client.servers = incast_.from;
	std::erase(client.servers, host);
	client.closed_flows.resize(client.servers.size());
	size_t count = std::max<size_t>(incast_.fanout, client.servers.size());
	for (size_t i = 0; i < count; i++) {
		client.positions.push_back(i);
		Stream &flow = add_flow(client, i);
		if (incast_.persistent)
			client.open_flows.push_back(&flow);
		else
			put_back(flow);
	}
}

void IncastLoad::prepare()
{
	clients_.reserve(incast_.to.size());
	for (HostIndex host : incast_.to)
		add_client(host);
	for (Client &client : clients_)
		for (Stream *flow : client.open_flows)
			connect_early(*flow);
}

void IncastLoad::start(const Window &window)
{
	Load::start(window);
	for (Client &client : clients_)
		start_client(client);
}

void IncastLoad::start_client(Client &client)
{
	if (!incast_.period_ns) {
		at(config_.start_ns, [this, &client] { begin_round(client, loop_.now_ns()); });
		return;
	}
	auto gap = [this] {
		return incast_.poisson ? std::llround(rng_.exponential(static_cast<double>(incast_.period_ns))) :
					 incast_.period_ns;
	};
	repeat(config_.start_ns + (incast_.poisson ? gap() : 0), gap,
	       [this, &client](int64_t start_ns) { begin_round(client, start_ns); });
}

Stream &IncastLoad::take_flow(Client &client, size_t position)
{
	if (incast_.persistent)
		return *client.open_flows[position];
	auto &closed = client.closed_flows[position % client.servers.size()];
	if (closed.empty())
		return add_flow(client, position);
	Stream *flow = closed.back();
	closed.pop_back();
	return *flow;
}

void IncastLoad::put_back(Stream &flow)
{
	auto [client, server] = owner_of_flow_[flow.tag];

	client->closed_flows[server].push_back(&flow);
}

void IncastLoad::begin_round(Client &client, int64_t start_ns)
{
	if (is_over() || (incast_.rounds && client.rounds == incast_.rounds))
		return;
	size_t round = rounds_.size();
	rounds_.push_back({&client, start_ns, incast_.fanout, false});
	client.rounds++;
	overlapping_rounds_ += client.unfinished_rounds++ > 0;
	if (incast_.fanout < client.positions.size())
		rng_.shuffle(client.positions);
	for (uint32_t i = 0; i < incast_.fanout; i++) {
		size_t position = client.positions[i];
		if (!incast_.jitter_ns) {
			begin_flow(position, round);
			continue;
		}
		double delay = static_cast<double>(incast_.jitter_ns) * rng_.uniform();
		loop_.at(start_ns + static_cast<int64_t>(delay),
			 [this, position, round] { begin_flow(position, round); });
	}
}

// Cookies are slots of messages; the lowest bit tells a request from the data.
void IncastLoad::begin_flow(size_t position, size_t round)
{
	Stream &flow = take_flow(*rounds_[round].client, position);
	size_t slot = message_begin(&flow, incast_.bytes, loop_.now_ns(), round);

	if (incast_.request_bytes)
		transmit(slot, 0, incast_.request_bytes, slot << 1 | 1);
	else
		transmit(slot, 0, incast_.bytes, slot << 1);
}

void IncastLoad::stream_message(Stream &stream, int end, uint64_t cookie)
{
	if (cookie & 1) {
		stream.send(end, incast_.bytes, cookie & ~1ULL);
		return;
	}
	Message message = message_end(cookie >> 1);
	note_fct(message, message.start_ns);
	if (!incast_.persistent) {
		meter(stream).account(stream);
		stream.close();
		put_back(stream);
	}
	flow_done(message.group);
}

void IncastLoad::flow_done(size_t round)
{
	Client &client = *rounds_[round].client;
	int64_t pause_ns = rounds_[round].failed ? RETRY_NS : 0;

	if (--rounds_[round].missing)
		return;
	client.unfinished_rounds--;
	if (!rounds_[round].failed)
		note_rct(rounds_[round].start_ns);
	if (!incast_.period_ns)
		loop_.at(loop_.now_ns() + pause_ns,
			 [this, &client] { begin_round(client, loop_.now_ns()); });
}

void IncastLoad::message_failed(const Message &message)
{
	rounds_[message.group].failed = true;
	if (!incast_.persistent)
		put_back(*message.stream);
	flow_done(message.group);
}

void IncastLoad::add_details(Json &json)
{
	uint64_t unfinished = 0;

	for (const Client &client : clients_)
		unfinished += client.unfinished_rounds;
	json["rounds"] = {{"begun", rounds_.size()},
			  {"overlapping", overlapping_rounds_},
			  {"unfinished", unfinished}};
}

} // namespace

std::unique_ptr<Load> make_incast_load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	return std::make_unique<IncastLoad>(config, network, loop, rng);
}

} // namespace vload
