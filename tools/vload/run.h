// SPDX-License-Identifier: GPL-2.0
// A run as a whole: all loads and actions of a configuration, from the first connection to the result.
#pragma once

#include "config.h"

#include <nlohmann/json.hpp>

namespace vload
{

// Runs all loads of the configuration; the result as Documentation/vload.rst describes it.
nlohmann::ordered_json run(const Config &config, bool show_progress);

} // namespace vload
