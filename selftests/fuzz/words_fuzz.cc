// SPDX-License-Identifier: GPL-2.0
// What an operator types: rules, code points, keys, prefixes, times, sizes, settings.  Any of
// them is taken or refused with a sentence.
//
// sources: tools/turnpike/{knobs,onramp,tlt}.cc
#include "fuzz.h"

#include "tools/turnpike/command.h"
#include "tools/turnpike/knobs.h"
#include "tools/turnpike/onramp.h"
#include "tools/turnpike/tlt.h"

namespace {

void read_as(unsigned what, const std::string &text)
{
	switch (what % 8) {
	case 0:
		turnpike::tlt_rule(text);
		break;
	case 1:
		// What is shown is what can be given.
		turnpike::tlt_map(turnpike::tlt_map_text(turnpike::tlt_map(text)));
		break;
	case 2:
		turnpike::onramp_key(text);
		break;
	case 3:
		turnpike::onramp_prefix(turnpike::onramp_prefix_text(turnpike::onramp_prefix(text)));
		break;
	case 4:
		turnpike::onramp_time_ns(text);
		break;
	case 5:
		HOLDS(turnpike::tlt_bytes(text) >= 0);
		break;
	case 6:
		HOLDS(turnpike::knob_value("knob", turnpike::split_setting(text).second, 3, 70000) >= 3);
		break;
	default:
		turnpike::onramp_address(turnpike::onramp_address_text(turnpike::onramp_address(text).data()));
	}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	if (!bytes)
		return 0;
	try {
		read_as(data[0], text_of(data + 1, bytes - 1));
	} catch (const turnpike::Error &error) {
		HOLDS(error.what()[0]);
	}
	return 0;
}
