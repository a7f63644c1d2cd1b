// SPDX-License-Identifier: GPL-2.0
#include "namespaces.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "../command.h"
#include "../netns.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

struct Found {
	std::string name, path;
};

// By their numbers: the first name of one is kept.
void add(std::map<ino_t, Found> &found, const std::string &name, const std::string &path)
{
	struct stat number = {};

	if (!stat(path.c_str(), &number))
		found.try_emplace(number.st_ino, Found{name, path});
}

std::vector<std::string> names_in(const std::string &directory)
{
	std::vector<std::string> names;
	std::error_code error;

	for (const fs::directory_entry &entry : fs::directory_iterator(directory, error))
		names.push_back(entry.path().filename());
	std::sort(names.begin(), names.end());
	return names;
}

std::vector<Found> others()
{
	std::map<ino_t, Found> found;
	std::vector<Found> list;
	struct stat own = {};

	stat("/proc/self/ns/net", &own);
	for (const std::string &name : names_in("/run/netns"))
		add(found, name, "/run/netns/" + name);
	for (const std::string &name : names_in("/proc"))
		if (name.find_first_not_of("0123456789") == std::string::npos)
			add(found, "process " + name, "/proc/" + name + "/ns/net");
	for (const auto &[number, one] : found)
		if (number != own.st_ino)
			list.push_back(one);
	std::sort(list.begin(), list.end(), [](const Found &a, const Found &b) { return a.name < b.name; });
	return list;
}

}  // namespace

ino_t number_of_namespace()
{
	struct stat own = {};

	stat("/proc/thread-self/ns/net", &own);
	return own.st_ino;
}

void each_namespace(const std::function<void(const std::string &name)> &function)
{
	File home(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));

	function("");
	for (const Found &one : others()) {
		File there(open(one.path.c_str(), O_RDONLY | O_CLOEXEC));

		// It is gone by now, or is not ours to enter.
		if (there.fd() < 0 || setns(there.fd(), CLONE_NEWNET))
			continue;
		try {
			function(one.name);
		} catch (...) {
			(void)!setns(home.fd(), CLONE_NEWNET);
			throw;
		}
		if (setns(home.fd(), CLONE_NEWNET))
			throw Error("cannot return to this network namespace");
	}
}

}  // namespace turnpike
