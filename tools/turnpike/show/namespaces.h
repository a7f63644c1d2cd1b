// SPDX-License-Identifier: GPL-2.0
//
// All network namespaces of this host, by turns.
#ifndef TURNPIKE_TOOLS_SHOW_NAMESPACES_H
#define TURNPIKE_TOOLS_SHOW_NAMESPACES_H

#include <functional>
#include <string>

#include <sys/types.h>

namespace turnpike {

// Of the one that this thread is in, as the kernel numbers them.
ino_t number_of_namespace();

// Calls it in each, its own first, which has an empty name. Others are those that `ip netns' knows, by their names, and
// those of processes, by one of these: "process 4711". Without rights its own alone. This process is in its own after.
void each_namespace(const std::function<void(const std::string &name)> &function);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_NAMESPACES_H
