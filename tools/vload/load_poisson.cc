// SPDX-License-Identifier: GPL-2.0
//
// Open loop: messages arrive as a Poisson process whatever the network does, with sizes from a
// distribution. One process of the rate of all senders together picks its sender at random, which
// is the same as one process per sender. Each message has a connection to itself: an idle one of
// its pair, or else (or always, when not persistent) a new one, whose handshake then counts.
#include "load.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace vload
{

namespace
{

class PoissonLoad : public Load {
public:
	PoissonLoad(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
		: Load(config, network, loop, rng), poisson_(std::get<PoissonConfig>(config.kind)) {}

	void prepare() override;
	void start(const Window &window) override;

private:
	void choose_partners();
	HostPair pick_pair();
	Stream &take_stream(const HostPair &pair);
	void put_back(Stream &stream);
	void arrive(int64_t due_ns);

	void stream_message(Stream &stream, int end, uint64_t cookie) override;
	void message_failed(const Message &message) override;
	void add_details(Json &json) override;
	// There is one for each message or idle connection: of no interest one by one
	Json flows_json() override { return Json::array(); }
	std::vector<double> flow_shares() override { return {}; }

	const PoissonConfig &poisson_;
	std::vector<HostIndex> partners_; // permutation: of each of `from'
	std::map<HostPair, std::vector<Stream *>> idle_;
	double mean_gap_ns_ = 0;
	uint64_t arrivals_ = 0;
	uint64_t opened_ = 0;
	uint64_t begun_bytes_ = 0;
};

// One cycle through all hosts in random order: nobody is its own partner.
void PoissonLoad::choose_partners()
{
	std::vector<size_t> order(poisson_.from.size());

	partners_.resize(order.size());
	for (size_t i = 0; i < order.size(); i++)
		order[i] = i;
	rng_.shuffle(order);
	for (size_t i = 0; i < order.size(); i++)
		partners_[order[i]] = poisson_.from[order[(i + 1) % order.size()]];
}

HostPair PoissonLoad::pick_pair()
{
	size_t sender = rng_.below(poisson_.from.size());
	HostIndex from = poisson_.from[sender];
	HostIndex to;

	if (poisson_.pattern == Pattern::PERMUTATION)
		return {from, partners_[sender]};
	do {
		to = poisson_.to[rng_.below(poisson_.to.size())];
	} while (to == from);
	return {from, to};
}

void PoissonLoad::prepare()
{
	double messages_per_s = poisson_.load * poisson_.rate_bps * static_cast<double>(poisson_.from.size()) /
				(8 * poisson_.sizes.mean_bytes());

	mean_gap_ns_ = 1e9 / messages_per_s;
	if (poisson_.pattern == Pattern::PERMUTATION)
		choose_partners();
	for (HostIndex host : poisson_.to)
		connector_.listen(host);
	if (!poisson_.persistent)
		return;
	for (size_t i = 0; i < poisson_.from.size(); i++) {
		for (HostIndex to : poisson_.to) {
			if (to == poisson_.from[i] || (!partners_.empty() && to != partners_[i]))
				continue;
			for (uint32_t n = 0; n < poisson_.per_pair; n++) {
				Stream &stream = add_stream(poisson_.from[i], to, 0);
				idle_[{poisson_.from[i], to}].push_back(&stream);
				connect_early(stream);
			}
		}
	}
}

void PoissonLoad::start(const Window &window)
{
	auto gap = [this] { return std::llround(rng_.exponential(mean_gap_ns_)); };

	Load::start(window);
	repeat(config_.start_ns + gap(), gap, [this](int64_t due_ns) { arrive(due_ns); });
}

Stream &PoissonLoad::take_stream(const HostPair &pair)
{
	auto &idle = idle_[pair];

	if (idle.empty())
		return add_stream(pair.first, pair.second, 0);
	Stream *stream = idle.back();
	idle.pop_back();
	return *stream;
}

void PoissonLoad::put_back(Stream &stream)
{
	idle_[{stream.host(0), stream.host(1)}].push_back(&stream);
}

void PoissonLoad::arrive(int64_t due_ns)
{
	if (poisson_.max_messages && arrivals_ == poisson_.max_messages)
		return;
	arrivals_++;
	HostPair pair = pick_pair();
	uint64_t bytes = poisson_.sizes.sample(rng_);
	Stream &stream = take_stream(pair);
	size_t slot = message_begin(&stream, bytes, due_ns, 0);
	if (is_measured(due_ns)) {
		begun_bytes_ += bytes;
		opened_ += !stream.is_open();
	}
	transmit(slot, 0, bytes, slot);
}

void PoissonLoad::stream_message(Stream &stream, int, uint64_t cookie)
{
	Message message = message_end(cookie);

	note_fct(message, message.start_ns);
	if (!poisson_.persistent) {
		meter(stream).account(stream);
		stream.close();
	}
	put_back(stream);
}

void PoissonLoad::message_failed(const Message &message)
{
	put_back(*message.stream);
}

void PoissonLoad::add_details(Json &json)
{
	double window_s = static_cast<double>(window_.end_ns - window_.begin_ns) / 1e9;
	double line_bps = poisson_.rate_bps * static_cast<double>(poisson_.from.size());

	json["mean_size_bytes"] = round_to(poisson_.sizes.mean_bytes(), 3);
	// What the seed happened to ask for, to be set beside `load'
	json["offered_load"] = round_to(static_cast<double>(begun_bytes_) * 8 / window_s / line_bps, 6);
	json["connections"] = stream_count();
	json["connections_opened"] = opened_;
}

} // namespace

std::unique_ptr<Load> make_poisson_load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	return std::make_unique<PoissonLoad>(config, network, loop, rng);
}

} // namespace vload
