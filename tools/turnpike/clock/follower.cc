// SPDX-License-Identifier: GPL-2.0
#include "follower.h"

#include <algorithm>

namespace turnpike {
namespace {

constexpr std::int64_t kSecondNs = 1000000000;

std::int64_t growth_ns(std::int64_t ppb, std::int64_t time_ns)
{
	// rounded up: a bound
	return (ppb * (time_ns / 1000) + 999999) / 1000000;
}

}  // namespace

ClockTold ClockFollower::heard(const ClockReading &reading, std::int64_t now_ns)
{
	error_ns_ = std::max<std::int64_t>(reading.error_ns, 1);
	heard_ns_ = now_ns - reading.age_ns;
	return on_its_own(now_ns, growth_ns(reading.drift_ppb, poll_s_ * kSecondNs));
}

ClockTold ClockFollower::lost(std::int64_t now_ns) const
{
	if (!error_ns_)
		return {0, 0};
	return on_its_own(now_ns, growth_ns(drift_ppb_, poll_s_ * kSecondNs));
}

ClockTold ClockFollower::unsettled()
{
	error_ns_ = 0;
	return {0, 0};
}

// more_ns: the growth until the next poll.
ClockTold ClockFollower::on_its_own(std::int64_t now_ns, std::int64_t more_ns) const
{
	std::int64_t age_ns = now_ns - heard_ns_;
	std::int64_t left_ns = kClockPolls * poll_s_ * kSecondNs - age_ns;
	std::int64_t error_ns = error_ns_ + growth_ns(drift_ppb_, age_ns) + more_ns;

	if (left_ns <= 0 || error_ns > kClockErrorMaxNs)
		return {0, 0};
	return {static_cast<std::uint32_t>(error_ns), static_cast<std::uint32_t>((left_ns + kSecondNs - 1) / kSecondNs)};
}

}  // namespace turnpike
