// SPDX-License-Identifier: GPL-2.0
#include "apply.h"

#include <algorithm>
#include <iostream>

#include <unistd.h>

#include "../command.h"
#include "../onramp.h"
#include "host.h"

namespace turnpike {
namespace {

Change *find_change(State &state, const std::string &key)
{
	for (Change &change : state.changes)
		if (change.key() == key)
			return &change;
	return nullptr;
}

void forget(State &state, const std::string &key)
{
	std::erase_if(state.changes, [&](const Change &change) { return change.key() == key; });
}

// Takes one change back; whether there was anything to take back. A module that connections use goes later: no reason to
// leave the rest as it is.
bool take_back(const Change &change, const Host &host)
{
	std::vector<Command> commands = undo(change, host);

	for (const Command &command : commands) {
		try {
			carry_out(command);
		} catch (const std::exception &error) {
			if (change.kind != Kind::module)
				throw;
			std::cerr << "turnpike: " << change.name << " stays loaded, as something uses it (" << error.what()
				  << "); later: modprobe -r " << change.name << '\n';
		}
	}
	return !commands.empty();
}

// What stood there before may be another's by now: then that comes back one day.
void remember(State &state, const Change &change)
{
	Change *known = find_change(state, change.key());

	if (!known) {
		state.changes.push_back(change);
		return;
	}
	if (change.kind == Kind::route && (change.congctl != known->set || change.made))
		*known = change;
	for (const Qdisc &qdisc : change.qdiscs) {
		std::erase_if(known->qdiscs, [&](const Qdisc &other) { return other.parent == qdisc.parent; });
		known->qdiscs.push_back(qdisc);
	}
}

// Of the newest first; whether all went well.
bool take_back_these(std::vector<Change> changes, const StateFile &file, State &state, bool tells)
{
	Host host = look_at_host();
	bool well = true;

	std::reverse(changes.begin(), changes.end());
	for (const Change &change : changes) {
		try {
			bool any = take_back(change, host);
			forget(state, change.key());
			if (tells)
				std::cout << change.key() << (any ? ": as before\n" : ": gone, or another's by now; left alone\n");
		} catch (const std::exception &error) {
			std::cerr << "turnpike: " << change.key() << ": " << error.what() << '\n';
			well = false;
		}
	}
	file.write(state);
	return well;
}

}  // namespace

void require_root()
{
	if (geteuid())
		throw Error("needs root (CAP_NET_ADMIN and CAP_SYS_MODULE)");
}

// With what is in its file; throws Error if that cannot be read, before anything is done.
static Change with_keys(Change change)
{
	if (change.kind == Kind::key)
		for (const OnrampNumberedKey &key : onramp_key_file(change.name))
			change.keys.push_back(key.id);
	return change;
}

void make(const Plan &todo, const StateFile &file, State &state, bool tells)
{
	// Written first: what is half done can be undone.
	for (const Step &step : todo.steps)
		if (!step.holds)
			remember(state, with_keys(step.change));
	file.write(state);
	try {
		for (const Step &step : todo.steps) {
			if (step.holds)
				continue;
			for (const Command &command : step.commands)
				carry_out(command);
			if (tells)
				std::cout << step.change.key() << ": " << step.now << " -> " << step.wanted << '\n';
		}
	} catch (const std::exception &error) {
		bool well = take_all_back(file, state, false);
		throw Error(std::string(error.what()) + (well ? "; all is as it was before"
							      : "; not all could be taken back: turnpike down"));
	}
}

bool take_all_back(const StateFile &file, State &state, bool tells)
{
	return take_back_these(state.changes, file, state, tells);
}

bool take_settings_back(const StateFile &file, State &state)
{
	std::vector<Change> settings = state.changes;

	std::erase_if(settings, [](const Change &change) { return change.kind == Kind::module; });
	return take_back_these(settings, file, state, false);
}

}  // namespace turnpike
