// SPDX-License-Identifier: GPL-2.0
//
// A look at the host for a recording: status, connections and flows of each network namespace; and how it is set.
#ifndef TURNPIKE_TOOLS_RECORD_LOOK_H
#define TURNPIKE_TOOLS_RECORD_LOOK_H

#include <string>

#include <nlohmann/json.hpp>

namespace turnpike {

// Namespaces that something is on in, the first always. A device's name: of those with onramp it alone. A namespace that
// cannot be looked at has the reason as `error'.
nlohmann::ordered_json look_at_all(const std::string &device);

// Sysctls, Turnpike's own file, and what the commands print that show settings; no key is in any of them.
nlohmann::ordered_json look_at_configuration();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_LOOK_H
