// SPDX-License-Identifier: GPL-2.0
#include "config_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../command.h"

namespace turnpike {

bool is_absent(const std::string &path)
{
	std::error_code hidden;

	return !std::filesystem::exists(path, hidden) && !hidden;
}

Wanted read_config(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!file)
		throw Error("cannot read " + path);
	text << file.rdbuf();
	try {
		return parse_config(text.str());
	} catch (const Error &error) {
		throw Error(path + ": " + error.what());
	}
}

}  // namespace turnpike
