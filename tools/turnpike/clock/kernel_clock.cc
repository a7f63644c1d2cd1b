// SPDX-License-Identifier: GPL-2.0
#include "kernel_clock.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace turnpike {
namespace {

// The kernel lets maxerror grow by that between two words of the daemon (MAXFREQ).
constexpr std::int64_t kGrowthPpb = 500000;

constexpr char kTimesyncd[] = "/run/systemd/timesync/synchronized";

class KernelClock : public ClockSource {
public:
	std::string name() const override { return "kernel"; }

	ClockReading read() override
	{
		timex told = {};
		int state = adjtimex(&told);

		if (state < 0)
			throw ClockLost(std::string("adjtimex: ") + std::strerror(errno));
		return kernel_reading(told, state, !access(kTimesyncd, F_OK));
	}
};

}  // namespace

ClockReading kernel_reading(const timex &told, int state, bool timesyncd)
{
	if (state == TIME_ERROR || told.status & STA_UNSYNC)
		throw ClockLost("the kernel's clock is not synchronized");
	if (timesyncd)
		throw ClockLost("systemd-timesyncd keeps the time, and does not say how well; chrony does");
	std::int64_t offset_ns = std::llabs(told.offset) * (told.status & STA_NANO ? 1 : 1000);
	return {told.maxerror * 1000LL + offset_ns, kGrowthPpb, 0, "adjtimex"};
}

std::unique_ptr<ClockSource> kernel_source()
{
	return std::make_unique<KernelClock>();
}

}  // namespace turnpike
