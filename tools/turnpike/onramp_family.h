// SPDX-License-Identifier: GPL-2.0
//
// The generic netlink family of sch_onramp, and names for what it says in numbers.
#ifndef TURNPIKE_TOOLS_ONRAMP_FAMILY_H
#define TURNPIKE_TOOLS_ONRAMP_FAMILY_H

#include <string>

#include "genl.h"
#include "include/uapi/turnpike.h"
#include "onramp.h"

namespace turnpike {

inline Genl onramp_family()
{
	return Genl(ONRAMP_GENL_NAME, ONRAMP_GENL_VERSION,
		    "the kernel knows no On-Ramp: load its module with 'modprobe sch_onramp'");
}

inline std::string onramp_grade_text(unsigned grade)
{
	static const char *const names[] = {"none", "a", "b", "c"};

	return grade < std::size(names) ? names[grade] : std::to_string(grade);
}

inline std::string address_text(const Attributes &a, unsigned type)
{
	return onramp_address_text(attribute_bytes(a.at(type), sizeof(OnrampAddress)));
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ONRAMP_FAMILY_H
