// SPDX-License-Identifier: GPL-2.0
#include "recording_replay.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "../command.h"
#include "../onramp_replay.h"
#include "../replay.h"
#include "../units.h"
#include "recording.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFlowsNamed = 10;

std::optional<std::uint64_t> number(const Json &event, const char *name)
{
	auto found = event.find(name);

	if (found == event.end() || !found->is_number_integer() || *found < 0)
		return std::nullopt;
	return found->get<std::uint64_t>();
}

std::string word(const Json &event, const char *name)
{
	auto found = event.find(name);

	return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string names_of(const FlowCounts &flows)
{
	std::vector<std::pair<std::string, std::uint64_t>> list(flows.begin(), flows.end());
	std::string text;

	std::stable_sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
	for (std::size_t i = 0; i < std::min(list.size(), kFlowsNamed); i++)
		text += "\n  " + printable(list[i].first) + " (" + std::to_string(list[i].second) + ")";
	return text + (list.size() > kFlowsNamed ? "\n  ..." : "");
}

// "123.456": replay rounds to ns
std::string us_text(std::uint64_t ns)
{
	std::string part = std::to_string(1000 + ns % 1000);

	return std::to_string(ns / 1000) + "." + part.substr(1);
}

// -- packets of On-Ramp

// Sequence numbers that go on where those of TCP begin anew, and packets by their ends.
class SentPackets {
public:
	std::uint64_t sent(std::uint64_t start, std::uint64_t bytes)
	{
		std::uint64_t from = whole(start), to = from + bytes;

		newest_ = std::max(newest_, to);
		starts_[to] = from;
		return to;
	}

	// The end of the packet that has the byte before this one.
	std::optional<std::uint64_t> end_of(std::uint64_t end) const
	{
		std::uint64_t at = whole(end);
		auto packet = starts_.lower_bound(at);

		return packet != starts_.end() && packet->second < at ? std::optional(packet->first) : std::nullopt;
	}

private:
	std::uint64_t whole(std::uint64_t seq) const
	{
		return newest_ + static_cast<std::uint64_t>(std::int64_t(static_cast<std::int32_t>(seq - newest_)));
	}

	std::uint64_t newest_ = 1ULL << 40;	// so that none is below 0
	std::map<std::uint64_t, std::uint64_t> starts_;
};

void add_onramp(FlowTrace &trace, SentPackets &packets, const Json &event)
{
	std::string time = std::to_string(event.at("t_ns").get<std::uint64_t>());

	if (word(event, "event") == "onramp_send") {
		auto start = number(event, "start_seq"), bytes = number(event, "bytes");

		if (start && bytes)
			trace.csv += time + ",tx," + std::to_string(packets.sent(*start, *bytes)) + ",\n";
		return;
	}
	auto end = number(event, "end_seq"), delay_ns = number(event, "judged_ns");
	auto packet = end ? packets.end_of(*end) : std::nullopt;
	if (packet && delay_ns && *delay_ns <= ONRAMP_DELAY_MAX_NS)
		trace.csv += time + ",ack," + std::to_string(*packet) + "," + std::to_string(*delay_ns) + "\n";
	else
		trace.left_out++;
}

void add_timely(FlowTrace &trace, const Json &event)
{
	auto rtt_ns = number(event, "rtt_ns"), acked = number(event, "acked_bytes");

	if (rtt_ns && *rtt_ns && *rtt_ns <= TIMELY_RTT_MAX_NS && acked && *acked <= 0xffffffff)
		trace.csv += us_text(event.at("t_ns").get<std::uint64_t>()) + "," + us_text(*rtt_ns) + "," +
			     std::to_string(*acked) + "\n";
	else
		trace.left_out++;
}

}  // namespace

std::string flow_of_event(ReplayKind kind, const Json &event)
{
	std::string name = word(event, "event"), dst = word(event, "dst");

	if (dst.empty() || !number(event, "t_ns"))
		return "";
	if (kind == ReplayKind::timely)
		return name == "timely_decision" ? word(event, "src") + ">" + dst : "";
	if (!name.starts_with("onramp_") || !number(event, "sport") || !number(event, "dport"))
		return "";
	return ":" + event["sport"].dump() + ">" + (dst.find(':') == dst.npos ? dst : "[" + dst + "]") + ":" + event["dport"].dump();
}

std::string choose_flow(const FlowCounts &flows, const std::string &name)
{
	FlowCounts fit;

	for (const auto &[flow, count] : flows) {
		if (flow == name)
			return flow;
		if (flow.find(name) != flow.npos)
			fit[flow] = count;
	}
	if (fit.empty())
		throw Error(flows.empty() ? "the recording has no events of this algorithm" :
					    "no flow has '" + printable(name) + "' in its name; there are:" + names_of(flows));
	if (!name.empty() && fit.size() > 1)
		throw Error("more than one flow has '" + printable(name) + "' in its name:" + names_of(fit));
	return std::max_element(fit.begin(), fit.end(), [](const auto &a, const auto &b) { return a.second < b.second; })->first;
}

FlowTrace flow_trace(ReplayKind kind, std::vector<Json> events)
{
	bool timely = kind == ReplayKind::timely;
	SentPackets packets;
	FlowTrace trace = {std::string(timely ? kReplayInput : kOnrampInput) + "\n"};

	std::stable_sort(events.begin(), events.end(), [](const Json &a, const Json &b) {
		return a.at("t_ns").get<std::uint64_t>() < b.at("t_ns").get<std::uint64_t>();
	});
	for (const Json &event : events) {
		if (timely)
			add_timely(trace, event);
		else
			add_onramp(trace, packets, event);
	}
	return trace;
}

FlowTrace recorded_trace(ReplayKind kind, const std::string &path, const std::string &name)
{
	FlowCounts flows;
	std::vector<Json> events;

	read_recording(path, [&](const Json &object) {
		std::string flow = flow_of_event(kind, object);

		if (!flow.empty())
			flows[flow] += word(object, "event") != "onramp_send";
	});
	std::string chosen = choose_flow(flows, name);
	read_recording(path, [&](const Json &object) {
		if (flow_of_event(kind, object) == chosen)
			events.push_back(object);
	});
	FlowTrace trace = flow_trace(kind, std::move(events));
	std::cerr << "turnpike: flow " << printable(chosen) << ", one of " << flows.size();
	if (trace.left_out)
		std::cerr << "; " << trace.left_out << " events left out, which say nothing (their packet left before the recording)";
	std::cerr << '\n';
	return trace;
}

}  // namespace turnpike
