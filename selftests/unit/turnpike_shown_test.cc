// SPDX-License-Identifier: GPL-2.0
// What commands print for people: tools/turnpike/shown.cc, tlt_shown.cc
#include "tools/turnpike/shown.h"


#include <gtest/gtest.h>

#include "tools/turnpike/tlt.h"
#include "tools/turnpike/tlt_shown.h"

namespace {

using turnpike::Json;
using turnpike::value_text;
using turnpike::When;

TEST(ValueText, value_text__unit_is_of_the_name)
{
	EXPECT_EQ(value_text("owd_ns", 31200), "31.2 us");
	EXPECT_EQ(value_text("cut_bytes", 1500), "1.50 kB");
	EXPECT_EQ(value_text("bytes", 1500), "1500");
	EXPECT_EQ(value_text("rate_bytes_per_s", 1250000000), "10.0 Gbit/s");
	EXPECT_EQ(value_text("idle_ms", 1500), "1.50 s");
	EXPECT_EQ(value_text("drift_ppb", -1250), "-1.250 ppm");
	EXPECT_EQ(value_text("samples", 123456), "123456");
}

TEST(ValueText, value_text__what_is_no_number)
{
	EXPECT_EQ(value_text("owd_ns", nullptr), "-");
	EXPECT_EQ(value_text("acks", true), "yes");
	EXPECT_EQ(value_text("acks", false), "no");
	EXPECT_EQ(value_text("grade", "c"), "c");
	EXPECT_EQ(value_text("keys", Json::array()), "none");
	EXPECT_EQ(value_text("keys", Json::array({1, 2})), "1 2");
}

TEST(ListText, list_text__verbose_columns_and_missing_values)
{
	std::vector<turnpike::ShownColumn> columns = {
		turnpike::word_column("dev", "dev"),
		turnpike::value_column("error", "error_ns", When::verbose),
		turnpike::end_column("to", "address", "port"),
	};
	Json list = {{{"dev", "eth0"}, {"address", "10.0.0.1"}, {"port", 80}},
		     {{"dev", "a\x1b[31m"}, {"error_ns", 7}, {"address", "fd01::1"}, {"port", 5001}}};

	EXPECT_EQ(list_text(list, columns, false),
		  "dev        to\neth0       10.0.0.1:80\na\\x1b[31m  [fd01::1]:5001\n");
	EXPECT_EQ(list_text(list, columns, true),
		  "dev        error  to\neth0           -  10.0.0.1:80\na\\x1b[31m   7 ns  [fd01::1]:5001\n");
	EXPECT_EQ(list_text(Json::array(), columns, false), "dev  to\n");
}

TEST(CountersText, counters_text__zeros_only_if_all)
{
	Json counters = {{"sent", {{"data", 0}, {"echo", 2}}}, {"cut_bytes", 3000}, {"rtos", 0}};

	EXPECT_EQ(turnpike::counters_text(counters, false),
		  "counter      value\nsent echo        2\ncut_bytes  3.00 kB\n");
	EXPECT_EQ(turnpike::counters_text(counters, true),
		  "counter      value\nsent data        0\nsent echo        2\ncut_bytes  3.00 kB\nrtos             0\n");
}

TEST(TltConfig, tlt_config_text__says_which_packets)
{
	Json config = {{"enabled", true}, {"map", "local"}, {"dscp", Json::object()}, {"period", 96},
		       {"clock", "adaptive"}, {"sender", "auto"}, {"foreign", "override"}, {"rules", Json::array()}};

	EXPECT_NE(turnpike::tlt_config_text(config).find("packets  all TCP of this namespace\n"), std::string::npos);
	config["rules"] = {{{"port", "80"}, {"uid", "5"}}, {{"dev", "x\n"}}};
	std::string text = turnpike::tlt_config_text(config);
	EXPECT_EQ(text.find("all TCP"), std::string::npos);
	EXPECT_NE(text.find("\n  --rule port=80,uid=5\n  --rule dev=x\\x0a\n"), std::string::npos) << text;
	EXPECT_EQ(turnpike::tlt_config_text({{"enabled", false}}), "setting  value\nTLT      off\n");
}

Json tlt_flow()
{
	Json flow = {{"local", "10.0.0.1"}, {"local_port", 65535}, {"remote", "255.255.255.255"}, {"remote_port", 5001},
		     {"peer", "unknown"}, {"important", 12345678}, {"echoes", 12345678}, {"injected", 123456},
		     {"rtos", 1}, {"idle_ns", 12000000}};

	for (const char *kind : turnpike::kTltKinds)
		flow["sent"][kind] = {{"packets", 7}, {"bytes", 8}};
	for (const char *name : turnpike::kTltFlowStats)
		flow[name] = 9;
	return flow;
}

TEST(TltFlows, tlt_flows_text__fits_a_terminal_but_for_verbose)
{
	Json flows = Json::array({tlt_flow()});
	std::string few = turnpike::tlt_flows_text(flows, false), all = turnpike::tlt_flows_text(flows, true);

	EXPECT_LE(few.find('\n'), 100u) << few;
	EXPECT_EQ(few.find("cut_bytes"), std::string::npos);
	EXPECT_NE(all.find("cut_bytes"), std::string::npos);
	EXPECT_NE(all.find("clock-echo"), std::string::npos);
	EXPECT_NE(all.find("7 / 8 B"), std::string::npos);
}

// A module of before flows had counters.
TEST(TltFlows, tlt_flows_text__without_counters)
{
	Json flow = tlt_flow();

	flow.erase("sent");
	for (const char *name : turnpike::kTltFlowStats)
		flow.erase(name);
	EXPECT_NE(turnpike::tlt_flows_text(Json::array({flow}), true).find("  -  "), std::string::npos);
}

TEST(TltStats, tlt_stats_text__has_a_line_for_each_kind)
{
	Json stats;

	for (const char *kind : turnpike::kTltKinds) {
		stats["sent"][kind] = {{"packets", 7}, {"bytes", 1500000}};
		stats["received"][kind] = 31;
	}
	stats["cuts"] = 0;
	stats["rtos"] = 2;
	std::string text = turnpike::tlt_stats_text(stats, false);
	for (const char *kind : turnpike::kTltKinds)
		EXPECT_NE(text.find(std::string("\n") + kind + "  "), std::string::npos) << text;
	EXPECT_NE(text.find("1.50 MB        31\n"), std::string::npos) << text;
	EXPECT_EQ(text.find("cuts"), std::string::npos);
	EXPECT_NE(text.find("\nrtos "), std::string::npos);
	EXPECT_NE(turnpike::tlt_stats_text(stats, true).find("\ncuts "), std::string::npos);
}

}  // namespace
