// SPDX-License-Identifier: GPL-2.0
//
// The file that says what is wanted of this host.
#ifndef TURNPIKE_TOOLS_SETUP_CONFIG_FILE_H
#define TURNPIKE_TOOLS_SETUP_CONFIG_FILE_H

#include <string>

#include "wanted.h"

namespace turnpike {

constexpr char kConfig[] = "/etc/turnpike/turnpike.conf";

// Not where a directory hides it, either: who reads it then says why it cannot be read.
bool is_absent(const std::string &path);

// Throws Error that names the file.
Wanted read_config(const std::string &path);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_CONFIG_FILE_H
