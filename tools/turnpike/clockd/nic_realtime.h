// SPDX-License-Identifier: GPL-2.0
//
// What CLOCK_REALTIME was when a NIC's clock said so: a line through the last readings of both. On-Ramp goes by the
// system's clock, stamps of hardware by the NIC's.
#ifndef TURNPIKE_TOOLS_CLOCKD_NIC_REALTIME_H
#define TURNPIKE_TOOLS_CLOCKD_NIC_REALTIME_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../phc.h"

namespace turnpike {

class NicRealtime {
public:
	// A reading by CLOCK_REALTIME. What cannot be on the line of those before begins anew: a clock was set.
	void read(const Crossing &crossing)
	{
		double half_ns = static_cast<double>(crossing.after_ns - crossing.before_ns) / 2;
		std::int64_t ahead_ns =
			crossing.before_ns + (crossing.after_ns - crossing.before_ns) / 2 - crossing.nic_ns;

		if (count_ && std::fabs(static_cast<double>(ahead_ns - (realtime(crossing.nic_ns) - crossing.nic_ns))) >
				      half_ns + half_ns_ + kOffNs)
			count_ = 0;
		readings_[count_++ % kReadings] = {crossing.nic_ns, ahead_ns};
		half_ns_ = count_ == 1 ? half_ns : half_ns_ + (half_ns - half_ns_) / 8;
		fit(crossing.nic_ns, ahead_ns);
	}

	bool known() const { return count_; }

	std::int64_t realtime(std::int64_t nic_ns) const
	{
		return nic_ns + ahead_ns_ + std::llround(rest_ns_ + slope_ * static_cast<double>(nic_ns - at_ns_));
	}

	// Half of how long a reading takes: the kernel's clock may be read at either end.
	double error_ns() const { return half_ns_; }

private:
	static constexpr std::size_t kReadings = 16;
	// Between two readings a clock is steered by less.
	static constexpr double kOffNs = 20000;

	struct Reading {
		std::int64_t nic_ns, ahead_ns;
	};

	// The line of least squares, by what it is around the newest reading.
	void fit(std::int64_t at_ns, std::int64_t ahead_ns)
	{
		std::size_t n = std::min(count_, kReadings);
		double x = 0, y = 0, xx = 0, xy = 0;

		for (std::size_t i = 0; i < n; i++) {
			double dx = static_cast<double>(readings_[i].nic_ns - at_ns),
			       dy = static_cast<double>(readings_[i].ahead_ns - ahead_ns);
			x += dx / n;
			y += dy / n;
			xx += dx * dx / n;
			xy += dx * dy / n;
		}
		double spread = xx - x * x;
		at_ns_ = at_ns;
		ahead_ns_ = ahead_ns;
		slope_ = spread > 0 ? (xy - x * y) / spread : 0;
		rest_ns_ = y - slope_ * x;
	}

	std::array<Reading, kReadings> readings_ = {};
	std::size_t count_ = 0;
	std::int64_t at_ns_ = 0, ahead_ns_ = 0;
	double rest_ns_ = 0, slope_ = 0, half_ns_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_NIC_REALTIME_H
