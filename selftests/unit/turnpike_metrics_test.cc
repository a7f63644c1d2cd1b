// SPDX-License-Identifier: GPL-2.0
//
// turnpike metrics: series of what was seen, the file they go to, the address they are served at.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "command.h"
#include "process.h"
#include "show/listen_address.h"
#include "show/metrics.h"
#include "show/metrics_file.h"
#include "show/metrics_serve.h"
#include "show/status.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
using prometheus::MetricFamily;
namespace fs = std::filesystem;

std::string text_of(const fs::path &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	text << file.rdbuf();
	return text.str();
}

unsigned count_of(const std::string &text, const std::string &part)
{
	unsigned count = 0;

	for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
		count++;
	return count;
}

// -- series

Json device()
{
	return {{"name", "eth0"}, {"queues", 64}, {"packets", 1000}, {"drops", 3}, {"held_packets", 31},
		{"held_ns", 2500000000}, {"flows", 212}, {"pauses", 40}, {"timeouts", 2}, {"coarse", 5},
		{"samples", 900}, {"delay_p50_ns", 31000}, {"delay_p99_ns", 61000}, {"line_rate_bps", 10000000000}};
}

// All of it on.
Json space()
{
	return {{"netns", ""},
		{"timely", {{"flows", 212}, {"other_flows", 14}, {"at_floor", 1}, {"retransmits", 7}, {"rtt_p50_ns", 31000},
			    {"rtt_p99_ns", 58000}, {"default", "cubic"}}},
		{"devices", {device()}},
		{"peers", {{"answering", 17}, {"silent", {"10.0.3.9"}}}},
		{"tlt", {{"rules", Json::array()}, {"flows", 96}, {"deaf", 2}, {"rtos", 12}}},
		{"setup", {{"since", 0}, {"by", "ann"}, {"differs", {"qdisc of eth0", "route"}}}},
		{"timely_counters", {{"samples", 5000}, {"events_high", 10}, {"rtos", 4}}},
		{"receipts", {{"receipts_sent", 70}, {"receipts_taken", 80}, {"refused_mac", 9}, {"refused_key", 6}}},
		{"tlt_counters", {{"sent", {{"data", {{"packets", 500}}}}}, {"injected_byte", 11}, {"injected_segment", 13},
				  {"rtos", 12}, {"flows_refused", 1}}},
		{"verdict", "working"}};
}

Json stamps()
{
	return {{"dev", "eth0"}, {"netns", 4026531840}, {"netns_name", ""}, {"error_ns", 41},
		{"stats", {{"wanted", 100}, {"tx", 99}, {"rx", 98}, {"steps", 1}}}};
}

Json clockd()
{
	return {{"running", true}, {"told", 14}, {"silent", {"10.0.3.9"}}, {"troubled", 2}, {"error_p50_ns", 120},
		{"error_max_ns", 350}, {"surplus_p50_ns", 4}, {"surplus_max_ns", 5003}, {"answered", true},
		{"coordinator", {{"hosts_known", 15}, {"hosts_reporting", 16}, {"edges", 80}, {"edges_left_out", 3}}},
		{"refused", 21}};
}

Json full()
{
	return {{"version", "0.2.0"}, {"host", "db17"}, {"kernel", "6.12.9"}, {"namespaces", {space()}},
		{"modules", {{{"name", "tcp_timely"}, {"loaded", true}, {"stale", false}},
			     {{"name", "tlt"}, {"loaded", true}, {"stale", true}}}},
		{"stamps", {stamps()}}, {"clockd", clockd()}, {"time_s", 1700000000}};
}

// The lines of a text that are series.
std::vector<std::string> series_of(const std::string &text)
{
	std::istringstream lines(text);
	std::vector<std::string> found;

	for (std::string line; std::getline(lines, line);)
		if (!line.empty() && line[0] != '#')
			found.push_back(line);
	return found;
}

// check-monitoring holds alerts, dashboard and manual page against that file.
TEST(Metrics, text__is_the_one_that_alerts_are_checked_against)
{
	EXPECT_EQ(metrics_text(full()), text_of(TURNPIKE_TESTS "/turnpike_metrics.prom"));
}

TEST(Metrics, families__stand_together_with_one_type_and_help)
{
	Json seen = full(), other = space();
	std::set<std::string> ended;
	std::string now;

	other["netns"] = "blue";
	seen["namespaces"].push_back(other);
	std::string text = metrics_text(seen);
	for (const std::string &line : series_of(text)) {
		std::string name = line.substr(0, line.find_first_of("{ "));

		if (name == now)
			continue;
		EXPECT_TRUE(ended.insert(name).second) << name << " in two places";
		EXPECT_EQ(count_of(text, "# TYPE " + name + " "), 1u);
		EXPECT_EQ(count_of(text, "# HELP " + name + " "), 1u);
		now = name;
	}
	EXPECT_EQ(text.back(), '\n');
}

TEST(Metrics, counters__are_what_the_kernel_counts)
{
	for (const MetricFamily &family : metric_families(full()))
		EXPECT_EQ(family.type == prometheus::MetricType::Counter, family.name.ends_with("_total")) << family.name;
}

TEST(Metrics, device__has_at_most_forty)
{
	std::string text = metrics_text(full());

	EXPECT_GT(count_of(text, "dev=\"eth0\""), 10u);
	EXPECT_LE(count_of(text, "dev=\"eth0\""), 40u);
	EXPECT_LE(series_of(text).size(), 80u);
}

// Of thousands of connections there are no more series than of one.
TEST(Metrics, flows__have_no_series)
{
	Json seen = full();
	std::vector<Socket> sockets(5000);

	for (Socket &socket : sockets)
		socket.congctl = "timely";
	seen["namespaces"][0]["timely"].update(timely_json(sockets));
	EXPECT_EQ(series_of(metrics_text(seen)).size(), series_of(metrics_text(full())).size());
}

TEST(Metrics, names__of_others_are_escaped)
{
	Json seen = full();

	seen["namespaces"][0]["devices"][0]["name"] = "e\"t\\h\n\xff";
	seen["namespaces"][0]["netns"] = "a b";
	std::string text = metrics_text(seen);
	EXPECT_NE(text.find("turnpike_onramp_queues{dev=\"e\\\"t\\\\h\\\\x0a\\\\xff\",netns=\"a b\"} 64\n"), std::string::npos) << text;
}

// Two names may be one when they are printable, and Prometheus takes no host that tells a series twice.
TEST(Metrics, series__are_told_once)
{
	Json seen = full();

	for (const char *name : {"a\x01", "a\\x01"}) {
		Json one = device();
		one["name"] = name;
		seen["namespaces"][0]["devices"].push_back(one);
	}
	std::vector<std::string> lines = series_of(metrics_text(seen));
	std::set<std::string> names;
	for (const std::string &line : lines)
		EXPECT_TRUE(names.insert(line.substr(0, line.rfind(' '))).second) << line;
}

TEST(Metrics, nothing_on__has_the_host_alone)
{
	Json seen = full();

	seen["namespaces"] = {{{"netns", ""}, {"timely", nullptr}, {"devices", Json::array()}, {"peers", nullptr},
			       {"tlt", nullptr}, {"setup", nullptr}, {"timely_counters", nullptr}, {"receipts", nullptr},
			       {"tlt_counters", nullptr}}};
	seen["stamps"] = Json::array();
	seen["clockd"] = nullptr;
	std::string text = metrics_text(seen);
	EXPECT_EQ(text.find("turnpike_onramp"), std::string::npos);
	EXPECT_EQ(text.find("turnpike_tlt"), std::string::npos);
	EXPECT_EQ(series_of(text).size(), 7u) << text;
}

TEST(Metrics, clockd_that_is_gone__is_said_and_no_more)
{
	Json seen = full();

	seen["clockd"]["running"] = false;
	std::string text = metrics_text(seen);
	EXPECT_NE(text.find("turnpike_clockd_running 0\n"), std::string::npos) << text;
	EXPECT_EQ(count_of(text, "\nturnpike_clockd_"), 1u);
	// without a coordinator there is nothing of its mesh
	seen = full();
	seen["clockd"]["coordinator"] = seen["clockd"]["answered"] = nullptr;
	text = metrics_text(seen);
	EXPECT_EQ(count_of(text, "turnpike_clockd_mesh"), 0u);
	EXPECT_EQ(count_of(text, "turnpike_clockd_coordinator"), 0u);
	EXPECT_NE(text.find("turnpike_clockd_peers{state=\"told\"} 14\n"), std::string::npos);
}

TEST(Metrics, containers__are_bounded)
{
	Json seen = full(), many = space();

	many["netns"] = "process 7";
	for (unsigned i = 0; i < kMostDevices; i++) {
		many["devices"].push_back(device());
		many["devices"].back()["name"] = "d" + std::to_string(i);
	}
	seen["namespaces"].push_back(many);
	std::string text = metrics_text(seen);
	EXPECT_NE(text.find("turnpike_onramp_queues{dev=\"eth0\",netns=\"\"} 64\n"), std::string::npos);
	EXPECT_EQ(count_of(text, "turnpike_onramp_queues{"), kMostDevices);
	EXPECT_NE(text.find("turnpike_metrics_left_out 2\n"), std::string::npos);
	seen = full();
	for (unsigned i = 0; i < kMostNamespaces; i++) {
		seen["namespaces"].push_back(space());
		seen["namespaces"].back()["netns"] = std::to_string(i);
	}
	text = metrics_text(seen);
	EXPECT_EQ(count_of(text, "turnpike_timely_flows{"), kMostNamespaces);
	EXPECT_NE(text.find("turnpike_metrics_left_out 1\n"), std::string::npos);
}

// -- what status counts for it

static Socket of_rate(const char *congctl, std::uint64_t rate_bytes)
{
	Socket socket;

	socket.congctl = congctl;
	socket.rate_bytes = rate_bytes;
	return socket;
}

TEST(Metrics, floor__by_the_least_rate_of_its_congestion_control)
{
	std::vector<Socket> sockets(5);

	sockets[0] = of_rate("timely", 125000);
	sockets[1] = of_rate("timely", 125001);
	sockets[2] = of_rate("timely_patched", 125001);
	sockets[3] = of_rate("cubic", 1);
	// Its rate is not known.
	sockets[4] = of_rate("timely", 0);
	EXPECT_EQ(timely_json(sockets, {{"timely", 1000000}, {"timely_patched", 2000000}})["at_floor"], 2);
	EXPECT_EQ(timely_json(sockets)["at_floor"], 0);
}

// -- file

class MetricsFile : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/turnpike-metrics.XXXXXX";

		directory_ = mkdtemp(name);
	}

	void TearDown() override { fs::remove_all(directory_); }

	unsigned entries() { return std::distance(fs::directory_iterator(directory_), fs::directory_iterator()); }

	fs::path directory_;
};

TEST_F(MetricsFile, replace__is_read_by_all)
{
	fs::path path = directory_ / "turnpike.prom";
	struct stat mode = {};

	std::ofstream(path) << "a longer text that was there before\n";
	chmod(path.c_str(), 0600);
	replace_file(path, "new 1\n");
	EXPECT_EQ(text_of(path), "new 1\n");
	ASSERT_EQ(stat(path.c_str(), &mode), 0);
	EXPECT_EQ(mode.st_mode & 07777, 0644u);
	EXPECT_EQ(entries(), 1u);
}

// Who reads the old one reads it to its end.
TEST_F(MetricsFile, replace__leaves_open_files_as_they_are)
{
	fs::path path = directory_ / "turnpike.prom";

	replace_file(path, "old 1\n");
	std::ifstream reader(path);
	replace_file(path, "new 1\n");
	std::string line;
	std::getline(reader, line);
	EXPECT_EQ(line, "old 1");
}

TEST_F(MetricsFile, replace__that_fails_leaves_nothing)
{
	EXPECT_THROW(replace_file(directory_ / "none" / "x.prom", "new\n"), Error);
	fs::create_directory(directory_ / "x.prom");
	EXPECT_THROW(replace_file(directory_ / "x.prom", "new\n"), Error);
	EXPECT_EQ(entries(), 1u);
}

// -- what the configuration says

// turnpike metrics with a configuration of this text.
class MetricsConfig : public MetricsFile {
protected:
	Ended metrics(const std::string &text, const Words &more)
	{
		Words all = {TURNPIKE_COMMAND, "metrics"};

		std::ofstream(conf()) << text;
		all.insert(all.end(), more.begin(), more.end());
		all.insert(all.end(), {"--config", conf()});
		return run(all);
	}

	std::string conf() const { return (directory_ / "turnpike.conf").string(); }
};

TEST_F(MetricsConfig, write__goes_to_the_file_that_it_names)
{
	std::string named = (directory_ / "named.prom").string(), other = (directory_ / "other.prom").string();
	Ended ended = metrics("[metrics]\ntextfile = " + named + "\n", {"--write"});

	EXPECT_EQ(ended.status, 0) << ended.errors;
	EXPECT_NE(text_of(named).find("turnpike_up_info"), std::string::npos);
	EXPECT_EQ(ended.output, "");
	// What the command line names comes first.
	EXPECT_EQ(metrics("[metrics]\ntextfile = /nowhere/named.prom\n", {"--write", other}).status, 0);
	EXPECT_TRUE(fs::exists(other));
}

TEST_F(MetricsConfig, write__of_a_bad_file_says_which)
{
	Ended ended = metrics("[metrics]\ntextfile = named\n", {"--write"});

	EXPECT_EQ(ended.status, 2);
	EXPECT_NE(ended.errors.find(conf() + ": line 2: 'named' does not end in .prom"), std::string::npos) << ended.errors;
}

TEST_F(MetricsConfig, listen__without_an_address_is_refused)
{
	Ended ended = metrics("[metrics]\n", {"--listen"});

	EXPECT_EQ(ended.status, 2);
	EXPECT_NE(ended.errors.find("has no 'listen = '"), std::string::npos) << ended.errors;
}

// No address of this host: it is the one that was tried.
TEST_F(MetricsConfig, listen__is_at_the_address_that_it_names)
{
	Ended ended = metrics("[metrics]\nlisten = 192.0.2.1:9733\nanywhere = yes\n", {"--listen"});

	EXPECT_EQ(ended.status, 2);
	EXPECT_NE(ended.errors.find("cannot listen on 192.0.2.1:9733"), std::string::npos) << ended.errors;
	EXPECT_NE(metrics("[metrics]\nlisten = 192.0.2.1:9733\n", {"--listen"}).errors.find("'anywhere = yes' if"),
		  std::string::npos);
}

// -- server

TEST(MetricsServe, address__of_loopback_alone)
{
	for (const char *address : {"127.0.0.1:9733", "127.9.9.9:0", "[::1]:65535"})
		EXPECT_EQ(listen_address(address, false), address);
	for (const char *address : {"0.0.0.0:9733", "10.0.0.1:1", "[::]:9733", "[fd00::1]:1", "[::ffff:10.0.0.1]:1"}) {
		EXPECT_THROW(listen_address(address, false), Error) << address;
		EXPECT_EQ(listen_address(address, true), address);
	}
}

TEST(MetricsServe, address__that_is_none)
{
	for (const char *address : {"", ":", "9733", ":9733", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
				    "127.0.0.1:1s", "127.0.0.1:1,0.0.0.0:2", "::1:9733", "[127.0.0.1]:1", "[]:1", "localhost:1",
				    "127.0.0.1:99999999999999999999"})
		EXPECT_THROW(listen_address(address, true), Error) << address;
}

class MetricsLook : public testing::Test {
protected:
	SharedLook look_{[this] { return seen(); }, [this] { return now_ns_; }, [this] { return now_s_; }};

	std::vector<MetricFamily> seen()
	{
		looks_++;
		if (fails_)
			throw Error("no");
		return {MetricFamily{"one", "", prometheus::MetricType::Gauge, {}}};
	}

	std::int64_t now_ns_ = 0, now_s_ = 1700000000;
	unsigned looks_ = 0;
	bool fails_ = false;
};

TEST_F(MetricsLook, collect__is_shared_for_a_while)
{
	EXPECT_EQ(look_.Collect().size(), 1u);
	now_ns_ = kLookHoldsNs - 1;
	EXPECT_EQ(look_.Collect()[0].name, "one");
	EXPECT_EQ(looks_, 1u);
	now_ns_ = kLookHoldsNs;
	look_.Collect();
	EXPECT_EQ(looks_, 2u);
}

TEST_F(MetricsLook, collect__that_fails_tells_when_it_last_did_not)
{
	look_.Collect();
	fails_ = true;
	now_s_ += 60;
	now_ns_ += kLookHoldsNs;
	testing::internal::CaptureStderr();
	std::vector<MetricFamily> families = look_.Collect();
	testing::internal::GetCapturedStderr();
	ASSERT_EQ(families.size(), 1u);
	EXPECT_EQ(families[0].name, "turnpike_metrics_time_seconds");
	EXPECT_EQ(families[0].metric.at(0).gauge.value, 1700000000);
}

}  // namespace
}  // namespace turnpike
