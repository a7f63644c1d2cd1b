// SPDX-License-Identifier: GPL-2.0
#include "config.h"

#include "clock.h"
#include "config_reader.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>

namespace vload
{

namespace
{

using json = nlohmann::json;

constexpr uint64_t MAX_MESSAGE_BYTES = 1'000'000'000'000;
constexpr uint64_t MAX_PER_PAIR = 10'000;
constexpr uint64_t MAX_FANOUT = 100'000;
constexpr double MAX_RATE_BPS = 1e13;
// One datagram: the largest UDP payload over IPv4
constexpr uint32_t MAX_PING_BYTES = 65507;
// Pinger and sequence number
constexpr uint32_t MIN_PING_BYTES = 12;

struct Context {
	const ConfigPaths &paths;
	Config &config;
	std::map<std::string, HostIndex> host_index;
};

std::string item_path(const std::string &list, size_t index)
{
	return list + "[" + std::to_string(index) + "]";
}

void check_address(const ConfigReader &reader, const std::string &key, int family, const std::string &addr)
{
	unsigned char raw[sizeof(in6_addr)];

	if (!addr.empty() && inet_pton(family, addr.c_str(), raw) != 1)
		reader.fail_at(key, family == AF_INET ? "not an IPv4 address" : "not an IPv6 address");
}

HostConfig parse_host(const json &value, const std::string &name)
{
	ConfigReader reader(value, "hosts." + name);
	HostConfig host;

	host.name = name;
	host.netns = reader.text("netns", "");
	host.addr = reader.text("addr", "");
	host.addr6 = reader.text("addr6", "");
	if (host.netns.find('/') != std::string::npos || host.netns == "." || host.netns == "..")
		reader.fail_at("netns", "not a namespace name");
	check_address(reader, "addr", AF_INET, host.addr);
	check_address(reader, "addr6", AF_INET6, host.addr6);
	if (host.addr.empty() && host.addr6.empty())
		reader.fail_here("needs addr or addr6");
	reader.done();
	return host;
}

void parse_hosts(ConfigReader &top, Context &context)
{
	const json &hosts = top.need("hosts");

	if (!hosts.is_object() || hosts.empty())
		top.fail_at("hosts", "expected an object with at least one host");
	for (const auto &item : hosts.items()) {
		context.host_index[item.key()] = context.config.hosts.size();
		context.config.hosts.push_back(parse_host(item.value(), item.key()));
	}
}

ActionConfig parse_action(const json &value, const std::string &path)
{
	ConfigReader reader(value, path);
	ActionConfig action;

	action.time_ns = reader.time_ns("time_s", NS_PER_SEC);
	if (reader.has("write") == reader.has("run"))
		reader.fail_here("needs either write or run");
	if (reader.has("write")) {
		action.write_path = reader.text("write");
		action.text = reader.text("text");
		if (action.write_path.empty())
			reader.fail_at("write", "empty path");
	} else {
		action.run = reader.text("run");
	}
	reader.done();
	return action;
}

HostIndex lookup_host(const json &value, const std::string &path, const Context &context)
{
	if (!value.is_string())
		ConfigReader::fail(path, "expected the name of a host");
	auto found = context.host_index.find(value.get<std::string>());
	if (found == context.host_index.end())
		ConfigReader::fail(path, "no host named `" + value.get<std::string>() + "'");
	return found->second;
}

// A list of names, or one name
std::vector<HostIndex> parse_host_list(ConfigReader &reader, const std::string &key, const Context &context)
{
	const json &value = reader.need(key);
	std::vector<HostIndex> hosts;

	if (value.is_string()) {
		hosts.push_back(lookup_host(value, reader.path_of(key), context));
		return hosts;
	}
	if (!value.is_array() || value.empty())
		reader.fail_at(key, "expected a host or a list of hosts");
	for (size_t i = 0; i < value.size(); i++) {
		HostIndex host = lookup_host(value[i], item_path(reader.path_of(key), i), context);
		if (std::find(hosts.begin(), hosts.end(), host) != hosts.end())
			ConfigReader::fail(item_path(reader.path_of(key), i), "named twice");
		hosts.push_back(host);
	}
	return hosts;
}

std::vector<HostPair> parse_pairs(ConfigReader &reader, const Context &context)
{
	auto from = parse_host_list(reader, "from", context);
	auto to = parse_host_list(reader, "to", context);
	std::string pairing = reader.text("pairing", "all");
	std::vector<HostPair> pairs;

	if (pairing == "zip") {
		if (from.size() != to.size())
			reader.fail_at("pairing", "zip needs as many hosts in `from' as in `to'");
		for (size_t i = 0; i < from.size(); i++)
			pairs.emplace_back(from[i], to[i]);
	} else if (pairing == "all") {
		for (HostIndex source : from)
			for (HostIndex sink : to)
				pairs.emplace_back(source, sink);
	} else {
		reader.fail_at("pairing", "expected all or zip");
	}
	std::erase_if(pairs, [](const HostPair &pair) { return pair.first == pair.second; });
	if (pairs.empty())
		reader.fail_here("no pair of two different hosts");
	return pairs;
}

LongConfig parse_long(ConfigReader &reader, const Context &context, LoadConfig &load)
{
	LongConfig kind;

	kind.pairs = parse_pairs(reader, context);
	kind.per_pair = static_cast<uint32_t>(reader.integer("per_pair", 1, MAX_PER_PAIR, 1));
	kind.spread_ns = reader.time_ns("spread_us", NS_PER_US, 0);
	if (reader.has("stop_count")) {
		kind.stop_count = static_cast<uint32_t>(reader.integer("stop_count", 1, UINT32_MAX));
		if (load.stop_ns == NEVER_NS)
			reader.fail_at("stop_count", "needs stop_s");
	}
	std::string mode = reader.text("stop_mode", "abort");
	if (mode != "abort" && mode != "drain")
		reader.fail_at("stop_mode", "expected abort or drain");
	kind.stop_mode = mode == "abort" ? StopMode::ABORT : StopMode::DRAIN;
	if (reader.has("write_bytes") != reader.has("write_interval_us"))
		reader.fail_here("write_bytes and write_interval_us go together");
	if (reader.has("write_bytes")) {
		kind.write_bytes = reader.integer("write_bytes", 1, MAX_MESSAGE_BYTES);
		kind.write_interval_ns = reader.time_ns("write_interval_us", NS_PER_US);
		if (kind.write_interval_ns == 0)
			reader.fail_at("write_interval_us", "must be above 0");
	}
	if (const json *pause = reader.find("reader_pause")) {
		ConfigReader inner(*pause, reader.path_of("reader_pause"));
		kind.reader_pause = {inner.time_ns("at_s", NS_PER_SEC), inner.time_ns("for_s", NS_PER_SEC)};
		inner.done();
	}
	if (reader.has("bytes"))
		kind.bytes = reader.integer("bytes", 1, MAX_MESSAGE_BYTES);
	if (kind.bytes && kind.write_bytes)
		reader.fail_at("bytes", "not together with write_bytes");
	return kind;
}

IncastConfig parse_incast(ConfigReader &reader, const Context &context)
{
	IncastConfig kind;

	kind.to = parse_host_list(reader, "to", context);
	kind.from = parse_host_list(reader, "from", context);
	// A client does not serve itself, but may serve others.
	bool serves = std::ranges::any_of(kind.to, [&](HostIndex host) { return std::ranges::count(kind.from, host); });
	size_t servers = kind.from.size() - serves;
	if (!servers)
		reader.fail_at("from", "no server other than the client");
	kind.fanout = static_cast<uint32_t>(reader.integer("fanout", 1, MAX_FANOUT, servers));
	kind.bytes = reader.integer("bytes", 1, MAX_MESSAGE_BYTES);
	kind.request_bytes = reader.integer("request_bytes", 0, MAX_MESSAGE_BYTES, 0);
	kind.period_ns = reader.time_ns("period_us", NS_PER_US, 0);
	kind.poisson = reader.boolean("poisson", false);
	if (kind.poisson && !kind.period_ns)
		reader.fail_at("poisson", "needs period_us, the mean gap");
	kind.jitter_ns = reader.time_ns("jitter_us", NS_PER_US, 0);
	kind.rounds = reader.integer("rounds", 0, UINT32_MAX, 0);
	kind.persistent = reader.boolean("persistent", true);
	return kind;
}

RpcConfig parse_rpc(ConfigReader &reader, const Context &context)
{
	RpcConfig kind;

	kind.pairs = parse_pairs(reader, context);
	kind.per_pair = static_cast<uint32_t>(reader.integer("per_pair", 1, MAX_PER_PAIR, 1));
	kind.request_bytes = reader.integer("request_bytes", 1, MAX_MESSAGE_BYTES);
	kind.response_bytes = reader.integer("response_bytes", 1, MAX_MESSAGE_BYTES);
	kind.interval_ns = reader.time_ns("interval_us", NS_PER_US, 0);
	// An open loop has no bound unless one is asked for.
	kind.outstanding = static_cast<uint32_t>(
		reader.integer("outstanding", 0, MAX_FANOUT, kind.interval_ns ? 0 : 1));
	if (!kind.interval_ns && !kind.outstanding)
		reader.fail_at("outstanding", "a closed loop (interval_us 0) needs at least 1");
	kind.poisson = reader.boolean("poisson", false);
	if (kind.poisson && !kind.interval_ns)
		reader.fail_at("poisson", "needs interval_us, the mean gap");
	kind.spread_ns = reader.time_ns("spread_us", NS_PER_US, 0);
	return kind;
}

std::string sizes_path(const std::string &name, const ConfigPaths &paths)
{
	if (name.starts_with('/'))
		return name;
	const std::string &dir = name.find('/') == std::string::npos ? paths.sizes_dir : paths.config_dir;
	return dir.empty() ? name : dir + "/" + name;
}

void parse_sizes(ConfigReader &reader, const Context &context, PoissonConfig &kind)
{
	if (reader.need("sizes").is_number()) {
		kind.sizes = SizeDist::fixed(reader.integer("sizes", 1, MAX_MESSAGE_BYTES));
		return;
	}
	std::string name = reader.text("sizes");
	if (name.empty())
		reader.fail_at("sizes", "empty name");
	kind.sizes_path = sizes_path(name, context.paths);
	try {
		kind.sizes = SizeDist::load(kind.sizes_path);
	} catch (const SizesError &error) {
		reader.fail_at("sizes", error.what());
	}
}

void parse_poisson_hosts(ConfigReader &reader, const Context &context, PoissonConfig &kind)
{
	if (reader.has("hosts")) {
		if (reader.has("from") || reader.has("to"))
			reader.fail_at("hosts", "stands for both from and to");
		kind.from = kind.to = parse_host_list(reader, "hosts", context);
	} else {
		kind.from = parse_host_list(reader, "from", context);
		kind.to = parse_host_list(reader, "to", context);
	}
	std::string pattern = reader.text("pattern", "all-to-all");
	if (pattern != "all-to-all" && pattern != "permutation")
		reader.fail_at("pattern", "expected all-to-all or permutation");
	kind.pattern = pattern == "permutation" ? Pattern::PERMUTATION : Pattern::ALL_TO_ALL;
	if (kind.pattern == Pattern::PERMUTATION && (kind.from != kind.to || kind.from.size() < 2))
		reader.fail_at("pattern", "a permutation is of two or more `hosts'");
	for (HostIndex source : kind.from)
		if (kind.to.size() == 1 && kind.to.front() == source)
			reader.fail_here("host `" + context.config.hosts[source].name + "' has nobody to send to");
}

PoissonConfig parse_poisson(ConfigReader &reader, const Context &context)
{
	PoissonConfig kind;

	parse_poisson_hosts(reader, context, kind);
	parse_sizes(reader, context, kind);
	kind.load = reader.number("load", 1e-9, 10);
	kind.rate_bps = reader.number("rate_bps", 1, MAX_RATE_BPS);
	kind.persistent = reader.boolean("persistent", true);
	kind.per_pair = static_cast<uint32_t>(reader.integer("per_pair", 0, MAX_PER_PAIR, 1));
	kind.max_messages = reader.integer("max_messages", 0, UINT32_MAX, 0);
	return kind;
}

PingConfig parse_ping(ConfigReader &reader, const Context &context)
{
	PingConfig kind;

	kind.pairs = parse_pairs(reader, context);
	kind.per_pair = static_cast<uint32_t>(reader.integer("per_pair", 1, MAX_PER_PAIR, 1));
	kind.interval_ns = reader.time_ns("interval_us", NS_PER_US);
	if (kind.interval_ns == 0)
		reader.fail_at("interval_us", "must be above 0");
	kind.bytes = static_cast<uint32_t>(reader.integer("bytes", MIN_PING_BYTES, MAX_PING_BYTES, 64));
	kind.poisson = reader.boolean("poisson", false);
	kind.reply = reader.boolean("reply", true);
	return kind;
}

SocketConfig parse_socket(ConfigReader &reader, bool is_tcp)
{
	SocketConfig socket;

	socket.family = static_cast<int>(reader.integer("family", 4, 6, 4));
	if (socket.family == 5)
		reader.fail_at("family", "expected 4 or 6");
	if (reader.has("dscp"))
		socket.dscp = static_cast<int>(reader.integer("dscp", 0, 63));
	if (reader.has("sndbuf_bytes"))
		socket.sndbuf_bytes = static_cast<int>(reader.integer("sndbuf_bytes", 1, 1 << 30));
	if (reader.has("rcvbuf_bytes"))
		socket.rcvbuf_bytes = static_cast<int>(reader.integer("rcvbuf_bytes", 1, 1 << 30));
	if (!is_tcp)
		return socket;
	socket.cc = reader.text("cc", "");
	// TCP_CA_NAME_MAX with its end
	if (socket.cc.size() > 15)
		reader.fail_at("cc", "name longer than 15 characters");
	if (reader.has("notsent_lowat_bytes"))
		socket.notsent_lowat_bytes =
			static_cast<uint32_t>(reader.integer("notsent_lowat_bytes", 1, UINT32_MAX));
	if (reader.has("max_pacing_bps"))
		socket.max_pacing_bps = reader.integer("max_pacing_bps", 8, static_cast<uint64_t>(MAX_RATE_BPS));
	return socket;
}

void check_family(const ConfigReader &reader, const Context &context, const LoadConfig &load)
{
	auto check = [&](HostIndex index) {
		const HostConfig &host = context.config.hosts[index];
		if (load.socket.family == 6 ? host.addr6.empty() : host.addr.empty())
			reader.fail_at("family", "host `" + host.name + "' has no " +
							 (load.socket.family == 6 ? "addr6" : "addr"));
	};
	auto check_pairs = [&](const std::vector<HostPair> &pairs) {
		for (const HostPair &pair : pairs) {
			check(pair.first);
			check(pair.second);
		}
	};

	if (auto *kind = std::get_if<LongConfig>(&load.kind)) {
		check_pairs(kind->pairs);
	} else if (auto *kind = std::get_if<RpcConfig>(&load.kind)) {
		check_pairs(kind->pairs);
	} else if (auto *kind = std::get_if<PingConfig>(&load.kind)) {
		check_pairs(kind->pairs);
	} else if (auto *kind = std::get_if<IncastConfig>(&load.kind)) {
		std::for_each(kind->from.begin(), kind->from.end(), check);
		std::for_each(kind->to.begin(), kind->to.end(), check);
	} else if (auto *kind = std::get_if<PoissonConfig>(&load.kind)) {
		std::for_each(kind->from.begin(), kind->from.end(), check);
		std::for_each(kind->to.begin(), kind->to.end(), check);
	}
}

LoadConfig parse_load(const json &value, const std::string &path, int64_t sample_interval_ns,
		      const Context &context)
{
	ConfigReader reader(value, path);
	LoadConfig load;
	std::string type = reader.text("type");
	bool is_tcp = type != "ping";

	load.name = reader.text("name", type);
	load.socket = parse_socket(reader, is_tcp);
	load.start_ns = reader.time_ns("start_s", NS_PER_SEC, 0);
	load.stop_ns = reader.time_ns("stop_s", NS_PER_SEC, NEVER_NS);
	if (load.stop_ns <= load.start_ns)
		reader.fail_at("stop_s", "must be after start_s");
	load.samples = reader.boolean("samples", true);
	if (is_tcp)
		load.sample_interval_ns = reader.time_ns("sample_interval_us", NS_PER_US, sample_interval_ns);
	if (type == "long")
		load.kind = parse_long(reader, context, load);
	else if (type == "incast")
		load.kind = parse_incast(reader, context);
	else if (type == "rpc")
		load.kind = parse_rpc(reader, context);
	else if (type == "poisson")
		load.kind = parse_poisson(reader, context);
	else if (type == "ping")
		load.kind = parse_ping(reader, context);
	else
		reader.fail_at("type", "expected long, incast, rpc, poisson or ping");
	reader.done();
	check_family(reader, context, load);
	return load;
}

void parse_loads(ConfigReader &top, int64_t sample_interval_ns, Context &context)
{
	const json &loads = top.need_array("loads");
	std::set<std::string> names;

	for (size_t i = 0; i < loads.size(); i++) {
		std::string path = item_path("loads", i);
		LoadConfig load = parse_load(loads[i], path, sample_interval_ns, context);
		if (!names.insert(load.name).second)
			ConfigReader::fail(path + ".name", "`" + load.name + "' is taken by another load");
		context.config.loads.push_back(std::move(load));
	}
}

// The library's own message names a byte; people look for lines.
json parse_text(const std::string &text)
{
	try {
		return json::parse(text);
	} catch (const json::parse_error &error) {
		size_t end = std::min(error.byte ? error.byte - 1 : 0, text.size());
		auto begin = text.begin();
		auto line = 1 + std::count(begin, begin + static_cast<ptrdiff_t>(end), '\n');
		size_t line_start = end ? text.rfind('\n', end - 1) : std::string::npos;
		size_t column = end - (line_start == std::string::npos ? 0 : line_start + 1) + 1;
		throw ConfigError("line " + std::to_string(line) + ", column " + std::to_string(column) +
				  ": not valid JSON");
	} catch (const json::out_of_range &) {
		// of a number, and the library does not say where
		throw ConfigError("a number is too large");
	}
}

} // namespace

const char *load_type_name(const LoadConfig &load)
{
	static const char *const names[] = {"long", "incast", "rpc", "poisson", "ping"};

	return names[load.kind.index()];
}

Config config_parse(const std::string &text, const ConfigPaths &paths)
{
	Config config;
	Context context{paths, config, {}};

	config.source = parse_text(text);
	ConfigReader top(config.source, "");
	config.seed = top.integer("seed", 0, UINT64_MAX, 1);
	config.duration_ns = top.time_ns("duration_s", NS_PER_SEC);
	if (config.duration_ns == 0)
		top.fail_at("duration_s", "must be above 0");
	config.warmup_ns = top.time_ns("warmup_s", NS_PER_SEC, 0);
	if (config.warmup_ns >= config.duration_ns)
		top.fail_at("warmup_s", "must be before duration_s");
	config.drain_ns = top.time_ns("drain_s", NS_PER_SEC, 0);
	int64_t sample_interval_ns = top.time_ns("sample_interval_us", NS_PER_US, 0);
	parse_hosts(top, context);
	if (top.has("actions")) {
		const json &actions = top.need_array("actions");
		for (size_t i = 0; i < actions.size(); i++)
			config.actions.push_back(parse_action(actions[i], item_path("actions", i)));
	}
	parse_loads(top, sample_interval_ns, context);
	top.done();
	return config;
}

} // namespace vload
