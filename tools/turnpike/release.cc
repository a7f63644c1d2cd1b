// SPDX-License-Identifier: GPL-2.0
#include "release.h"

#include <cstdio>

#include <sys/utsname.h>

namespace turnpike {

std::string kernel_release()
{
	struct utsname name;

	return uname(&name) ? "" : name.release;
}

bool is_release_from(const std::string &release, unsigned major, unsigned minor)
{
	unsigned has_major = 0, has_minor = 0;

	if (std::sscanf(release.c_str(), "%u.%u", &has_major, &has_minor) != 2)
		return false;
	return has_major != major ? has_major > major : has_minor >= minor;
}

}  // namespace turnpike
