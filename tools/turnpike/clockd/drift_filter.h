// SPDX-License-Identifier: GPL-2.0
//
// Offsets of one pair, window by window, to what the offset is now: a Kalman filter of offset and drift. A window
// counts by its own sigma, so that one full of queues moves little. The drift wanders; an offset that cannot be by all
// that is known is a clock that was set, and begins anew.
#ifndef TURNPIKE_TOOLS_CLOCKD_DRIFT_FILTER_H
#define TURNPIKE_TOOLS_CLOCKD_DRIFT_FILTER_H

#include <cmath>
#include <cstdint>
#include <optional>

namespace turnpike {

struct OffsetNow {
	std::int64_t offset_ns;
	double sigma_ns;
	double drift;
	double drift_sigma;
	unsigned windows;	// that agree on it
};

class DriftFilter {
public:
	// An offset at a moment of our clock, whose drift is known to drift_sigma. False: it began anew, by this one.
	bool heard(std::int64_t at_ns, std::int64_t offset_ns, double sigma_ns, double drift, double drift_sigma)
	{
		if (known_)
			go_to(at_ns);
		double off_ns = known_ ? static_cast<double>(offset_ns - offset_ns_) - rest_ns_ : 0;
		double variance = offset_var_ + sigma_ns * sigma_ns;
		if (!known_ || off_ns * off_ns > kImpossible * kImpossible * variance) {
			bool first = !known_;
			*this = DriftFilter();
			known_ = true;
			windows_ = 1;
			at_ns_ = at_ns;
			offset_ns_ = offset_ns;
			offset_var_ = sigma_ns * sigma_ns;
			drift_ = drift;
			drift_var_ = drift_sigma * drift_sigma;
			return first;
		}
		double gain = offset_var_ / variance, drift_gain = both_ / variance;
		windows_++;
		rest_ns_ += gain * off_ns;
		drift_ += drift_gain * off_ns;
		drift_var_ -= drift_gain * both_;
		both_ -= drift_gain * offset_var_;
		offset_var_ -= gain * offset_var_;
		return true;
	}

	// Nothing: there was no offset yet.
	std::optional<OffsetNow> at(std::int64_t at_ns) const
	{
		DriftFilter then = *this;

		if (!known_)
			return std::nullopt;
		then.go_to(at_ns);
		return OffsetNow{then.offset_ns_ + std::llround(then.rest_ns_), std::sqrt(then.offset_var_),
				 then.drift_,
				 std::sqrt(then.drift_var_), then.windows_};
	}

	void forget() { *this = DriftFilter(); }

private:
	// By which a drift wanders in a second: crystals of hosts, and what steers them.
	static constexpr double kWander = 5e-9;
	static constexpr double kImpossible = 8;

	void go_to(std::int64_t at_ns)
	{
		double ns = static_cast<double>(at_ns - at_ns_), s = std::fabs(ns) * 1e-9;
		double wander = kWander * kWander * s;

		rest_ns_ += drift_ * ns;
		double whole_ns = std::nearbyint(rest_ns_);
		offset_ns_ += static_cast<std::int64_t>(whole_ns);
		rest_ns_ -= whole_ns;
		offset_var_ += 2 * both_ * ns + drift_var_ * ns * ns + wander * ns * ns / 3;
		both_ += drift_var_ * ns + wander * ns / 2;
		drift_var_ += wander;
		at_ns_ = at_ns;
	}

	bool known_ = false;
	unsigned windows_ = 0;
	std::int64_t at_ns_ = 0, offset_ns_ = 0;
	double rest_ns_ = 0;		// and parts of a nanosecond
	double drift_ = 0;
	double offset_var_ = 0, drift_var_ = 0, both_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_DRIFT_FILTER_H
