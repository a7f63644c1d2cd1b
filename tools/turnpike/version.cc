// SPDX-License-Identifier: GPL-2.0
//
// The version in a file of its own: it changes with every commit, and little is compiled then.
#include "modules.h"

const char *const turnpike::kVersion = TURNPIKE_VERSION;
