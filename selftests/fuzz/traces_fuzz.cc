// SPDX-License-Identifier: GPL-2.0
// Traces that `turnpike replay' reads: the first byte chooses the algorithm.
//
// sources: tools/turnpike/{csv,knobs,onramp_replay,presets,replay}.cc
#include "fuzz.h"

#include <sstream>

#include "tools/turnpike/command.h"
#include "tools/turnpike/onramp_replay.h"
#include "tools/turnpike/presets.h"
#include "tools/turnpike/replay.h"

namespace {

// As the command does: every line that was read is answered, or one is named as wrong.
void replay(bool onramp, std::istream &in, std::ostream &out)
{
	if (onramp) {
		onramp_pause_params params = {};

		onramp_pause_params_init(&params);
		turnpike::replay_onramp_stream(params, in, out);
		return;
	}
	turnpike::ReplayOptions options = {};

	options.params = turnpike::find_preset(TIMELY_VARIANT_TIMELY, "default").params;
	options.line_rate_bps = 10000000000ULL;
	options.mss = 1448;
	turnpike::replay_stream(options, in, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	if (!bytes)
		return 0;
	std::istringstream in(text_of(data + 1, bytes - 1));
	std::ostringstream out;

	try {
		replay(data[0] & 1, in, out);
	} catch (const turnpike::Error &error) {
		HOLDS(std::string(error.what()).rfind("line ", 0) == 0);
	}
	return 0;
}
