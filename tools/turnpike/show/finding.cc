// SPDX-License-Identifier: GPL-2.0
#include "finding.h"

namespace turnpike {

const char *severity_name(Severity severity)
{
	static const char *const names[] = {"fine", "info", "warning", "broken"};

	return names[static_cast<int>(severity)];
}

}  // namespace turnpike
