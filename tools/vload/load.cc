// SPDX-License-Identifier: GPL-2.0
#include "load.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace vload
{

// More at once would overflow the queue of the listening host's port, and lost SYNs wait a second.
constexpr size_t MAX_CONNECTING = 64;

double round_to(double value, int digits)
{
	double scale = std::pow(10, digits);

	return std::round(value * scale) / scale;
}

Json summary_json(const std::vector<double> &values)
{
	Summary s = stats_summarize(values);

	if (values.empty())
		return nullptr;
	return {{"count", s.count},		 {"mean", round_to(s.mean, 3)}, {"min", round_to(s.min, 3)},
		{"p50", round_to(s.p50, 3)},	 {"p90", round_to(s.p90, 3)},	{"p99", round_to(s.p99, 3)},
		{"p999", round_to(s.p999, 3)}, {"max", round_to(s.max, 3)}};
}

void Meter::open_window(const Stream &stream)
{
	open_ = true;
	for (int side : {0, 1})
		first_[side] = net_tcp_snapshot(stream.end(side).fd()).value_or(TcpSnapshot());
}

void Meter::account(const Stream &stream)
{
	if (!open_)
		return;
	for (int side : {0, 1}) {
		auto now = net_tcp_snapshot(stream.end(side).fd());
		if (!now)
			continue;
		retransmits_ += now->retransmits - first_[side].retransmits;
		if (now->rtos)
			rtos_ = rtos_.value_or(0) + *now->rtos - first_[side].rtos.value_or(0);
		if (side == data_end_)
			last_ = *now;
		else
			bytes_ += now->bytes_received - first_[side].bytes_received;
		// The next connection counts from zero.
		first_[side] = TcpSnapshot();
	}
	if (cc_.empty())
		cc_ = net_congestion_control(stream.end(data_end_).fd());
}

void Meter::close_window(const Stream &stream)
{
	account(stream);
	open_ = false;
}

void Meter::sample(const Stream &stream, double time_us)
{
	auto tcp = net_tcp_snapshot(stream.end(data_end_).fd());

	if (tcp)
		series_.push_back({time_us, *tcp});
}

void Meter::add_rtts_us(std::vector<double> &rtts_us) const
{
	for (const Sample &sample : series_)
		if (sample.tcp.rtt_us)
			rtts_us.push_back(sample.tcp.rtt_us);
}

void Meter::describe(Json &flow, const Window &window) const
{
	double window_s = static_cast<double>(window.end_ns - window.begin_ns) / 1e9;

	flow["cc"] = cc_;
	flow["bytes"] = bytes_;
	flow["goodput_bps"] = std::round(static_cast<double>(bytes_) * 8 / window_s);
	flow["retransmits"] = retransmits_;
	flow["rtos"] = rtos_ ? Json(*rtos_) : Json(nullptr);
	flow["min_rtt_us"] = last_.min_rtt_us ? Json(last_.min_rtt_us) : Json(nullptr);
	flow["rtt_us"] = last_.rtt_us ? Json(last_.rtt_us) : Json(nullptr);
	if (series_.empty())
		return;
	Json series = Json::array();
	for (const Sample &sample : series_)
		series.push_back({round_to(sample.time_us, 3), sample.tcp.pacing_bps, sample.tcp.rtt_us,
				  sample.tcp.cwnd, sample.tcp.bytes_acked});
	flow["series"] = std::move(series);
}

Load::Load(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
	: config_(config), network_(network), loop_(loop), rng_(rng), connector_(network, loop, config.socket)
{
}

std::unique_ptr<Load> Load::make(const LoadConfig &config, Network &network, Loop &loop, Rng rng)
{
	static constexpr decltype(&make_long_load) makers[] = {make_long_load, make_incast_load, make_rpc_load,
							       make_poisson_load, make_ping_load};

	return makers[config.kind.index()](config, network, loop, rng);
}

Stream &Load::add_stream(HostIndex from, HostIndex to, int data_end)
{
	connector_.listen(to);
	auto stream = std::make_unique<Stream>(connector_, *this, from, to);
	stream->tag = streams_.size();
	streams_.push_back(std::move(stream));
	meters_.emplace_back(data_end);
	if (window_open_)
		meters_.back().open_window(*streams_.back());
	return *streams_.back();
}

void Load::connect_early(Stream &stream)
{
	to_connect_.push_back(&stream);
	connect_some();
}

void Load::connect_some()
{
	while (connecting_ < MAX_CONNECTING && !to_connect_.empty()) {
		Stream *stream = to_connect_.back();
		to_connect_.pop_back();
		connecting_++;
		stream->open();
	}
}

void Load::stream_up(Stream &)
{
	if (!connecting_)
		return;
	connecting_--;
	connect_some();
	if (is_ready())
		loop_.stop();
}

void Load::note_error(const Stream &stream, int error)
{
	if (!errors_++)
		first_error_ = network_.host_name(stream.host(0)) + " -> " + network_.host_name(stream.host(1)) +
			       ": " + (error ? std::strerror(error) : "closed by the peer");
}

void Load::stream_ended(Stream &stream, int error)
{
	meter(stream).account(stream);
	if (!may_end(stream, error))
		note_error(stream, error);
	if (connecting_)
		throw RuntimeError("load `" + config_.name + "': " + first_error_);
	for (size_t slot = 0; slot < messages_.size(); slot++) {
		if (messages_[slot].stream != &stream)
			continue;
		lost_messages_ += messages_[slot].in_window;
		message_failed(message_end(slot));
	}
}

size_t Load::message_begin(Stream *stream, uint64_t bytes, int64_t start_ns, size_t group)
{
	size_t slot;

	if (free_messages_.empty()) {
		slot = messages_.size();
		messages_.emplace_back();
	} else {
		slot = free_messages_.back();
		free_messages_.pop_back();
	}
	bool in_window = is_measured(start_ns);
	messages_[slot] = {stream, bytes, start_ns, 0, group, in_window};
	begun_messages_ += in_window;
	window_messages_ += in_window;
	return slot;
}

Load::Message Load::message_end(size_t slot)
{
	Message message = messages_[slot];

	messages_[slot].stream = nullptr;
	free_messages_.push_back(slot);
	window_messages_ -= message.in_window;
	if (closed_ && is_drained())
		loop_.stop();
	return message;
}

bool Load::transmit(size_t slot, int from_end, uint64_t bytes, uint64_t cookie)
{
	Stream &stream = *messages_[slot].stream;

	// A failure in open() has ended the message already.
	if (!stream.is_open())
		stream.open();
	if (!stream.is_open())
		return false;
	stream.send(from_end, bytes, cookie);
	return true;
}

void Load::note_fct(const Message &message, int64_t start_ns)
{
	if (!message.in_window)
		return;
	fct_us_.push_back(static_cast<double>(loop_.now_ns() - start_ns) / 1e3);
	fct_bytes_.push_back(message.bytes);
}

void Load::note_rct(int64_t start_ns)
{
	if (is_measured(start_ns))
		rct_us_.push_back(static_cast<double>(loop_.now_ns() - start_ns) / 1e3);
}

bool Load::is_measured(int64_t when_ns) const
{
	return when_ns >= window_.zero_ns + window_.begin_ns && when_ns < window_.zero_ns + window_.end_ns;
}

void Load::at(int64_t when_ns, std::function<void()> callback)
{
	loop_.at(window_.zero_ns + when_ns, std::move(callback));
}

void Load::repeat(int64_t start_ns, std::function<int64_t()> gap, std::function<void(int64_t)> callback)
{
	// Times are sums of gaps, not readings of the clock: a late wake-up delays nothing after it.
	if (start_ns >= std::min(config_.stop_ns, window_.end_ns))
		return;
	at(start_ns, [this, start_ns, gap = std::move(gap), callback = std::move(callback)] {
		if (is_over())
			return;
		callback(window_.zero_ns + start_ns);
		repeat(start_ns + gap(), gap, callback);
	});
}

void Load::start(const Window &window)
{
	window_ = window;
	if (config_.sample_interval_ns)
		schedule_sample(config_.sample_interval_ns);
}

void Load::schedule_sample(int64_t when_ns)
{
	if (when_ns > window_.end_ns)
		return;
	at(when_ns, [this, when_ns] {
		take_sample();
		schedule_sample(when_ns + config_.sample_interval_ns);
	});
}

void Load::take_sample()
{
	for (const auto &stream : streams_)
		if (stream->is_up())
			meters_[stream->tag].sample(*stream, since_zero_us());
}

void Load::open_window()
{
	window_open_ = true;
	for (const auto &stream : streams_)
		meters_[stream->tag].open_window(*stream);
}

void Load::close_window()
{
	for (const auto &stream : streams_)
		meters_[stream->tag].close_window(*stream);
	window_open_ = false;
	closed_ = true;
}

void Load::shut_down()
{
	for (const auto &stream : streams_)
		stream->abort();
}

void Load::describe_stream(Json &flow, const Stream &stream)
{
	flow["from"] = network_.host_name(stream.host(0));
	flow["to"] = network_.host_name(stream.host(1));
	flow["port"] = stream.port(0);
	flow["to_port"] = stream.port(1);
	meter(stream).describe(flow, window_);
}

Json Load::flows_json()
{
	Json flows = Json::array();

	for (const auto &stream : streams_) {
		Json flow;
		describe_stream(flow, *stream);
		flows.push_back(std::move(flow));
	}
	return flows;
}

std::vector<double> Load::flow_shares()
{
	std::vector<double> shares;

	for (const Meter &meter : meters_)
		shares.push_back(static_cast<double>(meter.bytes()));
	return shares;
}

void Load::add_totals(Json &json)
{
	uint64_t bytes = 0, retransmits = 0;
	std::optional<uint64_t> rtos;
	std::set<std::string> ccs;

	for (const Meter &meter : meters_) {
		bytes += meter.bytes();
		retransmits += meter.retransmits();
		if (meter.rtos())
			rtos = rtos.value_or(0) + *meter.rtos();
		if (!meter.cc().empty())
			ccs.insert(meter.cc());
	}
	double window_s = static_cast<double>(window_.end_ns - window_.begin_ns) / 1e9;
	auto jain = stats_jain(flow_shares());
	json["cc"] = ccs;
	json["bytes"] = bytes;
	json["goodput_bps"] = std::round(static_cast<double>(bytes) * 8 / window_s);
	json["jain"] = jain ? Json(round_to(*jain, 6)) : Json(nullptr);
	json["retransmits"] = retransmits;
	json["rtos"] = rtos ? Json(*rtos) : Json(nullptr);
}

static Json rounded_json(const std::vector<double> &values)
{
	Json list = Json::array();

	for (double value : values)
		list.push_back(round_to(value, 3));
	return list;
}

Json Load::samples_json() const
{
	Json fct = Json::array();

	for (size_t i = 0; i < fct_us_.size(); i++)
		fct.push_back({fct_bytes_[i], round_to(fct_us_[i], 3)});
	return {{"fct", std::move(fct)},
		{"rct", rounded_json(rct_us_)},
		{"rtt", rounded_json(rtt_us_)},
		{"owd", rounded_json(owd_us_)}};
}

Json Load::result()
{
	Json json;

	for (const Meter &meter : meters_)
		meter.add_rtts_us(rtt_us_);
	json["name"] = config_.name;
	json["type"] = load_type_name(config_);
	add_totals(json);
	json["messages"] = {{"begun", begun_messages_},
			    {"completed", begun_messages_ - lost_messages_ - window_messages_},
			    {"lost", lost_messages_},
			    {"unfinished", window_messages_}};
	json["fct_us"] = summary_json(fct_us_);
	json["rct_us"] = summary_json(rct_us_);
	json["rtt_us"] = summary_json(rtt_us_);
	json["owd_us"] = summary_json(owd_us_);
	json["errors"] = errors_;
	json["first_error"] = errors_ ? Json(first_error_) : Json(nullptr);
	add_details(json);
	json["flows"] = flows_json();
	if (config_.samples)
		json["samples"] = samples_json();
	return json;
}

} // namespace vload
