// SPDX-License-Identifier: GPL-2.0
#include "stamp_clock.h"

#include <ctime>

#include "../hwtstamp.h"
#include "../monotonic.h"
#include "../phc.h"
#include "nic_realtime.h"

namespace turnpike {
namespace {

std::int64_t realtime_ns()
{
	timespec now = {};

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * std::int64_t(1000000000) + now.tv_nsec;
}

class SoftwareClock : public StampClock {
public:
	std::string name() const override { return "software"; }
	bool hardware() const override { return false; }
	// An interrupt and a way through the driver are never the same.
	double grain_ns() const override { return 100; }
	void look() override {}
	std::int64_t told_ns(std::int64_t stamp_ns) const override { return stamp_ns; }
	std::int64_t now_ns() const override { return realtime_ns(); }
	double error_ns() const override { return 0; }
};

class HardwareClock : public StampClock {
public:
	HardwareClock(const std::string &device, bool nic)
		: nic_(nic), config_(device, nullptr), phc_(config_.clock(Stamps::all_received)),
		  stamped_(config_, device, SentFrames::stamped)
	{
		look();
	}

	std::string name() const override { return "hardware"; }
	bool hardware() const override { return true; }
	double grain_ns() const override { return 8; }

	void look() override
	{
		stamped_.check();
		std::optional<Crossing> crossing = phc_.read_realtime();
		if (!crossing)
			return;
		realtime_.read(*crossing);
		nic_ns_ = crossing->nic_ns;
		looked_ns_ = monotonic_ns();
	}

	std::int64_t told_ns(std::int64_t stamp_ns) const override
	{
		if (nic_)
			return stamp_ns;
		return realtime_.known() ? realtime_.realtime(stamp_ns) : 0;
	}

	std::int64_t now_ns() const override { return nic_ ? nic_ns_ + (monotonic_ns() - looked_ns_) : realtime_ns(); }
	double error_ns() const override { return nic_ ? 0 : realtime_.error_ns(); }

private:
	bool nic_;
	StampConfig config_;
	Phc phc_;
	AllStamped stamped_;
	NicRealtime realtime_;
	std::int64_t nic_ns_ = 0, looked_ns_ = 0;
};

}  // namespace

std::unique_ptr<StampClock> software_clock()
{
	return std::make_unique<SoftwareClock>();
}

std::unique_ptr<StampClock> hardware_clock(const std::string &device, bool nic)
{
	return std::make_unique<HardwareClock>(device, nic);
}

}  // namespace turnpike
