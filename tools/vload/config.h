// SPDX-License-Identifier: GPL-2.0
//
// The configuration as the loads see it: checked, in ns and bytes, host names resolved to indexes.
// Documentation/vload.rst describes the file; config_parse() is the only reader of it.
#pragma once

#include "sizes.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace vload
{

// what() is `JSON.path: reason`
struct ConfigError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

constexpr int64_t NEVER_NS = std::numeric_limits<int64_t>::max();

struct HostConfig {
	std::string name;
	std::string netns; // empty: the namespace vload was started in
	std::string addr;
	std::string addr6;
};

struct ActionConfig {
	int64_t time_ns = 0;
	std::string write_path; // empty: run is a shell command
	std::string text;
	std::string run;
};

using HostIndex = size_t;
using HostPair = std::pair<HostIndex, HostIndex>;

struct SocketConfig {
	int family = 4;
	std::string cc;
	std::optional<int> dscp;
	std::optional<int> sndbuf_bytes;
	std::optional<int> rcvbuf_bytes;
	std::optional<uint32_t> notsent_lowat_bytes;
	std::optional<uint64_t> max_pacing_bps;
};

struct ReaderPause {
	int64_t at_ns = 0;
	int64_t for_ns = 0;
};

enum class StopMode { ABORT, DRAIN };

struct LongConfig {
	std::vector<HostPair> pairs;
	uint32_t per_pair = 1;
	int64_t spread_ns = 0;
	std::optional<uint32_t> stop_count;
	StopMode stop_mode = StopMode::ABORT;
	uint64_t write_bytes = 0; // 0: always backlogged
	int64_t write_interval_ns = 0;
	std::optional<ReaderPause> reader_pause;
	std::optional<uint64_t> bytes;
};

struct IncastConfig {
	std::vector<HostIndex> to; // clients, each with rounds of its own
	std::vector<HostIndex> from;
	uint32_t fanout = 1;
	uint64_t bytes = 0;
	uint64_t request_bytes = 0; // 0: the servers start by themselves, at the same instant
	int64_t period_ns = 0;	    // 0: a round starts when the one before is complete
	bool poisson = false;	    // period_ns is the mean of exponential gaps
	int64_t jitter_ns = 0;
	uint64_t rounds = 0; // 0: no end
	bool persistent = true;
};

struct RpcConfig {
	std::vector<HostPair> pairs;
	uint32_t per_pair = 1;
	uint64_t request_bytes = 0;
	uint64_t response_bytes = 0;
	uint32_t outstanding = 1; // 0: no bound
	int64_t interval_ns = 0;  // 0: closed loop
	bool poisson = false;
	int64_t spread_ns = 0;
};

enum class Pattern { ALL_TO_ALL, PERMUTATION };

struct PoissonConfig {
	std::vector<HostIndex> from;
	std::vector<HostIndex> to;
	Pattern pattern = Pattern::ALL_TO_ALL;
	SizeDist sizes = SizeDist::fixed(1);
	std::string sizes_path;
	double load = 0;
	double rate_bps = 0;
	bool persistent = true;
	uint32_t per_pair = 1;
	uint64_t max_messages = 0; // 0: no bound
};

struct PingConfig {
	std::vector<HostPair> pairs;
	uint32_t per_pair = 1;
	int64_t interval_ns = 0;
	uint32_t bytes = 64;
	bool poisson = false;
	bool reply = true;
};

struct LoadConfig {
	std::string name;
	SocketConfig socket;
	int64_t start_ns = 0;
	int64_t stop_ns = NEVER_NS;
	int64_t sample_interval_ns = 0;
	bool samples = true;
	std::variant<LongConfig, IncastConfig, RpcConfig, PoissonConfig, PingConfig> kind;
};

const char *load_type_name(const LoadConfig &load);

struct Config {
	nlohmann::json source; // as read, for the result
	uint64_t seed = 1;
	int64_t duration_ns = 0;
	int64_t warmup_ns = 0;
	int64_t drain_ns = 0;
	std::vector<HostConfig> hosts;
	std::vector<ActionConfig> actions;
	std::vector<LoadConfig> loads;
};

// Where the size distributions of poisson loads are looked for.
struct ConfigPaths {
	std::string sizes_dir;	 // bare names
	std::string config_dir;	 // relative paths
};

Config config_parse(const std::string &text, const ConfigPaths &paths);

} // namespace vload
