// SPDX-License-Identifier: GPL-2.0
#include "pace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include <poll.h>

#include "../command.h"
#include "../monotonic.h"

namespace turnpike {

std::int64_t next_due_ns(std::int64_t start_ns, std::int64_t interval_ns, std::int64_t now_ns)
{
	return start_ns + (std::max<std::int64_t>(now_ns - start_ns, 0) / interval_ns + 1) * interval_ns;
}

Woken wait_until(std::int64_t due_ns, int in, int out, const sigset_t *mask)
{
	for (;;) {
		std::int64_t left_ns = std::max<std::int64_t>(due_ns - monotonic_ns(), 0);
		struct timespec left = {left_ns / 1000000000, static_cast<long>(left_ns % 1000000000)};
		struct pollfd files[] = {{in, POLLIN, 0}, {out, 0, 0}};
		int ready = ppoll(files, 2, &left, mask);

		if (ready < 0 && errno != EINTR)
			throw Error(std::string("cannot wait: ") + std::strerror(errno));
		if (ready < 0)
			return Woken::signal;
		if ((files[0].revents | files[1].revents) & (POLLHUP | POLLERR | POLLNVAL))
			return Woken::gone;
		if (files[0].revents & POLLIN)
			return Woken::input;
		if (monotonic_ns() >= due_ns)
			return Woken::due;
	}
}

}  // namespace turnpike
