// SPDX-License-Identifier: GPL-2.0
// A load that vload is to make, in JSON: tools/vload/config.h
//
// sources: tools/vload/{config,sizes}.cc
#include "fuzz.h"

#include "tools/vload/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	// There are no files of sizes where the paths lead.
	const vload::ConfigPaths nowhere = { "/proc/self/fdinfo/none", "/proc/self/fdinfo/none" };

	try {
		vload::Config config = vload::config_parse(text_of(data, bytes), nowhere);

		HOLDS(config.duration_ns > 0);
		HOLDS(!config.hosts.empty());
	} catch (const vload::ConfigError &error) {
		HOLDS(error.what()[0]);
	}
	return 0;
}
