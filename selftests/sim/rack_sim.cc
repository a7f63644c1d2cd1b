// SPDX-License-Identifier: GPL-2.0
#include "rack_sim.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <random>

namespace rack_sim {
namespace {

using Time = std::uint64_t;  // picoseconds

constexpr double kPsPerSecond = 1e12;
constexpr int kMss = 1448;          // TCP payload of a frame, with timestamps
constexpr int kPacketBytes = 1514;  // what a pacing qdisc counts
constexpr int kWireBytes = 1538;    // with preamble, FCS and gap

Time ps(double seconds)
{
	return static_cast<Time>(std::llround(seconds * kPsPerSecond));
}

// Percentiles of a delay in 0.1 us steps.
class Histogram {
public:
	void add(double value_us)
	{
		auto cell = static_cast<std::size_t>(value_us * 10);

		cells_[std::min(cell, cells_.size() - 1)]++;
		sum_us_ += value_us;
		count_++;
	}

	double mean() const { return count_ ? sum_us_ / count_ : 0; }

	double percentile(double part) const
	{
		auto want = static_cast<std::uint64_t>(part * count_);
		std::uint64_t seen = 0;

		for (std::size_t i = 0; i < cells_.size(); i++) {
			seen += cells_[i];
			if (seen > want)
				return (i + 0.5) / 10;
		}
		return 0;
	}

private:
	std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(200000);
	double sum_us_ = 0;
	std::uint64_t count_ = 0;
};

struct Burst {
	int flow;
	int frames;
	int sent = 0;
	Time handed;
	Time gap;  // between frame starts; 0: line rate
};

struct Flow {
	FlowPlan plan;
	timely_state state;
	Time last_event = 0;
	std::uint64_t window_frames = 0;
	double base_us = 1e6;  // smallest sample
	int outstanding = 0;  // frames
	bool active = false;
	bool blocked = false;  // by the window
	bool heard = false;    // of any completion
};

struct Host {
	std::deque<Burst> queue;
	bool busy = false;
};

enum class Kind { kStart, kSend, kFrame, kCompletion, kSample };

struct Event {
	Time at;
	std::uint64_t order;
	Kind kind;
	int index;  // flow or host
	int frames;
	Time handed;

	bool operator>(const Event &other) const
	{
		return at != other.at ? at > other.at : order > other.order;
	}
};

class Simulation {
public:
	explicit Simulation(const Config &config);
	Result run();

private:
	void schedule(Time at, Kind kind, int index, int frames = 0,
		      Time handed = 0);
	void dispatch(const Event &event);
	void start(int index);
	void send(int index);
	int window_frames(const Flow &flow) const;
	void frame(int index);
	void next_frame(Host &host, int index);
	void count_sent(Time begin, int flow);
	void completion(const Event &event);
	void take_sample();
	double start_rate(const FlowPlan &plan) const;
	Time frame_time(double rate_bps) const;
	Result summary();

	const Config &config_;
	std::mt19937_64 random_;
	std::priority_queue<Event, std::vector<Event>, std::greater<Event>>
		events_;
	std::uint64_t order_ = 0;
	std::vector<Flow> flows_;
	std::vector<Host> hosts_;
	Time now_ = 0;
	Time link_free_ = 0;
	Time warmup_;
	Time end_;
	Time nic_frame_;
	Time link_frame_;
	Time base_rtt_;
	Time busy_ = 0;
	Time last_deep_ = 0;
	Histogram samples_;
	Histogram frames_;
	double max_queue_us_ = 0;
	std::uint64_t bursts_ = 0;
	std::uint64_t burst_frames_ = 0;
	Result result_;
};

Simulation::Simulation(const Config &config)
	: config_(config), random_(config.seed), warmup_(ps(config.warmup_s)),
	  end_(ps(config.duration_s)), nic_frame_(frame_time(config.nic_bps)),
	  link_frame_(frame_time(config.link_bps)),
	  base_rtt_(ps(config.base_rtt_us * 1e-6))
{
	int hosts = 0;

	for (const FlowPlan &plan : config.flows) {
		hosts = std::max(hosts, plan.host + 1);
		flows_.push_back(Flow{.plan = plan, .state = {}});
		schedule(ps(plan.start_s), Kind::kStart,
			 static_cast<int>(flows_.size()) - 1);
	}
	hosts_.resize(hosts);
	if (config.series_us > 0)
		schedule(0, Kind::kSample, 0);
}

Time Simulation::frame_time(double rate_bps) const
{
	return ps(kWireBytes * 8 / rate_bps);
}

void Simulation::schedule(Time at, Kind kind, int index, int frames,
			  Time handed)
{
	events_.push(Event{at, order_++, kind, index, frames, handed});
}

// C/(N+1) with N flows of this host already on the air, as the module starts.
double Simulation::start_rate(const FlowPlan &plan) const
{
	int others = 0;

	if (plan.rate_bps > 0)
		return plan.rate_bps;
	for (const Flow &flow : flows_)
		others += flow.active && flow.plan.host == plan.host;
	return config_.nic_bps / (others + 1);
}

void Simulation::start(int index)
{
	Flow &flow = flows_[index];

	timely_rate_start(&flow.state, &config_.params,
			  static_cast<u64>(start_rate(flow.plan)));
	flow.active = true;
	send(index);
}

// Hand one burst to the NIC; like fq, lay out the next with today's rate.
void Simulation::send(int index)
{
	Flow &flow = flows_[index];
	Host &host = hosts_[flow.plan.host];

	if (now_ >= ps(flow.plan.stop_s)) {
		flow.active = false;
		return;
	}
	u64 rate_bps = flow.state.rate_bps;
	int frames = static_cast<int>(
		timely_burst_bytes(&config_.params, rate_bps, kMss) / kMss);
	Time gap = ps(frames * kPacketBytes * 8.0 / rate_bps);

	flow.blocked = flow.outstanding &&
		       flow.outstanding + frames > window_frames(flow);
	if (flow.blocked)
		return;
	flow.outstanding += frames;

	host.queue.push_back(Burst{index, frames, 0, now_,
				   config_.packet_pacing ? gap / frames : 0});
	if (!host.busy)
		next_frame(host, flow.plan.host);
	if (now_ >= warmup_) {
		bursts_++;
		burst_frames_ += frames;
	}
	schedule(now_ + gap, Kind::kSend, index);
}

// As the module bounds it: a worst-case RTT at this rate and three bursts;
// until the first completion TCP's initial window.
int Simulation::window_frames(const Flow &flow) const
{
	double rtt_s = (config_.params.t_high_us + config_.base_rtt_us) * 1e-6;
	double bytes = flow.state.rate_bps / 8 * rtt_s;
	u32 burst = timely_burst_bytes(&config_.params, flow.state.rate_bps,
				       kMss);

	if (!flow.heard)
		return 10;
	return static_cast<int>((bytes + 3.0 * burst) / kMss);
}

void Simulation::next_frame(Host &host, int index)
{
	host.busy = !host.queue.empty();
	if (!host.busy)
		return;

	const Burst &burst = host.queue.front();
	Time begin = std::max(now_, burst.handed + burst.sent * burst.gap);

	schedule(begin + nic_frame_, Kind::kFrame, index);
}

// A frame's last bit left the NIC: queue it at the link, in arrival order.
void Simulation::frame(int index)
{
	Host &host = hosts_[index];
	Burst &burst = host.queue.front();
	Time begin = std::max(now_, link_free_);
	double queue_us = (begin - now_) * 1e-6;

	link_free_ = begin + link_frame_;
	if (queue_us > 100)
		last_deep_ = now_;
	if (now_ >= warmup_) {
		frames_.add(queue_us + config_.base_rtt_us);
		max_queue_us_ = std::max(max_queue_us_, queue_us);
	}
	count_sent(begin, burst.flow);
	if (++burst.sent == burst.frames) {
		Time serialization = burst.frames * std::max(nic_frame_,
							     burst.gap);

		// Without the link's own frame time: that is in the base RTT.
		schedule(begin + base_rtt_, Kind::kCompletion, burst.flow,
			 burst.frames, burst.handed + serialization);
		host.queue.pop_front();
	}
	next_frame(host, index);
}

// Utilization and shares count what the link sends inside the window.
void Simulation::count_sent(Time begin, int flow)
{
	Time from = std::max(begin, warmup_);
	Time to = std::min(begin + link_frame_, end_);

	if (from >= to)
		return;
	busy_ += to - from;
	flows_[flow].window_frames++;
}

void Simulation::completion(const Event &event)
{
	Flow &flow = flows_[event.index];
	std::uniform_real_distribution<double> noise(0, config_.noise_us);
	double rtt_us = (now_ - std::min(now_, event.handed)) * 1e-6;
	timely_outcome outcome;

	flow.outstanding -= event.frames;
	flow.heard = true;
	if (!flow.active)
		return;
	if (now_ >= warmup_)
		samples_.add(rtt_us);
	if (config_.noise_us > 0)
		rtt_us += noise(random_);
	flow.base_us = std::min(flow.base_us, rtt_us);

	timely_sample sample{
		.now_ns = now_ / 1000,
		.rtt_ns = static_cast<u64>(rtt_us * 1000),
		.acked_bytes = static_cast<u32>(event.frames * kPacketBytes),
		.base_rtt_ns = static_cast<u64>(flow.base_us * 1000),
		.cap_bps = static_cast<u64>(config_.nic_bps),
		.app_limited = false,
	};
	timely_rate_sample(&flow.state, &config_.params, &sample, &outcome);
	if (flow.blocked)
		send(event.index);
}

void Simulation::take_sample()
{
	SeriesPoint point{now_ / kPsPerSecond, 0, {}};

	point.queue_us = (std::max(link_free_, now_) - now_) * 1e-6;
	for (const Flow &flow : flows_)
		point.rate_bps.push_back(
			flow.active ? static_cast<double>(flow.state.rate_bps)
				    : 0);
	result_.series.push_back(std::move(point));
	schedule(now_ + ps(config_.series_us * 1e-6), Kind::kSample, 0);
}

void Simulation::dispatch(const Event &event)
{
	switch (event.kind) {
	case Kind::kStart:
		start(event.index);
		break;
	case Kind::kSend:
		send(event.index);
		break;
	case Kind::kFrame:
		frame(event.index);
		break;
	case Kind::kCompletion:
		completion(event);
		break;
	case Kind::kSample:
		take_sample();
		break;
	}
}

Result Simulation::summary()
{
	double window_s = config_.duration_s - config_.warmup_s;
	double sum = 0, squares = 0, least = 1e300;

	for (const Flow &flow : flows_) {
		double bps = flow.window_frames * kMss * 8.0 / window_s;

		result_.goodput_bps.push_back(bps);
		sum += bps;
		squares += bps * bps;
		least = std::min(least, bps);
	}
	result_.utilization = busy_ / kPsPerSecond / window_s;
	result_.jain = squares > 0 ? sum * sum / (squares * flows_.size()) : 0;
	result_.min_share = sum > 0 ? least * flows_.size() / sum : 0;
	result_.sample_mean_us = samples_.mean();
	result_.sample_p50_us = samples_.percentile(0.5);
	result_.sample_p99_us = samples_.percentile(0.99);
	result_.frame_mean_us = frames_.mean();
	result_.frame_p50_us = frames_.percentile(0.5);
	result_.frame_p99_us = frames_.percentile(0.99);
	result_.max_queue_us = max_queue_us_;
	result_.drained_s = last_deep_ / kPsPerSecond;
	result_.bursts_per_s = bursts_ / window_s;
	result_.burst_bytes = bursts_ ? burst_frames_ * double(kMss) / bursts_
				      : 0;
	return std::move(result_);
}

Result Simulation::run()
{
	while (!events_.empty() && events_.top().at < end_) {
		Event event = events_.top();

		events_.pop();
		now_ = event.at;
		dispatch(event);
	}
	return summary();
}

}  // namespace

void add_flows(Config &config, int hosts, int flows_per_host, double spread_us)
{
	std::mt19937_64 random(config.seed * 7919);
	std::uniform_real_distribution<double> start(0, spread_us * 1e-6);

	for (int host = 0; host < hosts; host++)
		for (int i = 0; i < flows_per_host; i++)
			config.flows.push_back(
				FlowPlan{.host = host, .start_s = start(random)});
}

Result run(const Config &config)
{
	return Simulation(config).run();
}

}  // namespace rack_sim
