// SPDX-License-Identifier: GPL-2.0
//
// Incast: in every round `fanout' flows of `bytes' each start for one client at once, from the
// servers in turn. With request_bytes the client asks for them over the network; without, the
// servers start by the clock, which is the hardest case.
#include "load.h"

#include <algorithm>

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
	struct Round {
		int64_t start_ns = 0;
		uint32_t missing = 0;
		bool failed = false;
	};

	Stream &add_flow(size_t position);
	Stream &take_flow(size_t position);
	void put_back(Stream &flow);
	void begin_round(int64_t start_ns);
	void begin_flow(size_t position, size_t round);
	void flow_done(size_t round);

	void stream_message(Stream &stream, int end, uint64_t cookie) override;
	void message_failed(const Message &message) override;
	void add_details(Json &json) override;

	const IncastConfig &incast_;
	std::vector<size_t> positions_;
	std::vector<size_t> server_of_flow_;
	std::vector<Round> rounds_;
	// New connections each round: by server, closed and ready to be opened again
	std::vector<std::vector<Stream *>> closed_flows_;
	uint64_t overlapping_rounds_ = 0;
	uint64_t unfinished_rounds_ = 0;
};

Stream &IncastLoad::add_flow(size_t position)
{
	size_t server = position % incast_.from.size();
	HostIndex host = incast_.from[server];

	// Who speaks first connects.
	Stream &flow = incast_.request_bytes ? add_stream(incast_.to, host, 1) : add_stream(host, incast_.to, 0);
	server_of_flow_.push_back(server);
	return flow;
}

void IncastLoad::prepare()
{
	size_t count = std::max<size_t>(incast_.fanout, incast_.from.size());

	closed_flows_.resize(incast_.from.size());
	for (size_t i = 0; i < count; i++) {
		positions_.push_back(i);
		Stream &flow = add_flow(i);
		if (!incast_.persistent)
			closed_flows_[server_of_flow_[flow.tag]].push_back(&flow);
	}
	if (incast_.persistent)
		for (size_t i = 0; i < count; i++)
			connect_early(stream(i));
}

void IncastLoad::start(const Window &window)
{
	Load::start(window);
	if (!incast_.period_ns) {
		at(config_.start_ns, [this] { begin_round(loop_.now_ns()); });
		return;
	}
	repeat(config_.start_ns, [this] { return incast_.period_ns; },
	       [this](int64_t start_ns) { begin_round(start_ns); });
}

Stream &IncastLoad::take_flow(size_t position)
{
	if (incast_.persistent)
		return stream(position);
	auto &closed = closed_flows_[position % incast_.from.size()];
	if (closed.empty())
		return add_flow(position);
	Stream *flow = closed.back();
	closed.pop_back();
	return *flow;
}

void IncastLoad::put_back(Stream &flow)
{
	closed_flows_[server_of_flow_[flow.tag]].push_back(&flow);
}

void IncastLoad::begin_round(int64_t start_ns)
{
	if (is_over() || (incast_.rounds && rounds_.size() == incast_.rounds))
		return;
	size_t round = rounds_.size();
	rounds_.push_back({start_ns, incast_.fanout, false});
	overlapping_rounds_ += unfinished_rounds_++ > 0;
	if (incast_.fanout < positions_.size())
		rng_.shuffle(positions_);
	for (uint32_t i = 0; i < incast_.fanout; i++) {
		size_t position = positions_[i];
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
	Stream &flow = take_flow(position);
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
	int64_t pause_ns = rounds_[round].failed ? RETRY_NS : 0;

	if (--rounds_[round].missing)
		return;
	unfinished_rounds_--;
	if (!rounds_[round].failed)
		note_rct(rounds_[round].start_ns);
	if (!incast_.period_ns)
		loop_.at(loop_.now_ns() + pause_ns, [this] { begin_round(loop_.now_ns()); });
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
	json["rounds"] = {{"begun", rounds_.size()},
			  {"overlapping", overlapping_rounds_},
			  {"unfinished", unfinished_rounds_}};
}

} // namespace

std::unique_ptr<Load> make_incast_load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	return std::make_unique<IncastLoad>(config, network, loop, rng);
}

} // namespace vload
