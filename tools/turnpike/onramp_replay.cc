// SPDX-License-Identifier: GPL-2.0
#include "onramp_replay.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "command.h"
#include "csv.h"
#include "knobs.h"

namespace turnpike {
namespace {

constexpr u64 kMaxTimeNs = 1000000000000000000;  // 31 years
constexpr u64 kMaxSeq = ~0ULL;

struct Knob {
	const char *name;
	const char *unit;
	u64 min;
	u64 max;
	u64 (*get)(const onramp_pause_params &params);
	void (*set)(onramp_pause_params &params, u64 value);
	const char *help;
};

constexpr std::array kKnobs = {
	Knob{"threshold_ns", "ns", 1, ONRAMP_THRESHOLD_MAX_NS,
	     [](const onramp_pause_params &p) { return p.threshold_ns; },
	     [](onramp_pause_params &p, u64 v) { p.threshold_ns = v; },
	     "T: delay above it pauses the flow"},
	Knob{"pause_max_ns", "ns", 1, ONRAMP_PAUSE_LIMIT_NS,
	     [](const onramp_pause_params &p) { return p.max_ns; },
	     [](onramp_pause_params &p, u64 v) { p.max_ns = v; },
	     "longest time that a flow is held without sending"},
	Knob{"gain_shift", "", 0, ONRAMP_GAIN_SHIFT_MAX,
	     [](const onramp_pause_params &p) -> u64 { return p.gain_shift; },
	     [](onramp_pause_params &p, u64 v) {
		     p.gain_shift = static_cast<u8>(v);
	     },
	     "g = 2^-gain_shift, the weight of a new beta"},
};

void apply_setting(onramp_pause_params &params, const std::string &setting)
{
	auto [name, value] = split_setting(setting);

	for (const Knob &knob : kKnobs) {
		if (name != knob.name)
			continue;
		knob.set(params,
			 knob_value(knob.name, value, knob.min, knob.max));
		return;
	}
	throw Error("no parameter is named " + name + " (--list names all)");
}

std::vector<KnobShown> default_knobs()
{
	std::vector<KnobShown> shown;
	onramp_pause_params params;

	onramp_pause_params_init(&params);
	for (const Knob &knob : kKnobs)
		shown.push_back({knob.name, knob.unit, knob.min, knob.max,
				 knob.get(params), knob.help});
	return shown;
}

void write_line(std::ostream &out, const OnrampLine &line,
		const onramp_pause &state, const onramp_verdict &verdict)
{
	char beta[16];

	std::snprintf(beta, sizeof(beta), "%.9f",
		      static_cast<double>(state.beta) / ONRAMP_BETA_ONE);
	out << line.time_text << ',' << beta << ',' << verdict.lag_ns << ','
	    << state.until_ns << '\n';
}

}  // namespace

void apply_onramp_settings(onramp_pause_params &params,
			   const std::vector<std::string> &settings)
{
	for (const std::string &setting : settings)
		apply_setting(params, setting);
	if (params.max_ns < params.threshold_ns)
		throw Error("parameters: pause_max_ns is below threshold_ns");
}

void list_onramp_knobs(std::ostream &out)
{
	out << "onramp, the module's defaults\n\n";
	write_knobs(out, default_knobs());
}

nlohmann::ordered_json onramp_knobs_json()
{
	nlohmann::ordered_json list;

	list["algorithm"] = "onramp";
	list["parameters"] = knobs_array(default_knobs());
	return list;
}

OnrampLine parse_onramp_line(const std::string &line)
{
	std::vector<std::string> columns = csv_columns(kOnrampInput, line);
	OnrampLine parsed;

	parsed.time_text = columns[0];
	parsed.time_ns = csv_number("time_ns", columns[0], kMaxTimeNs);
	parsed.end_seq = csv_number("end_seq", columns[2], kMaxSeq);
	if (columns[1] != "tx" && columns[1] != "ack")
		throw Error("kind is neither tx nor ack: '" + columns[1] + "'");
	if (columns[1] == "ack")
		parsed.owd_ns = csv_number("owd_ns", columns[3],
					   ONRAMP_DELAY_MAX_NS);
	else if (!columns[3].empty())
		csv_number("owd_ns", columns[3], ONRAMP_DELAY_MAX_NS);
	return parsed;
}

std::optional<onramp_verdict> OnrampReplay::feed(const OnrampLine &line)
{
	onramp_verdict verdict;

	if (!begun_)
		onramp_pause_init(&state_, line.time_ns);
	begun_ = true;
	if (!line.owd_ns) {
		departures_[line.end_seq] = {line.time_ns, onramp_pause_sent(&state_, line.time_ns)};
		return std::nullopt;
	}

	auto departure = departures_.find(line.end_seq);

	if (departure == departures_.end())
		throw Error("no packet with end_seq " +
			    std::to_string(line.end_seq) + " was sent");
	least_rtt_ns_ = std::min(least_rtt_ns_, line.time_ns - departure->second.time_ns);
	state_.far = onramp_pause_far(&params_, least_rtt_ns_);
	onramp_pause_sample(&state_, &params_, line.time_ns, *line.owd_ns,
			    departure->second.note_ns, &verdict);
	return verdict;
}

void replay_onramp_stream(const onramp_pause_params &params, std::istream &in,
			  std::ostream &out)
{
	OnrampReplay replay(params);
	u64 previous_ns = 0;

	convert_csv({kOnrampInput, kOnrampOutput}, in, out, [&](const std::string &text) {
		OnrampLine line = parse_onramp_line(text);

		if (line.time_ns < previous_ns)
			throw Error("time_ns goes backwards: " + line.time_text);
		previous_ns = line.time_ns;

		std::optional<onramp_verdict> verdict = replay.feed(line);

		if (verdict)
			write_line(out, line, replay.state(), *verdict);
	});
}

}  // namespace turnpike
