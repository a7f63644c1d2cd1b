// SPDX-License-Identifier: GPL-2.0
//
// Long flows: always backlogged, or written to at intervals, or of a finite size. Each connects
// when it starts, so that its first measurements are of the network as it is then.
#include "load.h"

#include <algorithm>
#include <cerrno>
#include <map>

namespace vload
{

namespace
{

class LongLoad : public Load {
public:
	LongLoad(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
		: Load(config, network, loop, rng), long_(std::get<LongConfig>(config.kind)) {}

	void prepare() override;
	void start(const Window &window) override;

private:
	struct Flow {
		int64_t start_ns = 0; // since time zero, as all times here
		int64_t end_ns = NEVER_NS;
		int64_t next_write_ns = 0;
		bool stopped = false;
		std::optional<double> fct_us;
		uint64_t skipped_writes = 0;
	};

	void start_flow(size_t index);
	void write(size_t index);
	void stop_flows();
	void stop_flow(size_t index);
	double active_s(const Flow &flow) const;

	void stream_message(Stream &stream, int end, uint64_t cookie) override;
	void stream_ended(Stream &stream, int error) override;
	bool may_end(const Stream &stream, int) override { return flows_[stream.tag].stopped; }
	Json flows_json() override;
	std::vector<double> flow_shares() override;

	const LongConfig &long_;
	std::vector<Flow> flows_;
};

void LongLoad::prepare()
{
	for (const HostPair &pair : long_.pairs)
		for (uint32_t i = 0; i < long_.per_pair; i++)
			add_stream(pair.first, pair.second, 0);
	flows_.resize(stream_count());
}

void LongLoad::start(const Window &window)
{
	Load::start(window);
	for (size_t i = 0; i < flows_.size(); i++) {
		double spread = static_cast<double>(long_.spread_ns) * rng_.uniform();
		flows_[i].start_ns = config_.start_ns + static_cast<int64_t>(spread);
		at(flows_[i].start_ns, [this, i] { start_flow(i); });
	}
	if (config_.stop_ns != NEVER_NS)
		at(config_.stop_ns, [this] { stop_flows(); });
	if (long_.reader_pause) {
		int64_t at_ns = long_.reader_pause->at_ns;
		at(at_ns, [this] {
			for (size_t i = 0; i < flows_.size(); i++)
				stream(i).pause_reading(1);
		});
		at(at_ns + long_.reader_pause->for_ns, [this] {
			for (size_t i = 0; i < flows_.size(); i++)
				stream(i).resume_reading(1);
		});
	}
}

void LongLoad::start_flow(size_t index)
{
	Stream &flow = stream(index);

	if (flows_[index].stopped)
		return;
	if (long_.bytes) {
		size_t slot = message_begin(&flow, *long_.bytes, loop_.now_ns(), index);
		transmit(slot, 0, *long_.bytes, slot);
		return;
	}
	flow.open();
	if (!flow.is_open())
		return;
	if (!long_.write_bytes) {
		flow.send_unframed(0, Stream::ENDLESS);
		return;
	}
	flows_[index].next_write_ns = flows_[index].start_ns;
	write(index);
}

void LongLoad::write(size_t index)
{
	Stream &flow = stream(index);

	if (!flow.is_open() || flows_[index].stopped)
		return;
	// An application whose write would block does not queue another.
	if (flow.is_up() && flow.end(0).unsent_bytes())
		flows_[index].skipped_writes++;
	else
		flow.send_unframed(0, long_.write_bytes);
	at(flows_[index].next_write_ns += long_.write_interval_ns, [this, index] { write(index); });
}

void LongLoad::stop_flows()
{
	std::map<HostIndex, uint32_t> stopped;

	for (size_t i = 0; i < flows_.size(); i++)
		if (!long_.stop_count || stopped[stream(i).host(0)]++ < *long_.stop_count)
			stop_flow(i);
}

void LongLoad::stop_flow(size_t index)
{
	Stream &flow = stream(index);

	flows_[index].stopped = true;
	if (!flow.is_open())
		return;
	if (long_.stop_mode == StopMode::DRAIN) {
		flow.finish_sending(0);
		return;
	}
	stream_ended(flow, ECONNABORTED);
	flow.abort();
}

void LongLoad::stream_message(Stream &stream, int, uint64_t cookie)
{
	Flow &flow = flows_[stream.tag];
	Message message = message_end(cookie);

	note_fct(message, message.start_ns);
	flow.end_ns = loop_.now_ns() - window_.zero_ns;
	flow.fct_us = static_cast<double>(loop_.now_ns() - message.start_ns) / 1e3;
}

void LongLoad::stream_ended(Stream &stream, int error)
{
	Flow &flow = flows_[stream.tag];

	if (flow.end_ns == NEVER_NS)
		flow.end_ns = loop_.now_ns() - window_.zero_ns;
	Load::stream_ended(stream, error);
}

double LongLoad::active_s(const Flow &flow) const
{
	int64_t begin_ns = std::max(flow.start_ns, window_.begin_ns);
	int64_t end_ns = std::min(flow.end_ns, window_.end_ns);

	return static_cast<double>(std::max<int64_t>(end_ns - begin_ns, 0)) / 1e9;
}

// Flows that were there for a part of the window only have no fair share of it; when all are so
// (finite flows), they are compared all the same.
std::vector<double> LongLoad::flow_shares()
{
	std::vector<double> shares;

	for (size_t i = 0; i < flows_.size(); i++)
		if (flows_[i].start_ns <= window_.begin_ns && flows_[i].end_ns >= window_.end_ns)
			shares.push_back(static_cast<double>(meter(stream(i)).bytes()));
	return shares.empty() ? Load::flow_shares() : shares;
}

Json LongLoad::flows_json()
{
	Json flows = Json::array();

	for (size_t i = 0; i < flows_.size(); i++) {
		Json flow;
		describe_stream(flow, stream(i));
		flow["active_s"] = active_s(flows_[i]);
		if (long_.bytes)
			flow["fct_us"] = flows_[i].fct_us ? Json(round_to(*flows_[i].fct_us, 3)) : Json(nullptr);
		if (long_.write_bytes)
			flow["skipped_writes"] = flows_[i].skipped_writes;
		flows.push_back(std::move(flow));
	}
	return flows;
}

} // namespace

std::unique_ptr<Load> make_long_load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	return std::make_unique<LongLoad>(config, network, loop, rng);
}

} // namespace vload
