// SPDX-License-Identifier: GPL-2.0
#include "config_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../command.h"

namespace turnpike {

constexpr char kUtf8Mark[] = "\xef\xbb\xbf";

bool is_absent(const std::string &path)
{
	std::error_code hidden;

	return !std::filesystem::exists(path, hidden) && !hidden;
}

Wanted read_config(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!file || std::filesystem::is_directory(path))
		throw Error("cannot read " + path + ": " + (file ? "it is a directory" : std::strerror(errno)));
	text << file.rdbuf();
	try {
		std::string read = text.str();
		// Some editors mark UTF-8.
		return parse_config(read.starts_with(kUtf8Mark) ? read.substr(sizeof(kUtf8Mark) - 1) : read);
	} catch (const Error &error) {
		throw Error(path + ": " + error.what());
	}
}

}  // namespace turnpike
