// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include "actions.h"
#include "counters.h"
#include "load.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

namespace vload
{

namespace
{

constexpr int64_t CONNECT_LIMIT_NS = 60 * NS_PER_SEC;
constexpr int PROGRESS_STEPS = 10;

class Run {
public:
	Run(const Config &config, bool show_progress);

	nlohmann::ordered_json operator()();

private:
	void prepare();
	void schedule();
	void schedule_progress();
	void end_window();
	bool is_ready() const;
	bool is_drained() const;
	nlohmann::ordered_json result() const;

	const Config &config_;
	bool show_progress_;
	Network network_;
	Loop loop_;
	HostCounters counters_;
	Actions actions_;
	std::vector<std::unique_ptr<Load>> loads_;
	Window window_;
	bool started_ = false;
	bool closing_ = false;
	bool time_is_up_ = false;
	int64_t end_ns_ = 0;
};

Run::Run(const Config &config, bool show_progress)
	: config_(config), show_progress_(show_progress), network_(config.hosts, config.seed), counters_(network_),
	  actions_(config.actions, network_, loop_)
{
	for (size_t i = 0; i < config.loads.size(); i++)
		loads_.push_back(Load::make(config.loads[i], network_, loop_, Rng(config.seed, i)));
}

bool Run::is_ready() const
{
	return std::all_of(loads_.begin(), loads_.end(), [](const auto &load) { return load->is_ready(); });
}

bool Run::is_drained() const
{
	return std::all_of(loads_.begin(), loads_.end(), [](const auto &load) { return load->is_drained(); });
}

void Run::prepare()
{
	loop_.at(loop_.now_ns() + CONNECT_LIMIT_NS, [this] {
		if (!started_)
			throw RuntimeError("connections are not up after 60 s");
	});
	for (const auto &load : loads_)
		load->prepare();
	while (!is_ready())
		loop_.run();
	started_ = true;
}

void Run::schedule_progress()
{
	for (int step = 1; step <= PROGRESS_STEPS; step++) {
		int64_t when_ns = config_.duration_ns / PROGRESS_STEPS * step;
		loop_.at(window_.zero_ns + when_ns, [step, when_ns] {
			std::fprintf(stderr, "vload: %3d%% (%.6f s)\n", step * 100 / PROGRESS_STEPS,
				     static_cast<double>(when_ns) / 1e9);
		});
	}
}

void Run::schedule()
{
	loop_.forget_now();
	window_ = {loop_.now_ns(), config_.warmup_ns, config_.duration_ns};
	loop_.at(window_.zero_ns + window_.begin_ns, [this] {
		counters_.open_window();
		for (const auto &load : loads_)
			load->open_window();
	});
	actions_.start(window_.zero_ns);
	for (const auto &load : loads_)
		load->start(window_);
	if (show_progress_)
		schedule_progress();
	loop_.at(window_.zero_ns + window_.end_ns, [this] { end_window(); });
}

void Run::end_window()
{
	counters_.close_window();
	for (const auto &load : loads_)
		load->close_window();
	closing_ = true;
	if (!config_.drain_ns || is_drained()) {
		time_is_up_ = true;
		loop_.stop();
		return;
	}
	loop_.at(window_.zero_ns + window_.end_ns + config_.drain_ns, [this] {
		time_is_up_ = true;
		loop_.stop();
	});
}

nlohmann::ordered_json Run::operator()()
{
	prepare();
	schedule();
	// A load that has drained stops the loop to have all of them looked at.
	do {
		loop_.run();
	} while (!time_is_up_ && !(closing_ && is_drained()));
	end_ns_ = loop_.now_ns() - window_.zero_ns;
	actions_.stop();
	for (const auto &load : loads_)
		load->shut_down();
	return result();
}

nlohmann::ordered_json Run::result() const
{
	nlohmann::ordered_json json;
	auto loads = nlohmann::ordered_json::array();

	for (const auto &load : loads_)
		loads.push_back(load->result());
	json["vload"] = TURNPIKE_VERSION;
	json["config"] = config_.source;
	json["zero_ns"] = window_.zero_ns;
	json["time_s"] = static_cast<double>(end_ns_) / 1e9;
	json["window_s"] = {static_cast<double>(window_.begin_ns) / 1e9, static_cast<double>(window_.end_ns) / 1e9};
	json["hosts"] = counters_.result();
	json["actions"] = actions_.result();
	json["loads"] = std::move(loads);
	return json;
}

// Each connection takes two descriptors here, and thousands of connections are usual.
void raise_descriptor_limit()
{
	rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	rlimit wanted{1 << 20, 1 << 20};
	if (setrlimit(RLIMIT_NOFILE, &wanted) == 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

nlohmann::ordered_json run(const Config &config, bool show_progress)
{
	raise_descriptor_limit();
	return Run(config, show_progress)();
}

} // namespace vload
