// SPDX-License-Identifier: GPL-2.0
//
// A profile that is on for a while, by the same code and state file as turnpike up: whatever ends a check, down knows
// what it changed.
#ifndef TURNPIKE_TOOLS_CHECK_SETTING_H
#define TURNPIKE_TOOLS_CHECK_SETTING_H

#include "../setup/state_file.h"
#include "../setup/wanted.h"

namespace turnpike {

// Throws Error for one without the right to change the network.
void require_rights();

class Setting {
public:
	// Changes nothing yet. Throws Error if turnpike up stands here, or if there is nothing to change.
	explicit Setting(const Wanted &wanted);
	~Setting();
	Setting(const Setting &) = delete;
	Setting &operator=(const Setting &) = delete;

	// Throws Error; all is as it was then.
	void on();

	// Modules stay loaded until the end.
	void off();

	// All is as it was; throws Error if it is not.
	void end();

private:
	StateFile file_;
	State state_;
	Wanted wanted_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_SETTING_H
