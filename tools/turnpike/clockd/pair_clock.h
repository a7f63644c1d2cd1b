// SPDX-License-Identifier: GPL-2.0
//
// One peer's clock against ours: the pairs of a window in, the offset now and its error out.
#ifndef TURNPIKE_TOOLS_CLOCKD_PAIR_CLOCK_H
#define TURNPIKE_TOOLS_CLOCKD_PAIR_CLOCK_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "drift_filter.h"
#include "empty_trip.h"
#include "probe_track.h"
#include "purity.h"
#include "strip_fit.h"

namespace turnpike {

// What is told of a peer, at one moment.
struct PeerOffset {
	std::int64_t offset_ns;		// its clock less ours
	std::int64_t error_ns;
	double drift;
};

class PairClock {
public:
	// An error that is larger is one of four hundred, of a normal distribution.
	static constexpr double kSigmas = 3;
	// What heard() says then.
	static constexpr const char *kWasSet = "a clock was set";

	// grain_ns: of stamps. What cannot be better than that is not told to be.
	explicit PairClock(double grain_ns) : grain_ns_(grain_ns) {}

	// A window is over. Says what is wrong; empty: nothing is.
	std::string heard(const ProbePairs &pairs)
	{
		there_ = pairs.there.size();
		back_ = pairs.back.size();
		if (!there_ && !back_)
			return "does not answer";
		if (std::min(there_, back_) < kLeastPairs)
			return "too few probes come";
		std::int64_t from_ns = pairs.there.front().sent_ns[0],
			     apart_ns = pairs.there.front().received_ns[0] - from_ns;
		if (std::llabs(apart_ns) > kApartMostNs)
			return "its clock is decades from ours";
		std::int64_t middle_ns = from_ns + (pairs.there.back().sent_ns[0] - from_ns) / 2;
		double length_ns = static_cast<double>(pairs.there.back().sent_ns[0] - from_ns);
		std::optional<Strip> strip = fit(points(pairs.there, 1, middle_ns, apart_ns),
						 points(pairs.back, -1, middle_ns, apart_ns), middle_ns);
		if (!strip || length_ns <= 0 || std::fabs(strip->offset_ns) > kApartMostNs) {
			filter_.forget();
			return kWasSet;
		}
		width_ns_ = strip->width_ns;
		double sigma_ns = trip_.sigma_ns(*strip, grain_ns_);
		// both ends of the window know the offset as well as its middle
		bool same = filter_.heard(middle_ns, apart_ns + std::llround(strip->offset_ns), sigma_ns, strip->slope,
					  4 * sigma_ns / length_ns);
		return same ? "" : kWasSet;
	}

	// What is known when our clock says so,
	std::optional<OffsetNow> estimate(std::int64_t now_ns) const { return filter_.at(now_ns); }

	// and what is told of that.
	std::optional<PeerOffset> at(std::int64_t now_ns) const
	{
		std::optional<OffsetNow> now = estimate(now_ns);

		if (!now)
			return std::nullopt;
		double error_ns = std::min(kSigmas * now->sigma_ns + grain_ns_, 1e12);
		return PeerOffset{now->offset_ns, std::llround(error_ns), now->drift};
	}

	std::size_t there() const { return there_; }
	std::size_t back() const { return back_; }
	double width_ns() const { return width_ns_; }

private:
	// By the drift that windows before agree on, unless that leaves a strip narrower than the path.
	std::optional<Strip> fit(const std::vector<StripPoint> &there, const std::vector<StripPoint> &back,
				 std::int64_t middle_ns) const
	{
		std::optional<OffsetNow> known = filter_.at(middle_ns);
		StripOptions options;

		if (known && known->windows >= kAgree) {
			options.slope = known->drift;
			options.slope_max = kDriftSigmas * known->drift_sigma;
			std::optional<Strip> strip = strip_fit(there, back, options);
			if (strip && !trip_.is_narrower(strip->width_ns, grain_ns_))
				return strip;
		}
		return strip_fit(there, back);
	}

	static constexpr unsigned kAgree = 4;
	static constexpr double kDriftSigmas = 2;
	static constexpr std::size_t kLeastPairs = 8;
	// As the kernel takes it.
	static constexpr std::int64_t kApartMostNs = 1000000000000000000;

	// way: 1 there, by when we sent; -1 back, by when we received.
	std::vector<StripPoint> points(const std::vector<ProbePair> &pairs, int way, std::int64_t middle_ns,
				       std::int64_t apart_ns) const
	{
		std::vector<StripPoint> points;
		std::vector<double> changes_ns;

		for (const ProbePair &pair : pairs) {
			for (unsigned which : {0, 1}) {
				std::int64_t ours_ns = way > 0 ? pair.sent_ns[which] : pair.received_ns[which];
				std::int64_t trip_ns = pair.received_ns[which] - pair.sent_ns[which];
				double from_ns = static_cast<double>(way * trip_ns - apart_ns);
				points.push_back({static_cast<double>(ours_ns - middle_ns), from_ns, 0});
			}
			changes_ns.push_back(static_cast<double>((pair.received_ns[1] - pair.received_ns[0]) -
								 (pair.sent_ns[1] - pair.sent_ns[0])));
		}
		double noise_ns = purity_noise_ns(changes_ns, grain_ns_);
		for (std::size_t i = 0; i < points.size(); i++)
			points[i].weight = purity_weight(changes_ns[i / 2], noise_ns);
		return points;
	}

	double grain_ns_;
	EmptyTrip trip_;
	DriftFilter filter_;
	std::size_t there_ = 0, back_ = 0;
	double width_ns_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_PAIR_CLOCK_H
