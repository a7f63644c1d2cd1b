// SPDX-License-Identifier: GPL-2.0
//
// The generic netlink family of sch_onramp, and names for what it says in numbers.
#ifndef TURNPIKE_TOOLS_ONRAMP_FAMILY_H
#define TURNPIKE_TOOLS_ONRAMP_FAMILY_H

#include <string>

#include "genl.h"
#include "include/uapi/turnpike.h"

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

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ONRAMP_FAMILY_H
