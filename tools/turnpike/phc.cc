// SPDX-License-Identifier: GPL-2.0
#include "phc.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <sys/ioctl.h>

#include "command.h"

namespace turnpike {
namespace {

// The narrowest of so many is taken: one in a few is interrupted.
constexpr unsigned kSamples = 5;

// The clocks count whole nanoseconds.
constexpr std::int64_t kRounding = 1;

std::int64_t now_ns(clockid_t clock)
{
	timespec now = {};

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

ClockLook look()
{
	ClockLook at = {};

	at.before_ns = now_ns(CLOCK_MONOTONIC);
	at.realtime_ns = now_ns(CLOCK_REALTIME);
	at.after_ns = now_ns(CLOCK_MONOTONIC);
	return at;
}

std::int64_t ns_of(const ptp_clock_time &time)
{
	return time.sec * 1000000000LL + time.nsec;
}

bool narrower(const Crossing &one, const Crossing &other)
{
	return one.after_ns - one.before_ns < other.after_ns - other.before_ns;
}

}  // namespace

std::optional<Crossing> to_monotonic(const ClockLook &first, const Crossing &by_realtime,
				     const ClockLook &last)
{
	// CLOCK_REALTIME is ahead of CLOCK_MONOTONIC by no less and no more than this
	std::int64_t low = std::max(first.realtime_ns - first.after_ns,
				    last.realtime_ns - last.after_ns) - kRounding;
	std::int64_t high = std::min(first.realtime_ns - first.before_ns,
				     last.realtime_ns - last.before_ns) + kRounding;
	Crossing crossing = {
		std::max(by_realtime.before_ns - high, first.after_ns),
		by_realtime.nic_ns,
		std::min(by_realtime.after_ns - low, last.before_ns),
	};

	if (low > high || crossing.before_ns > crossing.after_ns)
		return std::nullopt;
	return crossing;
}

Phc::Phc(int index)
	: path_("/dev/ptp" + std::to_string(index)),
	  file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC))
{
	if (file_.fd() < 0)
		throw Error(path_ + ": " + std::strerror(errno));
}

bool Phc::precise(Crossing &crossing)
{
	ptp_sys_offset_precise told = {};

	if (ioctl(file_.fd(), PTP_SYS_OFFSET_PRECISE, &told))
		return false;
	std::int64_t system_ns = ns_of(told.sys_realtime);
	crossing = {system_ns, ns_of(told.device), system_ns};
	return true;
}

bool Phc::extended(Crossing &crossing)
{
	ptp_sys_offset_extended told = {};

	told.n_samples = kSamples;
	if (ioctl(file_.fd(), PTP_SYS_OFFSET_EXTENDED, &told))
		return false;
	for (unsigned i = 0; i < kSamples; i++) {
		Crossing one = {ns_of(told.ts[i][0]), ns_of(told.ts[i][1]), ns_of(told.ts[i][2])};
		if (!i || narrower(one, crossing))
			crossing = one;
	}
	return true;
}

bool Phc::plain(Crossing &crossing)
{
	ptp_sys_offset told = {};

	told.n_samples = kSamples;
	if (ioctl(file_.fd(), PTP_SYS_OFFSET, &told))
		return false;
	for (unsigned i = 0; i < kSamples; i++) {
		Crossing one = {ns_of(told.ts[2 * i]), ns_of(told.ts[2 * i + 1]),
				ns_of(told.ts[2 * i + 2])};
		if (!i || narrower(one, crossing))
			crossing = one;
	}
	return true;
}

PhcWay way_after(PhcWay way, int why)
{
	bool unable = why == EOPNOTSUPP || why == ENOTTY || why == EINVAL || why == ENODEV;

	// a driver that promises it may fail at it each time (no PTM on the way to the NIC)
	if (way == PhcWay::kPrecise)
		unable = why != EINTR;
	return unable ? static_cast<PhcWay>(static_cast<int>(way) + 1) : way;
}

// The first way that this clock knows is kept.
std::optional<Crossing> Phc::read_realtime()
{
	Crossing crossing = {};

	for (;;) {
		bool told = way_ == PhcWay::kPrecise ? precise(crossing) :
			    way_ == PhcWay::kExtended ? extended(crossing) : plain(crossing);
		if (told)
			return crossing;
		int why = errno;
		PhcWay next = way_after(way_, why);
		if (next == PhcWay::kNone)
			throw Error(path_ + (why == ENODEV ? ": the clock is gone" :
					     ": the clock cannot be read beside the system's"));
		if (next == way_)
			return std::nullopt;
		way_ = next;
	}
}

std::optional<Crossing> Phc::read()
{
	ClockLook first = look();
	std::optional<Crossing> crossing = read_realtime();

	return crossing ? to_monotonic(first, *crossing, look()) : std::nullopt;
}

}  // namespace turnpike
