// SPDX-License-Identifier: GPL-2.0
//
// Replay of one flow's departures and feedback through On-Ramp's pausing rule.
#ifndef TURNPIKE_TOOLS_ONRAMP_REPLAY_H
#define TURNPIKE_TOOLS_ONRAMP_REPLAY_H

#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sch_onramp/onramp_pause.h"

namespace turnpike {

inline constexpr char kOnrampInput[] = "time_ns,kind,end_seq,owd_ns";
inline constexpr char kOnrampOutput[] =
	"time_ns,beta,pause_last_rtt_ns,t_next_ns";

// Apply NAME=VALUE settings in order; throws Error.
void apply_onramp_settings(onramp_pause_params &params,
			   const std::vector<std::string> &settings);

// Every parameter with its unit, default, range and meaning.
void list_onramp_knobs(std::ostream &out);
nlohmann::ordered_json onramp_knobs_json();

struct OnrampLine {
	std::string time_text;
	u64 time_ns;
	u64 end_seq;
	// Of an ack; a tx has none.
	std::optional<u64> owd_ns;
};

// Throws Error with the reason.
OnrampLine parse_onramp_line(const std::string &line);

class OnrampReplay {
public:
	explicit OnrampReplay(const onramp_pause_params &params)
		: params_(params)
	{
	}

	// What the sample did, where the line is an ack. Throws Error when its
	// packet was not sent.
	std::optional<onramp_verdict> feed(const OnrampLine &line);

	const onramp_pause &state() const { return state_; }

private:
	onramp_pause_params params_;
	onramp_pause state_;
	bool begun_ = false;
	struct Departure {
		u64 time_ns;
		u64 note_ns;  // the counter then
	};
	// Of each packet the latest, by end_seq.
	std::map<u64, Departure> departures_;
	u64 least_rtt_ns_ = ~0ULL;
};

// Throws Error naming the line at fault; lines before it are written.
void replay_onramp_stream(const onramp_pause_params &params, std::istream &in,
			  std::ostream &out);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ONRAMP_REPLAY_H
