// SPDX-License-Identifier: GPL-2.0
//
// Replay: a trace of RTTs through the rate engine, line by line.
#ifndef TURNPIKE_TOOLS_REPLAY_H
#define TURNPIKE_TOOLS_REPLAY_H

#include <istream>
#include <optional>
#include <ostream>
#include <string>

#include "tcp_timely/timely_rate.h"

namespace turnpike {

inline constexpr char kReplayInput[] = "time_us,rtt_us,acked_bytes";
inline constexpr char kReplayOutput[] =
	"time_us,rtt_us,event,rate_bps,gradient,branch";

struct ReplayOptions {
	timely_params params;
	bool line_events;  // every line completes a segment
	u64 line_rate_bps; // start, where init_rate_bps is 0
	u64 cap_bps;       // 0: none
	u32 mss;
};

struct ReplayLine {
	std::string time_text;
	std::string rtt_text;
	u64 time_ns;
	u64 rtt_ns;
	u32 acked_bytes;
};

// Throws Error with the reason.
ReplayLine parse_replay_line(const std::string &line);

class Replay {
public:
	explicit Replay(const ReplayOptions &options);

	// The outcome when this line completed a segment.
	std::optional<timely_outcome> feed(const ReplayLine &line);

	u64 rate_bps() const { return state_.rate_bps; }
	double gradient() const { return gradient_; }

private:
	u32 segment_bytes() const;

	ReplayOptions options_;
	timely_state state_;
	u64 pending_bytes_ = 0;
	u64 segment_bytes_;
	double gradient_ = 0;
};

// Throws Error naming the line at fault; lines before it are written.
void replay_stream(const ReplayOptions &options, std::istream &in,
		   std::ostream &out);

const char *branch_name(timely_branch branch);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_REPLAY_H
