// SPDX-License-Identifier: GPL-2.0
//
// A plan carried out, and all that was changed taken back: what turnpike up, down and check share.
#ifndef TURNPIKE_TOOLS_SETUP_APPLY_H
#define TURNPIKE_TOOLS_SETUP_APPLY_H

#include "plan.h"
#include "state_file.h"

namespace turnpike {

// Throws Error.
void require_root();

// All steps or none. Throws Error when one fails; all that the state has is taken back by then. tells: what is done, to
// standard output.
void make(const Plan &todo, const StateFile &file, State &state, bool tells);

// All changes, the newest first; those that could not be taken back stay in the state. Whether all went well.
bool take_all_back(const StateFile &file, State &state, bool tells);

// The same, and modules stay loaded, and in the state.
bool take_settings_back(const StateFile &file, State &state);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_APPLY_H
