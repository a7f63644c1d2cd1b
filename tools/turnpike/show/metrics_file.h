// SPDX-License-Identifier: GPL-2.0
//
// A file that readers find whole, whenever they look: the old text or the new one.
#ifndef TURNPIKE_TOOLS_SHOW_METRICS_FILE_H
#define TURNPIKE_TOOLS_SHOW_METRICS_FILE_H

#include <string>

namespace turnpike {

// Anyone may read it. Throws Error, and leaves what was there.
void replace_file(const std::string &path, const std::string &text);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_METRICS_FILE_H
