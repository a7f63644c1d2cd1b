// SPDX-License-Identifier: GPL-2.0
#include "replay.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "command.h"
#include "csv.h"

namespace turnpike {
namespace {

constexpr u64 kMaxTimeUs = 1000000000000000;  // 31 years
constexpr u32 kFrameBytes = 52 + 38;  // headers with timestamps, Ethernet and gap

bool all_digits(const std::string &text)
{
	return std::all_of(text.begin(), text.end(),
			   [](char c) { return c >= '0' && c <= '9'; });
}

// Microseconds with an optional fraction, rounded to nanoseconds. Decimal all
// the way: a binary double would blur the differences between RTTs.
u64 parse_time_ns(const char *column, const std::string &text, u64 max_us)
{
	std::size_t point = text.find('.');
	std::string whole = text.substr(0, point);
	std::string part = point == std::string::npos ? ""
						      : text.substr(point + 1);

	if (point != std::string::npos && (part.empty() || !all_digits(part)))
		throw Error(std::string(column) + " is not a number: '" + text +
			    "'");
	part.resize(std::max<std::size_t>(part.size(), 4), '0');

	u64 ns = csv_number(column, whole, max_us) * 1000;

	ns += csv_number(column, part.substr(0, 3), 999);
	return ns + (part[3] >= '5');
}

double gradient_of(const timely_outcome &outcome)
{
	return static_cast<double>(outcome.rtt_diff_q) /
	       (1 << TIMELY_DIFF_SHIFT) / outcome.unit_ns;
}

void write_line(std::ostream &out, const ReplayLine &line, const Replay &replay,
		const std::optional<timely_outcome> &outcome)
{
	char gradient[32];

	std::snprintf(gradient, sizeof(gradient), "%.9f", replay.gradient());
	out << line.time_text << ',' << line.rtt_text << ','
	    << (outcome ? 1 : 0) << ',' << replay.rate_bps() << ',' << gradient
	    << ',' << (outcome ? branch_name(outcome->branch) : "none") << '\n';
}

}  // namespace

const char *branch_name(timely_branch branch)
{
	switch (branch) {
	case TIMELY_BRANCH_FIRST:
		return "first";
	case TIMELY_BRANCH_DROPPED:
		return "below_floor";
	case TIMELY_BRANCH_LOW:
		return "low";
	case TIMELY_BRANCH_HIGH:
		return "high";
	case TIMELY_BRANCH_INC:
		return "increase";
	case TIMELY_BRANCH_HAI:
		return "hai";
	case TIMELY_BRANCH_DEC:
		return "decrease";
	case TIMELY_BRANCH_BLEND:
		return "blend";
	case TIMELY_BRANCH_DRAIN:
		return "drain";
	case TIMELY_BRANCH_MERGED:
		return "merged";
	case TIMELY_BRANCH_COUNT:
		break;
	}
	return "unknown";
}

ReplayLine parse_replay_line(const std::string &line)
{
	std::vector<std::string> fields = csv_columns(kReplayInput, line);
	ReplayLine parsed;

	parsed.time_text = fields[0];
	parsed.rtt_text = fields[1];
	parsed.time_ns = parse_time_ns("time_us", fields[0], kMaxTimeUs);
	parsed.rtt_ns = parse_time_ns("rtt_us", fields[1],
				      TIMELY_RTT_MAX_NS / 1000);
	if (!parsed.rtt_ns)
		throw Error("rtt_us is zero");
	if (parsed.rtt_ns > TIMELY_RTT_MAX_NS)
		throw Error("rtt_us is too large: " + fields[1]);
	parsed.acked_bytes = static_cast<u32>(
		csv_number("acked_bytes", fields[2], 0xffffffff));
	return parsed;
}

Replay::Replay(const ReplayOptions &options) : options_(options)
{
	u64 start_bps = options.params.init_rate_bps;

	timely_rate_start(&state_, &options_.params,
			  start_bps ? start_bps : options.line_rate_bps, 0);
	segment_bytes_ = segment_bytes();
}

u32 Replay::segment_bytes() const
{
	return timely_burst_bytes(&state_, &options_.params, options_.mss);
}

std::optional<timely_outcome> Replay::feed(const ReplayLine &line)
{
	timely_outcome outcome;

	pending_bytes_ += line.acked_bytes;
	if (!options_.line_events && pending_bytes_ < segment_bytes_)
		return std::nullopt;

	const u32 frame_ns = static_cast<u32>((options_.mss + kFrameBytes) * 8000000000ULL /
					      options_.line_rate_bps);
	timely_sample sample{
		.now_ns = line.time_ns,
		.rtt_ns = line.rtt_ns,
		.cap_bps = options_.cap_bps,
		.acked_bytes = static_cast<u32>(
			std::min<u64>(pending_bytes_, 0xffffffff)),
		.frame_bytes = options_.mss + kFrameBytes,
		.frame_ns = frame_ns,
		.burst_ns = static_cast<u32>(segment_bytes_ / options_.mss * frame_ns),
		.coalesce_ns = 0,
		.back_load = 0,
		.app_limited = false,
	};

	timely_rate_sample(&state_, &options_.params, &sample, &outcome);
	gradient_ = gradient_of(outcome);
	pending_bytes_ = 0;
	segment_bytes_ = segment_bytes();
	return outcome;
}

void replay_stream(const ReplayOptions &options, std::istream &in,
		   std::ostream &out)
{
	Replay replay(options);
	u64 previous_ns = 0;

	convert_csv({kReplayInput, kReplayOutput}, in, out, [&](const std::string &text) {
		ReplayLine line = parse_replay_line(text);

		if (line.time_ns < previous_ns)
			throw Error("time_us goes backwards: " + line.time_text);
		previous_ns = line.time_ns;
		std::optional<timely_outcome> outcome = replay.feed(line);

		write_line(out, line, replay, outcome);
	});
}

}  // namespace turnpike
