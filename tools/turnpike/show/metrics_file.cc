// SPDX-License-Identifier: GPL-2.0
#include "metrics_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "../netns.h"

namespace turnpike {
namespace {

bool write_all(int fd, const std::string &text)
{
	std::size_t done = 0;

	while (done < text.size()) {
		ssize_t wrote = write(fd, text.data() + done, text.size() - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		done += static_cast<std::size_t>(wrote);
	}
	return true;
}

}  // namespace

void replace_file(const std::string &path, const std::string &text)
{
	std::filesystem::path place(path);
	// In the same directory, as a file system renames within itself alone; node_exporter reads names in .prom.
	std::string next = (place.parent_path() / ("." + place.filename().string() + ".XXXXXX")).string();
	File file(mkostemp(next.data(), O_CLOEXEC));

	if (file.fd() < 0)
		throw Error("cannot write " + path + ": " + std::strerror(errno));
	// On the disk before it has the name: after a crash nobody finds an empty file.
	if (write_all(file.fd(), text) && !fchmod(file.fd(), 0644) && !fsync(file.fd()) &&
	    !std::rename(next.c_str(), path.c_str()))
		return;
	int why = errno;
	unlink(next.c_str());
	throw Error("cannot write " + path + ": " + std::strerror(why));
}

}  // namespace turnpike
