// SPDX-License-Identifier: GPL-2.0
// Answers of a kernel module that may be of another version: the flows of On-Ramp.
//
// sources: tools/turnpike/{genl,onramp,onramp_flows}.cc
// libraries: -lmnl
#include "fuzz.h"

#include <cstring>
#include <stdexcept>

#include <linux/netlink.h>

#include "tools/turnpike/onramp_flows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	if (bytes > 60000)
		return 0;
	// A nest of what came, as it stands in a message: aligned to four.
	std::vector<std::uint32_t> room((NLA_HDRLEN + bytes + 3) / 4);
	auto *nest = reinterpret_cast<nlattr *>(room.data());
	turnpike::OnrampFlows flows;

	nest->nla_len = static_cast<__u16>(NLA_HDRLEN + bytes);
	nest->nla_type = NLA_F_NESTED;
	if (bytes)
		std::memcpy(reinterpret_cast<char *>(nest) + NLA_HDRLEN, data, bytes);
	try {
		flows.add(turnpike::parse_nest(nest));
		flows.table(false);
		flows.table(true);
		flows.json().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
	} catch (const turnpike::Error &error) {
		HOLDS(error.what()[0]);
	}
	return 0;
}
