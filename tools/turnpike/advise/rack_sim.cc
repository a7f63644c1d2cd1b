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
constexpr int kHeaderBytes = 52;    // IP and TCP with timestamps
constexpr int kEthernetBytes = 14;  // what a pacing qdisc counts besides
constexpr int kGapBytes = 24;       // preamble, FCS and gap

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

// What waits for a NIC's interrupt.
struct Arrival {
	int flow;
	int frames;  // of the burst that this one ends; 0: it ends none
	Time handed;
};

struct Receiver {
	std::vector<Arrival> waiting;
	std::uint64_t interrupts = 0;
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
	int outstanding = 0;  // frames
	int todo = 0;         // frames of an RPC not yet sent
	Time next_send = 0;
	Time request_start = 0;
	bool active = false;
	bool blocked = false;  // by the window
	int open_frames = 10;  // the window opens by what is acked
	bool opened = false;   // up to its bound
};

struct Host {
	std::deque<Burst> queue;
	bool busy = false;
	Receiver acks;
};

enum class Kind {
	kStart,
	kRequest,
	kSend,
	kFrame,
	kArrival,       // at the receiver
	kInterrupt,     // of the receiver
	kAck,           // at the sender
	kAckInterrupt,  // of a sender
	kSample
};

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
	void request(int index);
	timely_sample sample_of(const Flow &flow) const;
	int window_frames(const Flow &flow) const;
	void frame(int index);
	void next_frame(Host &host, int index);
	void count_sent(Time begin, int flow);
	void arrival(const Event &event);
	void interrupt();
	void ack(const Event &event);
	void ack_interrupt(int host);
	bool gather(Receiver &receiver, const Event &event, Kind kind,
		    int index);
	void completion(int index, const Arrival &ack);
	void finish_request(int index);
	void take_sample();
	bool bulk(const Flow &flow) const { return !flow.plan.request_frames; }
	double cap(const FlowPlan &plan) const;
	Time base_rtt(const Flow &flow) const;
	u64 handshake_ns(const Flow &flow) const;
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
	int mss_;
	Receiver receiver_;
	Time busy_ = 0;
	Time last_deep_ = 0;
	Histogram samples_;
	Histogram frames_;
	Histogram requests_;
	double max_queue_us_ = 0;
	std::uint64_t bursts_ = 0;
	std::uint64_t burst_frames_ = 0;
	Result result_;
};

Simulation::Simulation(const Config &config)
	: config_(config), random_(config.seed), warmup_(ps(config.warmup_s)),
	  end_(ps(config.duration_s)), nic_frame_(frame_time(config.nic_bps)),
	  link_frame_(frame_time(config.link_bps)),
	  mss_(config.mtu - kHeaderBytes)
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
	return ps((config_.mtu + kEthernetBytes + kGapBytes) * 8 / rate_bps);
}

double Simulation::cap(const FlowPlan &plan) const
{
	return plan.cap_bps > 0 ? std::min(plan.cap_bps, config_.nic_bps)
				: config_.nic_bps;
}

Time Simulation::base_rtt(const Flow &flow) const
{
	double base_us = flow.plan.base_rtt_us > 0 ? flow.plan.base_rtt_us
						   : config_.base_rtt_us;

	if (now_ >= ps(config_.step_s))
		base_us += config_.step_us;
	return ps(base_us * 1e-6);
}

// A SYN is so short that a slow port takes no time for it, but it queues. Two
// interrupts, if they are coalesced, wait for it.
u64 Simulation::handshake_ns(const Flow &flow) const
{
	Time queue = std::max(link_free_, now_) - now_;
	Time base = base_rtt(flow);

	if (link_frame_ > nic_frame_)
		base -= std::min(base, 2 * (link_frame_ - nic_frame_));
	return (base + queue + ps(2e-6 * config_.coalescing.time_us)) / 1000;
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
	return std::min(cap(plan), config_.nic_bps / (others + 1));
}

void Simulation::start(int index)
{
	Flow &flow = flows_[index];

	timely_rate_start(&flow.state, &config_.params,
			  static_cast<u64>(start_rate(flow.plan)),
			  handshake_ns(flow));
	flow.active = true;
	if (bulk(flow))
		send(index);
	else
		request(index);
}

void Simulation::request(int index)
{
	Flow &flow = flows_[index];

	flow.todo = flow.plan.request_frames;
	flow.request_start = now_;
	schedule(std::max(now_, flow.next_send), Kind::kSend, index);
}

void Simulation::finish_request(int index)
{
	Flow &flow = flows_[index];
	std::exponential_distribution<double> think(1 / flow.plan.think_us);

	if (flow.request_start >= warmup_)
		requests_.add((now_ - flow.request_start) * 1e-6);
	schedule(now_ + ps(think(random_) * 1e-6), Kind::kRequest, index);
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
	if (!bulk(flow) && !flow.todo)
		return;
	u64 rate_bps = std::min<u64>(flow.state.rate_bps, cap(flow.plan));
	int frames = static_cast<int>(
		timely_burst_bytes(&flow.state, &config_.params, mss_) / mss_);

	if (!bulk(flow))
		frames = std::min(frames, flow.todo);
	Time gap = ps(frames * (config_.mtu + kEthernetBytes) * 8.0 / rate_bps);

	flow.blocked = flow.outstanding &&
		       flow.outstanding + frames > window_frames(flow);
	if (flow.blocked)
		return;
	flow.outstanding += frames;
	flow.todo -= bulk(flow) ? 0 : frames;
	flow.next_send = now_ + gap;

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

// What a sample has of the host and the path, whatever the RTT.
timely_sample Simulation::sample_of(const Flow &flow) const
{
	u32 frame_ns = static_cast<u32>(nic_frame_ / 1000);

	return {
		.now_ns = 0,
		.rtt_ns = 0,
		.cap_bps = static_cast<u64>(cap(flow.plan)),
		.acked_bytes = 0,
		.frame_bytes = static_cast<u32>(config_.mtu + kEthernetBytes +
						kGapBytes),
		.frame_ns = frame_ns,
		.burst_ns = timely_burst_bytes(&flow.state, &config_.params, mss_) /
			    mss_ * frame_ns,
		.coalesce_ns = static_cast<u32>(config_.coalescing.time_us * 1000),
		.back_load = 0,
		.app_limited = false,
	};
}

// As the module bounds it: a worst-case RTT at this rate and three bursts. At
// first TCP's initial window, which opens by what is acked.
int Simulation::window_frames(const Flow &flow) const
{
	timely_sample sample = sample_of(flow);
	timely_path path;

	timely_path_find(&path, &flow.state, &config_.params, &sample);
	double rtt_s = timely_path_window_ns(&path, &sample) * 1e-9;

	if (!config_.params.path_law)
		rtt_s += base_rtt(flow) / kPsPerSecond;
	double bytes = flow.state.rate_bps / 8 * rtt_s;
	u32 burst = timely_burst_bytes(&flow.state, &config_.params, mss_);

	int frames = static_cast<int>((bytes + 3.0 * burst) / mss_);

	return flow.opened ? frames : std::min(frames, flow.open_frames);
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
		frames_.add(queue_us + base_rtt(flows_[burst.flow]) * 1e-6);
		max_queue_us_ = std::max(max_queue_us_, queue_us);
	}
	count_sent(begin, burst.flow);
	bool last = ++burst.sent == burst.frames;
	Time serialization = (burst.frames - 1) * std::max(nic_frame_, burst.gap) +
			     nic_frame_;

	// Without the link's own frame time: that is in the base RTT.
	if (last || config_.coalescing.time_us > 0)
		schedule(begin + base_rtt(flows_[burst.flow]) / 2,
			 Kind::kArrival, burst.flow, last ? burst.frames : 0,
			 burst.handed + serialization);
	if (last)
		host.queue.pop_front();
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

// True: what waits at this NIC is to be processed now.
bool Simulation::gather(Receiver &receiver, const Event &event, Kind kind,
			int index)
{
	receiver.waiting.push_back({event.index, event.frames, event.handed});
	if (config_.coalescing.time_us <= 0 ||
	    static_cast<int>(receiver.waiting.size()) >=
		    config_.coalescing.frames)
		return true;
	if (receiver.waiting.size() == 1)
		schedule(now_ + ps(config_.coalescing.time_us * 1e-6), kind,
			 index, 0, receiver.interrupts);
	return false;
}

void Simulation::arrival(const Event &event)
{
	if (gather(receiver_, event, Kind::kInterrupt, 0))
		interrupt();
}

// One ACK a flow, for the newest burst that is complete.
void Simulation::interrupt()
{
	std::vector<Arrival> acks;

	receiver_.interrupts++;
	for (const Arrival &frame : receiver_.waiting) {
		auto same = [&](const Arrival &a) { return a.flow == frame.flow; };
		auto found = std::find_if(acks.begin(), acks.end(), same);

		if (!frame.frames)
			continue;
		if (found == acks.end()) {
			acks.push_back(frame);
			continue;
		}
		found->frames += frame.frames;
		found->handed = frame.handed;
	}
	receiver_.waiting.clear();
	for (const Arrival &a : acks) {
		Time base = base_rtt(flows_[a.flow]);

		schedule(now_ + base - base / 2, Kind::kAck, a.flow, a.frames,
			 a.handed);
	}
}

void Simulation::ack(const Event &event)
{
	int host = flows_[event.index].plan.host;

	if (gather(hosts_[host].acks, event, Kind::kAckInterrupt, host))
		ack_interrupt(host);
}

void Simulation::ack_interrupt(int host)
{
	std::vector<Arrival> acks;

	hosts_[host].acks.interrupts++;
	std::swap(acks, hosts_[host].acks.waiting);
	for (const Arrival &a : acks)
		completion(a.flow, a);
}

void Simulation::completion(int index, const Arrival &ack)
{
	Flow &flow = flows_[index];
	std::uniform_real_distribution<double> noise(0, config_.noise_us);
	double rtt_us = (now_ - std::min(now_, ack.handed)) * 1e-6;
	timely_outcome outcome;

	flow.outstanding -= ack.frames;
	flow.open_frames += ack.frames;
	flow.opened |= flow.open_frames >= window_frames(flow);
	if (!flow.active)
		return;
	if (now_ >= warmup_)
		samples_.add(rtt_us);
	if (config_.noise_us > 0)
		rtt_us += noise(random_);

	timely_sample sample = sample_of(flow);

	sample.now_ns = now_ / 1000;
	sample.rtt_ns = static_cast<u64>(rtt_us * 1000);
	sample.acked_bytes = static_cast<u32>(
		ack.frames * (config_.mtu + kEthernetBytes));
	sample.app_limited = !bulk(flow) && !flow.todo;
	timely_rate_sample(&flow.state, &config_.params, &sample, &outcome);
	if (!bulk(flow) && !flow.todo && !flow.outstanding)
		finish_request(index);
	if (flow.blocked)
		send(index);
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
	case Kind::kRequest:
		request(event.index);
		break;
	case Kind::kSend:
		send(event.index);
		break;
	case Kind::kFrame:
		frame(event.index);
		break;
	case Kind::kArrival:
		arrival(event);
		break;
	case Kind::kInterrupt:
		if (event.handed == receiver_.interrupts)
			interrupt();
		break;
	case Kind::kAck:
		ack(event);
		break;
	case Kind::kAckInterrupt:
		if (event.handed == hosts_[event.index].acks.interrupts)
			ack_interrupt(event.index);
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

	int bulk_flows = 0;

	for (const Flow &flow : flows_) {
		double bps = flow.window_frames * mss_ * 8.0 / window_s;

		result_.goodput_bps.push_back(bps);
		if (!bulk(flow))
			continue;
		bulk_flows++;
		sum += bps;
		squares += bps * bps;
		least = std::min(least, bps);
	}
	result_.utilization = busy_ / kPsPerSecond / window_s;
	result_.jain = squares > 0 ? sum * sum / (squares * bulk_flows) : 0;
	result_.min_share = sum > 0 ? least * bulk_flows / sum : 0;
	result_.sample_mean_us = samples_.mean();
	result_.sample_p50_us = samples_.percentile(0.5);
	result_.sample_p99_us = samples_.percentile(0.99);
	result_.frame_mean_us = frames_.mean();
	result_.frame_p50_us = frames_.percentile(0.5);
	result_.frame_p99_us = frames_.percentile(0.99);
	result_.max_queue_us = max_queue_us_;
	result_.drained_s = last_deep_ / kPsPerSecond;
	result_.bursts_per_s = bursts_ / window_s;
	result_.burst_bytes = bursts_ ? burst_frames_ * double(mss_) / bursts_
				      : 0;
	result_.request_mean_us = requests_.mean();
	result_.request_p99_us = requests_.percentile(0.99);
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
