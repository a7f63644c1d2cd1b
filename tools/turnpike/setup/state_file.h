// SPDX-License-Identifier: GPL-2.0
//
// What `turnpike up' changed on this host since it started, in a file that goes with a restart, as the changes do.
#ifndef TURNPIKE_TOOLS_SETUP_STATE_FILE_H
#define TURNPIKE_TOOLS_SETUP_STATE_FILE_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan.h"

namespace turnpike {

constexpr char kStateDirectory[] = "/run/turnpike";

struct State {
	std::int64_t since_s = 0;	// CLOCK_REALTIME of the first change; 0: nothing was changed
	std::string by;			// who did it: a user's name, or a unit of systemd
	Wanted wanted;
	std::vector<Change> changes;	// in the order they were made
	std::map<std::string, unsigned> indexes;	// of the wanted devices: names may change
};

// The kernel's objects stay with a device that gets another name. name_of: that of an index, empty if there is none.
void follow_names(State &state, const std::function<std::string(unsigned)> &name_of);

std::string state_text(const State &state);

// Throws Error for what is none.
State parse_state(const std::string &text);

// The file of this network namespace, locked until the object goes: two commands do not mix their changes.
class StateFile {
public:
	// directory: /run/turnpike; made if it is to be written
	StateFile(const std::string &directory, bool write);
	~StateFile();
	StateFile(const StateFile &) = delete;
	StateFile &operator=(const StateFile &) = delete;

	State read() const;
	// All of it or nothing; without changes the file goes.
	void write(const State &state) const;

	// turnpike up of another network namespace that lives needs this module, too.
	bool others_need(const std::string &module) const;
	// The change becomes that one's, whose down undoes it then.
	void hand_over(const Change &module) const;

private:
	std::string needing(const std::string &module) const;

	std::string directory_;
	std::string path_;
	int lock_ = -1;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_STATE_FILE_H
