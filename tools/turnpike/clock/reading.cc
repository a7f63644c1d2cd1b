// SPDX-License-Identifier: GPL-2.0
#include "reading.h"

#include "chrony.h"
#include "kernel_clock.h"
#include "ptp4l.h"

namespace turnpike {
namespace {

std::unique_ptr<ClockSource> named(const std::string &name, const ClockSourceOptions &options)
{
	if (name == "chrony")
		return chrony_source();
	if (name == "ptp4l")
		return ptp4l_source(options.uds, options.nic);
	return kernel_source();
}

}  // namespace

std::unique_ptr<ClockSource> clock_source(const ClockSourceOptions &options)
{
	std::string said;

	if (options.name != "auto")
		return named(options.name, options);
	for (const char *name : {"chrony", "ptp4l", "kernel"}) {
		std::unique_ptr<ClockSource> source = named(name, options);
		try {
			source->read();
			return source;
		} catch (const ClockLost &why) {
			said += "\n  " + std::string(name) + ": " + why.what();
		}
	}
	throw ClockLost("nothing keeps this host's time:" + said);
}

}  // namespace turnpike
