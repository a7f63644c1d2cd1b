// SPDX-License-Identifier: GPL-2.0
//
// Which kernel runs, for what needs a newer one.
#ifndef TURNPIKE_TOOLS_RELEASE_H
#define TURNPIKE_TOOLS_RELEASE_H

#include <string>

namespace turnpike {

// As uname -r has it: "6.12.9+deb12-amd64".
std::string kernel_release();

// Is a release this version or a later one?
bool is_release_from(const std::string &release, unsigned major, unsigned minor);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RELEASE_H
