// SPDX-License-Identifier: GPL-2.0
#include "own_clock.h"

#include <libmnl/libmnl.h>

#include "../onramp_family.h"

namespace turnpike {

void tell_own_clock(std::uint32_t error_ns, std::uint32_t seconds)
{
	onramp_family().call(ONRAMP_CMD_CLOCK_OWN, [&](nlmsghdr *message) {
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_ERROR, error_ns);
		if (seconds)
			mnl_attr_put_u32(message, ONRAMP_A_CLOCK_SECONDS, seconds);
	}, nullptr);
}

}  // namespace turnpike
