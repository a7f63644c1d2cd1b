// SPDX-License-Identifier: GPL-2.0
#include "config.h"

#include <gtest/gtest.h>

using namespace vload;
using json = nlohmann::json;

namespace
{

const ConfigPaths paths = {VLOAD_SIZES_DIR, "/nonexistent"};

json base(json load)
{
	return {{"duration_s", 1},
		{"hosts",
		 {{"a", {{"addr", "10.0.0.1"}, {"addr6", "fd00::1"}}},
		  {"b", {{"addr", "10.0.0.2"}, {"netns", "b"}}},
		  {"c", {{"addr", "10.0.0.3"}}}}},
		{"loads", json::array({std::move(load)})}};
}

json long_load()
{
	return {{"type", "long"}, {"from", "a"}, {"to", "b"}};
}

Config parse(const json &config)
{
	return config_parse(config.dump(), paths);
}

std::string error_of_text(const std::string &text)
{
	try {
		config_parse(text, paths);
	} catch (const ConfigError &error) {
		return error.what();
	}
	return "accepted";
}

std::string error_of(const json &config)
{
	return error_of_text(config.dump());
}

// The error of a load with some members changed
std::string load_error(json load, const json &changes)
{
	load.update(changes);
	return error_of(base(load));
}

const json incast = {{"type", "incast"}, {"from", {"a", "b"}}, {"to", "c"}, {"bytes", 32768}};
const json rpc = {{"type", "rpc"}, {"from", "a"}, {"to", "b"}, {"request_bytes", 1}, {"response_bytes", 2}};
const json poisson = {
	{"type", "poisson"}, {"hosts", {"a", "b", "c"}}, {"sizes", "WebSearch"}, {"load", 0.4}, {"rate_bps", 1e10}};
const json ping = {{"type", "ping"}, {"from", "a"}, {"to", "b"}, {"interval_us", 10}};

} // namespace

TEST(vload_config, parse__units_and_defaults)
{
	json source = base(long_load());
	source["duration_s"] = 0.5;
	source["warmup_s"] = 0.1;
	source["seed"] = 18446744073709551615u;
	Config config = parse(source);

	EXPECT_EQ(config.seed, UINT64_MAX);
	EXPECT_EQ(config.duration_ns, 500'000'000);
	EXPECT_EQ(config.warmup_ns, 100'000'000);
	EXPECT_EQ(config.drain_ns, 0);
	ASSERT_EQ(config.hosts.size(), 3u);
	EXPECT_EQ(config.hosts[1].netns, "b");
	ASSERT_EQ(config.loads.size(), 1u);
	EXPECT_EQ(config.loads[0].name, "long");
	EXPECT_EQ(config.loads[0].socket.family, 4);
	EXPECT_EQ(config.loads[0].stop_ns, NEVER_NS);
	EXPECT_STREQ(load_type_name(config.loads[0]), "long");
}

TEST(vload_config, parse__null_is_absent)
{
	json load = long_load();
	load["stop_s"] = nullptr;
	load["cc"] = nullptr;

	EXPECT_EQ(parse(base(load)).loads[0].stop_ns, NEVER_NS);
}

TEST(vload_config, parse__whole_float_is_an_integer)
{
	json load = long_load();
	load["max_pacing_bps"] = 1e9;

	EXPECT_EQ(parse(base(load)).loads[0].socket.max_pacing_bps, 1'000'000'000u);
}

TEST(vload_config, parse__all_pairs_but_a_host_with_itself)
{
	json load = long_load();
	load["from"] = {"a", "b", "c"};
	load["to"] = {"b", "c"};

	EXPECT_EQ(std::get<LongConfig>(parse(base(load)).loads[0].kind).pairs.size(), 4u);
}

TEST(vload_config, parse__zip_pairs)
{
	json load = long_load();
	load["from"] = {"a", "b"};
	load["to"] = {"b", "c"};
	load["pairing"] = "zip";
	auto pairs = std::get<LongConfig>(parse(base(load)).loads[0].kind).pairs;

	ASSERT_EQ(pairs.size(), 2u);
	EXPECT_EQ(pairs[1], HostPair(1, 2));
	load["to"] = {"b"};
	EXPECT_EQ(error_of(base(load)), "loads[0].pairing: zip needs as many hosts in `from' as in `to'");
}

TEST(vload_config, parse__every_type_of_load)
{
	for (const json &load : {incast, rpc, poisson, ping})
		EXPECT_EQ(error_of(base(load)), "accepted") << load;
	EXPECT_EQ(std::get<IncastConfig>(parse(base(incast)).loads[0].kind).fanout, 2u);
	EXPECT_NEAR(std::get<PoissonConfig>(parse(base(poisson)).loads[0].kind).sizes.mean_bytes(), 1.7e6, 1e5);
}

TEST(vload_config, parse__not_json)
{
	EXPECT_EQ(error_of_text("{\n  \"seed\": 1,\n  oops\n}"), "line 3, column 3: not valid JSON");
	EXPECT_EQ(error_of_text(""), "line 1, column 1: not valid JSON");
	EXPECT_EQ(error_of_text("[]"), "(top level): expected an object");
	EXPECT_EQ(error_of_text("{\"seed\": 1e999}"), "a number is too large");
}

TEST(vload_config, parse__top_level_errors)
{
	json config = base(long_load());

	config["typo"] = 1;
	EXPECT_EQ(error_of(config), "typo: unknown member");
	config = base(long_load());
	config.erase("duration_s");
	EXPECT_EQ(error_of(config), "duration_s: missing");
	config["duration_s"] = "1";
	EXPECT_EQ(error_of(config), "duration_s: expected a number");
	config["duration_s"] = 0;
	EXPECT_EQ(error_of(config), "duration_s: must be above 0");
	config["duration_s"] = -1;
	EXPECT_EQ(error_of(config), "duration_s: out of range (0 to 1000000)");
	config["duration_s"] = 1;
	config["warmup_s"] = 1;
	EXPECT_EQ(error_of(config), "warmup_s: must be before duration_s");
	config["warmup_s"] = 0;
	config["seed"] = -1;
	EXPECT_EQ(error_of(config), "seed: out of range (0 to 18446744073709551615)");
	config["seed"] = 1.5;
	EXPECT_EQ(error_of(config), "seed: expected a whole number");
}

TEST(vload_config, parse__host_errors)
{
	json config = base(long_load());

	config["hosts"]["b"] = {{"netns", "b"}};
	EXPECT_EQ(error_of(config), "hosts.b: needs addr or addr6");
	config["hosts"]["b"] = {{"addr", "10.0.0.256"}};
	EXPECT_EQ(error_of(config), "hosts.b.addr: not an IPv4 address");
	config["hosts"]["b"] = {{"addr6", "10.0.0.2"}};
	EXPECT_EQ(error_of(config), "hosts.b.addr6: not an IPv6 address");
	config["hosts"]["b"] = {{"addr", "10.0.0.2"}, {"netns", "../b"}};
	EXPECT_EQ(error_of(config), "hosts.b.netns: not a namespace name");
	config["hosts"] = json::object();
	EXPECT_EQ(error_of(config), "hosts: expected an object with at least one host");
}

TEST(vload_config, parse__action_errors)
{
	json config = base(long_load());

	config["actions"] = {{{"time_s", 0.1}}};
	EXPECT_EQ(error_of(config), "actions[0]: needs either write or run");
	config["actions"] = {{{"time_s", 0.1}, {"run", "true"}, {"write", "x"}, {"text", ""}}};
	EXPECT_EQ(error_of(config), "actions[0]: needs either write or run");
	config["actions"] = {{{"time_s", 0.1}, {"write", "x"}}};
	EXPECT_EQ(error_of(config), "actions[0].text: missing");
	config["actions"] = {{{"time_s", 0.1}, {"run", "true"}, {"text", "x"}}};
	EXPECT_EQ(error_of(config), "actions[0].text: unknown member");
}

TEST(vload_config, parse__common_load_errors)
{
	json load = long_load();

	EXPECT_EQ(load_error(load, {{"type", "short"}}),
		  "loads[0].type: expected long, incast, rpc, poisson or ping");
	EXPECT_EQ(load_error(load, {{"perpair", 1}}), "loads[0].perpair: unknown member");
	EXPECT_EQ(load_error(load, {{"from", "z"}}), "loads[0].from: no host named `z'");
	EXPECT_EQ(load_error(load, {{"from", {"a", 1}}}), "loads[0].from[1]: expected the name of a host");
	EXPECT_EQ(load_error(load, {{"from", {"a", "a"}}}), "loads[0].from[1]: named twice");
	EXPECT_EQ(load_error(load, {{"to", "a"}}), "loads[0]: no pair of two different hosts");
	EXPECT_EQ(load_error(load, {{"family", 5}}), "loads[0].family: expected 4 or 6");
	EXPECT_EQ(load_error(load, {{"family", 6}}), "loads[0].family: host `b' has no addr6");
	EXPECT_EQ(load_error(load, {{"dscp", 64}}), "loads[0].dscp: out of range (0 to 63)");
	EXPECT_EQ(load_error(load, {{"start_s", 1}, {"stop_s", 0.5}}), "loads[0].stop_s: must be after start_s");
	EXPECT_EQ(load_error(load, {{"cc", "a_name_of_sixteen"}}),
		  "loads[0].cc: name longer than 15 characters");
	EXPECT_EQ(load_error(ping, {{"cc", "cubic"}}), "loads[0].cc: unknown member");
}

TEST(vload_config, parse__two_loads_of_one_name)
{
	json config = base(long_load());
	config["loads"].push_back(long_load());

	EXPECT_EQ(error_of(config), "loads[1].name: `long' is taken by another load");
}

TEST(vload_config, parse__long_errors)
{
	json load = long_load();

	EXPECT_EQ(load_error(load, {{"per_pair", 0}}), "loads[0].per_pair: out of range (1 to 10000)");
	EXPECT_EQ(load_error(load, {{"stop_count", 1}}), "loads[0].stop_count: needs stop_s");
	EXPECT_EQ(load_error(load, {{"stop_mode", "kill"}}), "loads[0].stop_mode: expected abort or drain");
	EXPECT_EQ(load_error(load, {{"write_bytes", 1}}),
		  "loads[0]: write_bytes and write_interval_us go together");
	EXPECT_EQ(load_error(load, {{"write_bytes", 1}, {"write_interval_us", 0}}),
		  "loads[0].write_interval_us: must be above 0");
	EXPECT_EQ(load_error(load, {{"write_bytes", 1}, {"write_interval_us", 1}, {"bytes", 1}}),
		  "loads[0].bytes: not together with write_bytes");
	EXPECT_EQ(load_error(load, {{"reader_pause", {{"at_s", 1}}}}), "loads[0].reader_pause.for_s: missing");
}

TEST(vload_config, parse__incast_with_several_clients)
{
	json load = incast;

	load["from"] = load["to"] = {"a", "b", "c"};
	EXPECT_EQ(std::get<IncastConfig>(parse(base(load)).loads[0].kind).to.size(), 3u);
	// each has two others
	EXPECT_EQ(std::get<IncastConfig>(parse(base(load)).loads[0].kind).fanout, 2u);
}

TEST(vload_config, parse__incast_errors)
{
	EXPECT_EQ(load_error(incast, {{"from", {"c"}}}), "loads[0].from: no server other than the client");
	EXPECT_EQ(load_error(incast, {{"to", {"c", "c"}}}), "loads[0].to[1]: named twice");
	EXPECT_EQ(load_error(incast, {{"poisson", true}}), "loads[0].poisson: needs period_us, the mean gap");
	EXPECT_EQ(load_error(incast, {{"bytes", 0}}), "loads[0].bytes: out of range (1 to 1000000000000)");
}

TEST(vload_config, parse__rpc_errors)
{
	EXPECT_EQ(load_error(rpc, {{"outstanding", 0}}),
		  "loads[0].outstanding: a closed loop (interval_us 0) needs at least 1");
	EXPECT_EQ(load_error(rpc, {{"poisson", true}}), "loads[0].poisson: needs interval_us, the mean gap");
	EXPECT_EQ(load_error(rpc, {{"poisson", 1}}), "loads[0].poisson: expected true or false");
}

TEST(vload_config, parse__poisson_errors)
{
	EXPECT_EQ(load_error(poisson, {{"from", "a"}}), "loads[0].hosts: stands for both from and to");
	EXPECT_EQ(load_error(poisson, {{"hosts", {"a"}}}), "loads[0]: host `a' has nobody to send to");
	EXPECT_EQ(load_error(poisson, {{"pattern", "ring"}}),
		  "loads[0].pattern: expected all-to-all or permutation");
	EXPECT_EQ(load_error(poisson, {{"load", 0}}), "loads[0].load: out of range (1e-09 to 10)");
	EXPECT_EQ(load_error(poisson, {{"sizes", "./mine"}}),
		  "loads[0].sizes: /nonexistent/./mine: No such file or directory");
	EXPECT_EQ(load_error(poisson, {{"sizes", 1460}}), "accepted");
}

TEST(vload_config, parse__ping_errors)
{
	EXPECT_EQ(load_error(ping, {{"bytes", 8}}), "loads[0].bytes: out of range (12 to 65507)");
	EXPECT_EQ(load_error(ping, {{"interval_us", 0}}), "loads[0].interval_us: must be above 0");
}
