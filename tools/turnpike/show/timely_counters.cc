// SPDX-License-Identifier: GPL-2.0
#include "timely_counters.h"

#include <cstdint>
#include <fstream>
#include <string>

namespace turnpike {

nlohmann::ordered_json timely_counters()
{
	// /proc/net is that of the process, whose threads may be in other namespaces.
	std::ifstream file("/proc/thread-self/net/tcp_timely");
	nlohmann::ordered_json counters;
	std::string name;
	std::uint64_t value;

	while (file >> name >> value)
		counters[name] = value;
	return counters;
}

}  // namespace turnpike
