// SPDX-License-Identifier: GPL-2.0
//
// turnpike record without a kernel: lines of a trace, the file, limits, and what replay makes of it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <zlib.h>

#include "command.h"
#include "onramp_replay.h"
#include "record/connections.h"
#include "record/event_reader.h"
#include "record/recording.h"
#include "record/recording_replay.h"
#include "record/summary.h"
#include "record/trace_line.h"
#include "record/tracing.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

class Record : public testing::Test {
protected:
	Record()
	{
		std::string name = (fs::temp_directory_path() / "record-XXXXXX").string();

		directory_ = mkdtemp(name.data());
	}
	~Record() override { fs::remove_all(directory_); }

	std::string path(const std::string &name) const { return directory_ / name; }
	std::size_t files() const
	{
		return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
	}

	// A file of these lines, as gzip; what it is cut by is left out.
	std::string put(const std::string &text, std::size_t cut = 0) const
	{
		std::string name = path("put");
		gzFile file = gzopen(name.c_str(), "wb");

		gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
		gzclose(file);
		fs::resize_file(name, fs::file_size(name) - cut);
		return name;
	}

	static std::vector<Json> all(const std::string &name)
	{
		std::vector<Json> list;

		read_recording(name, [&](const Json &one) { list.push_back(one); });
		return list;
	}

	static std::string refusal(const std::function<void()> &function)
	{
		try {
			function();
		} catch (const Error &error) {
			return error.what();
		}
		return "";
	}

	fs::path directory_;
};

bool has(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

// -- lines of a trace

constexpr char kSample[] = "          <idle>-0       [003] ..s2.   123.456789: onramp_sample: dst=::ffff:10.1.0.2 sport=5001 dport=80 "
			   "end_seq=4294967295 delay_ns=18446744073709551615 judged_ns=4294967296 rtt_ns=50000 lag_ns=0 "
			   "beta_milli=250 pause_ns=12 capped";
constexpr char kDecision[] = "          iperf3-4711    [000] ..s1.     5.000001: timely_decision: src=10.1.0.1:5001 dst=[fd00::2]:80 "
			     "rate_bps=9000000000 rtt_ns=31000 gradient_micro=-250000 branch=increase source=tcp_us acked_bytes=64000 "
			     "cwnd_segs=44";

TEST_F(Record, trace_event__has_what_the_module_said)
{
	Json event = trace_event(kSample).value();

	EXPECT_EQ(event["event"], "onramp_sample");
	EXPECT_EQ(event["t_ns"], 123456789000);
	EXPECT_EQ(event["dst"], "10.1.0.2");
	EXPECT_EQ(event["end_seq"], 4294967295);
	EXPECT_EQ(event["delay_ns"], 18446744073709551615ULL);
	EXPECT_EQ(event["capped"], true);
	EXPECT_FALSE(event.contains("iperf3"));

	event = trace_event(kDecision).value();
	EXPECT_EQ(event["src"], "10.1.0.1:5001");
	EXPECT_EQ(event["dst"], "[fd00::2]:80");
	EXPECT_EQ(event["gradient_micro"], -250000);
	EXPECT_EQ(event["branch"], "increase");
}

TEST_F(Record, trace_event__of_a_process_with_such_a_name)
{
	std::string line = ": onramp_send: -7       [000] ..s1.     5.000001: timely_decision: src=a dst=b";

	EXPECT_FALSE(trace_event(": onramp_send: -7").has_value());
	// What stands last is the event; the name of a process is before it.
	EXPECT_EQ(trace_event(" : onramp_send: -7  [000] ..s1.  5.000001: onramp_send: dst=b").value()["dst"], "b");
	EXPECT_EQ(trace_event(line).value()["event"], "timely_decision");
}

TEST_F(Record, trace_event__of_other_lines)
{
	for (const char *line : {"", "CPU:0 [LOST 123 EVENTS]", "# tracer: nop", "x-1 [000] ..s1. 5.000001: sched_switch: a=1",
				 "x-1 [000] ..s1. 5.0: onramp_send: a=1", "x-1 [000] ..s1. -5.000001: onramp_send: a=1",
				 "x-1 [000] ..s1. 99999999999999999999.000001: onramp_send: a=1", ": onramp_send: ", "5.000001: onramp_send:"})
		EXPECT_FALSE(trace_event(line).has_value()) << line;
	EXPECT_EQ(trace_event("x-1 [000] ..s1. 5.000001: onramp_send: ").value().size(), 2u);
}

TEST_F(Record, lost_events__are_of_each_reason)
{
	EXPECT_EQ(lost_events("entries: 7\noverrun: 5\ncommit overrun: 20\nbytes: 9\noldest event ts: 1.0\ndropped events: 300\nread events: 4\n"),
		  325u);
	EXPECT_EQ(lost_events(""), 0u);
	EXPECT_EQ(lost_events("entries: 7\noverrun: x\n"), 0u);
}

TEST_F(Record, lines__come_whole)
{
	Lines lines;

	lines.add("one\ntw");
	EXPECT_EQ(lines.next(), "one");
	EXPECT_FALSE(lines.next().has_value());
	lines.add("o\n\nthree");
	EXPECT_EQ(lines.next(), "two");
	EXPECT_EQ(lines.next(), "");
	EXPECT_FALSE(lines.next().has_value());
	// What never ends is not kept.
	lines.add(std::string(1 << 20, 'x'));
	EXPECT_FALSE(lines.next().has_value());
	lines.add("four\n");
	EXPECT_EQ(lines.next(), "four");
}

TEST_F(Record, event_taker__counts_what_is_beyond_the_limit)
{
	std::vector<Json> taken;
	EventTaker taker(2, [&](const Json &event) { taken.push_back(event); });
	std::string line = std::string(kSample) + "\n";

	taker.add(line + "other\n" + line + line.substr(0, 50));
	taker.add(line.substr(50) + line);
	EXPECT_EQ(taken.size(), 2u);
	EXPECT_EQ(taker.taken(), 2u);
	EXPECT_EQ(taker.beyond(), 2u);
}

TEST_F(Record, tracing__says_why_there_is_none)
{
	EXPECT_TRUE(has(refusal([] { Tracing(""); }), "tracefs is not mounted"));
	fs::create_directories(directory_ / "instances");
	EXPECT_TRUE(has(refusal([this] { Tracing trace(directory_); }), "neither tcp_timely nor sch_onramp"));
	EXPECT_TRUE(fs::is_empty(directory_ / "instances"));
	// No tracefs: the instance is not made, and goes.
	fs::create_directories(directory_ / "events/onramp");
	EXPECT_TRUE(has(refusal([this] { Tracing trace(directory_); }), "trace_clock"));
	EXPECT_TRUE(fs::is_empty(directory_ / "instances"));
}

// -- the file

TEST_F(Record, writer__makes_a_whole_file)
{
	{
		RecordingWriter writer(path("a"), false);

		writer.add({{"turnpike_recording", 1}});
		writer.add({{"name", "odd\xff"}});
		EXPECT_FALSE(fs::exists(path("a")));
		std::uint64_t bytes = writer.finish();
		EXPECT_EQ(bytes, fs::file_size(path("a")));
	}
	EXPECT_EQ(files(), 1u);
	std::vector<Json> read = all(path("a"));
	ASSERT_EQ(read.size(), 2u);
	EXPECT_EQ(read[1]["name"], "odd\xef\xbf\xbd");
}

TEST_F(Record, writer__without_an_end_leaves_nothing)
{
	{
		RecordingWriter writer(path("a"), false);
		writer.add({{"turnpike_recording", 1}});
	}
	EXPECT_EQ(files(), 0u);
}

TEST_F(Record, writer__keeps_what_is_there)
{
	std::ofstream(path("a")) << "mine";
	EXPECT_TRUE(has(refusal([this] { RecordingWriter(path("a"), false); }), "--force"));
	EXPECT_EQ(fs::file_size(path("a")), 4u);
	EXPECT_EQ(files(), 1u);

	// Who came in between is not overwritten.
	RecordingWriter writer(path("b"), false);
	std::ofstream(path("b")) << "mine";
	EXPECT_NE(refusal([&] { writer.finish(); }), "");
	EXPECT_EQ(fs::file_size(path("b")), 4u);

	RecordingWriter forced(path("a"), true);
	EXPECT_EQ(fs::file_size(path("a")), 4u);
	forced.add({{"turnpike_recording", 1}});
	forced.finish();
	EXPECT_EQ(all(path("a")).size(), 1u);
}

TEST_F(Record, writer__replaces_files_alone)
{
	fs::create_directory(path("a"));
	fs::create_symlink("/dev/null", path("b"));
	for (const char *name : {"a", "b"})
		EXPECT_TRUE(has(refusal([&] { RecordingWriter(path(name), true); }), "no regular file")) << name;
	EXPECT_TRUE(has(refusal([&] { RecordingWriter(path("none/x"), true); }), "No such file"));
	EXPECT_EQ(files(), 2u);
}

TEST_F(Record, reader__refuses_what_is_no_recording)
{
	const std::string header = "{\"turnpike_recording\": 1}\n";

	EXPECT_TRUE(has(refusal([&] { all(path("none")); }), "No such file"));
	EXPECT_TRUE(has(refusal([&] { all(put("")); }), "is empty"));
	for (const char *text : {"x\n", "[]\n", "{}\n", "{\"turnpike_recording\": \"1\"}\n", "{\"turnpike_recording\": -1}\n", "\xff\n"})
		EXPECT_TRUE(has(refusal([&] { all(put(text)); }), "is no recording")) << text;
	EXPECT_TRUE(has(refusal([&] { all(put("{\"turnpike_recording\": 2}\n")); }), "a later turnpike"));
	EXPECT_TRUE(has(refusal([&] { all(put(header + "{\n")); }), "line 2"));
	EXPECT_TRUE(has(refusal([&] { all(put(header + "{}")); }), "ends early"));
	std::string much;
	for (int i = 0; i < 10000; i++)
		much += "{\"number\": " + std::to_string(i * 7919) + "}\n";
	EXPECT_EQ(all(put(header + much)).size(), 10001u);
	EXPECT_TRUE(has(refusal([&] { all(put(header + much, 1000)); }), "ends early"));
	EXPECT_TRUE(has(refusal([&] { all(put(header + std::string(100000, '['))); }), "ends early"));
	EXPECT_TRUE(has(refusal([&] { all(put(header + std::string(100000, '[') + "\n")); }), "line 2"));
}

// -- limits and words

TEST_F(Record, span__has_units_and_limits)
{
	auto span = [](const char *text) { return span_ns("--for", text, 10000000, 3600000000000); };

	EXPECT_EQ(span("30s"), 30000000000u);
	EXPECT_EQ(span("30"), 30000000000u);
	EXPECT_EQ(span("1.5s"), 1500000000u);
	EXPECT_EQ(span("250ms"), 250000000u);
	EXPECT_EQ(span("2min"), 120000000000u);
	EXPECT_EQ(span("1h"), 3600000000000u);
	for (const char *text : {"", "s", "-1s", "1 s", "1d", "1.2.3s", "0x10s", "nan", "1e3s", "9ms", "2h", "99999999999999999999999h"})
		EXPECT_TRUE(refusal([&] { span(text); }).starts_with("--for: ")) << text;
}

TEST_F(Record, summary__names_what_was_lost)
{
	Summary summary = {2000000000, 3, 10, 0, 0, ""};

	EXPECT_EQ(summary_text(summary), "2.00 s, 3 looks, 10 events, none lost");
	summary.lost_limit = 7;
	EXPECT_TRUE(has(summary_text(summary), "; 7 lost beyond --events"));
	summary.lost_buffer = 8;
	EXPECT_TRUE(has(summary_text(summary), "; 8 lost for which the kernel's buffer"));
	EXPECT_EQ(summary_json(summary)["lost_limit"], 7);
	EXPECT_TRUE(summary_json(summary)["no_trace"].is_null());
	summary.no_trace = "why";
	EXPECT_EQ(summary_text(summary), "2.00 s, 3 looks, no trace events: why");
}

TEST_F(Record, keep_largest__counts_the_others)
{
	std::vector<Json> list;

	for (int i = 0; i < 10; i++)
		list.push_back({{"bytes_acked", i * 7 % 10}});
	Kept kept = keep_largest(list, "bytes_acked", 3);
	EXPECT_EQ(kept.left_out, 7u);
	std::set<int> values;
	for (const Json &one : kept.list)
		values.insert(one["bytes_acked"].get<int>());
	EXPECT_EQ(values, (std::set<int>{7, 8, 9}));
	EXPECT_EQ(keep_largest(list, "bytes_acked", 10).left_out, 0u);
}

TEST_F(Record, connections__lead_to_other_hosts)
{
	std::vector<Socket> sockets(4);
	std::uint8_t four[][4] = {{10, 1, 0, 2}, {127, 0, 0, 9}, {128, 0, 0, 1}};
	in6_addr six = IN6ADDR_LOOPBACK_INIT;

	for (unsigned i = 0; i < 3; i++)
		sockets[i].ends.remote = mapped_address(four[i], true);
	sockets[3].ends.remote = mapped_address(&six, false);
	sockets[0].ends.remote_port = 5001;
	std::vector<Json> list = connections_json(sockets);
	ASSERT_EQ(list.size(), 2u);
	EXPECT_EQ(list[0]["remote"], "10.1.0.2:5001");
	EXPECT_EQ(list[1]["remote"], "128.0.0.1:0");
}

TEST_F(Record, connection__has_null_for_what_was_not_measured)
{
	Socket socket;

	socket.delivery_bytes = 1000;
	Json json = connection_json(socket);
	EXPECT_TRUE(json["min_rtt_ns"].is_null());
	EXPECT_TRUE(json["pacing_bps"].is_null());
	EXPECT_EQ(json["delivery_bps"], 8000);
	socket.min_rtt_us = 21;
	socket.rtt_us = 5000000;
	socket.pacing_bytes = 125;
	json = connection_json(socket);
	EXPECT_EQ(json["min_rtt_ns"], 21000);
	EXPECT_EQ(json["rtt_ns"], 5000000000);
	EXPECT_EQ(json["pacing_bps"], 1000);
}

// -- replay

Json decision(std::uint64_t t_ns, std::uint64_t rtt_ns, const std::string &dst = "10.1.0.2:80")
{
	return {{"event", "timely_decision"}, {"t_ns", t_ns}, {"src", "10.1.0.1:5001"}, {"dst", dst}, {"rtt_ns", rtt_ns},
		{"acked_bytes", 64000}};
}

Json sent(std::uint64_t t_ns, std::uint64_t start, std::uint64_t bytes)
{
	return {{"event", "onramp_send"}, {"t_ns", t_ns}, {"dst", "fd00::2"}, {"sport", 5001}, {"dport", 80}, {"start_seq", start},
		{"bytes", bytes}};
}

Json sample(std::uint64_t t_ns, std::uint64_t end, std::uint64_t delay_ns)
{
	return {{"event", "onramp_sample"}, {"t_ns", t_ns}, {"dst", "fd00::2"}, {"sport", 5001}, {"dport", 80}, {"end_seq", end},
		{"judged_ns", delay_ns}};
}

TEST_F(Record, flow_of_event__is_by_the_kind)
{
	EXPECT_EQ(flow_of_event(ReplayKind::timely, decision(1, 2)), "10.1.0.1:5001>10.1.0.2:80");
	EXPECT_EQ(flow_of_event(ReplayKind::onramp, decision(1, 2)), "");
	EXPECT_EQ(flow_of_event(ReplayKind::onramp, sent(1, 2, 3)), ":5001>[fd00::2]:80");
	EXPECT_EQ(flow_of_event(ReplayKind::timely, sent(1, 2, 3)), "");
	for (Json bad : {Json{{"look", true}}, Json{{"event", "onramp_send"}}, Json{{"event", 7}, {"t_ns", 1}, {"dst", "a"}},
			 Json{{"event", "timely_decision"}, {"t_ns", -1}, {"dst", "a"}}}) {
		EXPECT_EQ(flow_of_event(ReplayKind::timely, bad), "");
		EXPECT_EQ(flow_of_event(ReplayKind::onramp, bad), "");
	}
}

TEST_F(Record, choose_flow__takes_the_busiest_or_the_named)
{
	FlowCounts flows = {{"a>b:1", 3}, {"a>b:11", 9}, {"c>d:1", 5}};

	EXPECT_EQ(choose_flow(flows, ""), "a>b:11");
	EXPECT_EQ(choose_flow(flows, "c>"), "c>d:1");
	// A whole name is that flow, though another begins with it.
	EXPECT_EQ(choose_flow(flows, "a>b:1"), "a>b:1");
	EXPECT_TRUE(has(refusal([&] { choose_flow(flows, "a>"); }), "more than one flow"));
	EXPECT_TRUE(has(refusal([&] { choose_flow(flows, "x"); }), "c>d:1 (5)"));
	EXPECT_TRUE(has(refusal([&] { choose_flow({}, ""); }), "no events of this algorithm"));
}

TEST_F(Record, flow_trace__of_timely_is_by_time)
{
	FlowTrace trace = flow_trace(ReplayKind::timely, {decision(3000, 31000), decision(1001, 30001), decision(2000, 0)});

	EXPECT_EQ(trace.csv, "time_us,rtt_us,acked_bytes\n1.001,30.001,64000\n3.000,31.000,64000\n");
	EXPECT_EQ(trace.left_out, 1u);
}

TEST_F(Record, flow_trace__of_onramp_finds_the_packet)
{
	FlowTrace trace = flow_trace(ReplayKind::onramp, {sample(50, 1500, 7), sent(10, 1000, 1000), sample(60, 2000, 8), sample(20, 900, 9),
							  sample(70, 2001, 9)});

	EXPECT_EQ(trace.left_out, 2u);
	std::istringstream in(trace.csv);
	std::ostringstream out;
	onramp_pause_params params;
	onramp_pause_params_init(&params);
	replay_onramp_stream(params, in, out);
	std::string text = out.str();
	EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
	EXPECT_TRUE(has(text, "\n50,"));
	EXPECT_TRUE(has(text, "\n60,"));
}

TEST_F(Record, flow_trace__of_sequence_numbers_that_begin_anew)
{
	FlowTrace trace = flow_trace(ReplayKind::onramp, {sent(10, 4294967000, 1000), sample(20, 704, 5), sent(30, 704, 100), sample(40, 804, 6)});

	EXPECT_EQ(trace.left_out, 0u);
	EXPECT_EQ(std::count(trace.csv.begin(), trace.csv.end(), '\n'), 5);
}

TEST_F(Record, recorded_trace__is_of_one_flow)
{
	std::string text = Json{{"turnpike_recording", 1}}.dump() + "\n";

	for (const Json &event : {decision(2000, 31000), decision(1000, 30000), decision(1500, 30500, "10.1.0.3:80"), sent(1, 2, 3)})
		text += event.dump() + "\n";
	testing::internal::CaptureStderr();
	EXPECT_EQ(recorded_trace(ReplayKind::timely, put(text), "").csv,
		  "time_us,rtt_us,acked_bytes\n1.000,30.000,64000\n2.000,31.000,64000\n");
	EXPECT_EQ(recorded_trace(ReplayKind::timely, put(text), "10.1.0.3").csv, "time_us,rtt_us,acked_bytes\n1.500,30.500,64000\n");
	EXPECT_TRUE(has(testing::internal::GetCapturedStderr(), "one of 2"));
	EXPECT_TRUE(has(refusal([&] { recorded_trace(ReplayKind::onramp, put(text.substr(0, 40)), ""); }), "ends early"));
}

}  // namespace
}  // namespace turnpike
