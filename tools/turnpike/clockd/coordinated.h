// SPDX-License-Identifier: GPL-2.0
//
// What a host knows by its coordinator: clocks of others, at the moment that the answer names, and on from there. An
// answer counts for three windows. State in, answer in, offset out.
#ifndef TURNPIKE_TOOLS_CLOCKD_COORDINATED_H
#define TURNPIKE_TOOLS_CLOCKD_COORDINATED_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "coordinator.h"
#include "pair_clock.h"

namespace turnpike {

// When a window is to end that began at this moment, as all moments here by the monotonic clock: hosts' windows end an
// eighth to a sixteenth of one before the coordinator's, one host after the other, so that what it solves is new, and
// not all of it comes at once. answered_ns: when an answer came that is no older than a few windows.
inline std::int64_t aligned_end_ns(std::int64_t answered_ns, std::int64_t begin_ns, std::int64_t window_ns,
				   std::size_t host, std::size_t hosts)
{
	std::int64_t early_ns = window_ns / 16 * static_cast<std::int64_t>(hosts + host) /
				static_cast<std::int64_t>(hosts),
		     end_ns = answered_ns + window_ns - early_ns;

	while (end_ns < begin_ns + window_ns / 2)
		end_ns += window_ns;
	return end_ns;
}

class Coordinated {
public:
	// grain_ns: of stamps.
	Coordinated(std::int64_t window_ns, double grain_ns) : window_ns_(window_ns), grain_ns_(grain_ns) {}

	// now_ns: by our clock. False: it is of another time.
	bool heard(const ClockAnswer &answer, std::int64_t now_ns)
	{
		// a host that is left out is told so at no moment
		if (answer.at_ns && !is_of_now(answer.at_ns, now_ns))
			return false;
		answered_ns_ = now_ns;
		known_ = answer.at_ns;
		left_out_ = !known_ && std::any_of(answer.clocks.begin(), answer.clocks.end(),
						   [](const AnsweredClock &clock) { return clock.has_edge; });
		summary_ = answer.summary;
		if (!known_)
			clocks_.clear();
		for (const AnsweredClock &clock : answer.clocks)
			clocks_[clock.host] = {answer.at_ns, clock};
		return true;
	}

	// Its clock was set, or ours: what was said is of the time before.
	void forget(HostNumber host) { clocks_.erase(host); }
	void forget_all() { clocks_.clear(); }

	// What is known when our clock says so.
	std::optional<PeerOffset> at(HostNumber host, std::int64_t now_ns) const
	{
		const AnsweredClock *clock = of(host, now_ns);

		if (!clock || !clock->known)
			return std::nullopt;
		double ns = static_cast<double>(now_ns - clocks_.at(host).at_ns), drift = clock->drift_ppt * 1e-12;
		double sigma_ns = std::hypot(clock->sigma_ps * 1e-3, kDriftUnknown * ns);
		return PeerOffset{clock->offset_ns + std::llround(drift * ns),
				  std::llround(PairClock::kSigmas * sigma_ns + grain_ns_), drift};
	}

	// What the last answer says of it; nullptr: nothing, or not any more.
	const AnsweredClock *of(HostNumber host, std::int64_t now_ns) const
	{
		auto found = clocks_.find(host);

		return found != clocks_.end() && is_of_now(found->second.at_ns, now_ns) ? &found->second.clock : nullptr;
	}

	bool is_answered(std::int64_t now_ns) const { return answered_ns_ && is_of_now(answered_ns_, now_ns); }

	// This host's clock, to the coordinator; if not, because its edges do not fit what all others say.
	bool is_known() const { return known_; }
	bool is_left_out() const { return left_out_; }

	// Of the last answer.
	const MeshSummary &summary() const { return summary_; }

private:
	struct Known {
		std::int64_t at_ns;
		AnsweredClock clock;
	};

	bool is_of_now(std::int64_t at_ns, std::int64_t now_ns) const
	{
		std::int64_t most_ns = kWordWindows * window_ns_;

		return now_ns - at_ns < most_ns && at_ns - now_ns < most_ns;
	}

	std::int64_t window_ns_;
	double grain_ns_;
	std::map<HostNumber, Known> clocks_;
	std::int64_t answered_ns_ = 0;
	bool known_ = false, left_out_ = false;
	MeshSummary summary_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_COORDINATED_H
