// SPDX-License-Identifier: GPL-2.0
#include "apply.h"

#include <algorithm>
#include <iostream>
#include <span>

#include <linux/pkt_sched.h>
#include <net/if.h>
#include <unistd.h>

#include "../command.h"
#include "../onramp.h"
#include "../show/holders.h"
#include "host.h"

namespace turnpike {
namespace {

Change *find_change(State &state, const Change &same)
{
	for (Change &change : state.changes)
		if (change.is_of_the_same(same))
			return &change;
	return nullptr;
}

void forget(State &state, const Change &same)
{
	std::erase_if(state.changes, [&](const Change &change) { return change.is_of_the_same(same); });
}

// What became of a change that was to be taken back.
enum class Outcome { as_before, not_ours, stays, handed_over };

const char *outcome_text(Outcome outcome)
{
	switch (outcome) {
	case Outcome::as_before:
		return "as before";
	case Outcome::not_ours:
		return "gone, or another's by now; left alone";
	case Outcome::stays:
		return "stays loaded";
	case Outcome::handed_over:
		return "stays loaded for another network namespace, whose turnpike down unloads it";
	}
	return "";
}

// Of a module that stays.
std::string holders_told(const std::string &module)
{
	std::string holders = holders_of(held_module(module), look_at_holders());

	return holders.empty() ? "" : "held by " + holders + "; ";
}

// A module that connections use goes later: no reason to leave the rest as it is.
Outcome take_back(const Change &change, const Host &host, const StateFile &file)
{
	Outcome outcome = Outcome::as_before;
	std::vector<Command> commands = undo(change, host);

	// Routes that name a congestion control do not hold its module.
	if (change.kind == Kind::module && file.others_need(change.name)) {
		file.hand_over(change);
		return Outcome::handed_over;
	}
	for (const Command &command : commands) {
		try {
			carry_out(command);
		} catch (const std::exception &error) {
			if (change.kind != Kind::module)
				throw;
			std::cerr << "turnpike: " << change.name << " stays loaded, as something uses it (" << error.what()
				  << "); " << holders_told(change.name) << "later: rmmod " << change.name
				  << "; turnpike doctor says who holds it then\n";
			outcome = Outcome::stays;
		}
	}
	return commands.empty() ? Outcome::not_ours : outcome;
}

// What stood there before may be another's by now: then that comes back one day.
void remember(State &state, const Change &change)
{
	Change *known = find_change(state, change);

	if (!known) {
		state.changes.push_back(change);
		return;
	}
	if (change.kind == Kind::route && (change.congctl != known->set || change.made))
		*known = change;
	// Who replaces the root replaces all below it.
	if (std::any_of(change.qdiscs.begin(), change.qdiscs.end(),
			[](const Qdisc &qdisc) { return qdisc.parent == TC_H_ROOT; }))
		known->qdiscs.clear();
	for (const Qdisc &qdisc : change.qdiscs) {
		std::erase_if(known->qdiscs, [&](const Qdisc &other) { return other.parent == qdisc.parent; });
		known->qdiscs.push_back(qdisc);
	}
}

void tell_taken_back(const Change &change, Outcome outcome)
{
	std::cout << change.key() << ": " << outcome_text(outcome) << '\n';
}

// well: all before these went well. Whether all of these did, too; what did not stays in the state.
bool take_back_each(std::span<const Change> changes, const Host &host, const StateFile &file, State &state, bool tells, bool well)
{
	for (const Change &change : changes) {
		// What it was loaded for is still there: it goes with that.
		if (change.kind == Kind::module && !well)
			continue;
		try {
			Outcome outcome = take_back(change, host, file);
			forget(state, change);
			if (tells)
				tell_taken_back(change, outcome);
		} catch (const std::exception &error) {
			std::cerr << "turnpike: " << change.key() << ": " << error.what() << '\n';
			well = false;
		}
	}
	return well;
}

// All or none are taken out of the state; false: one of them failed, and those before it are done.
bool take_back_together(std::span<const Change> changes, const Host &host, State &state, bool tells)
{
	std::vector<Command> all;
	std::vector<bool> any;

	for (const Change &change : changes) {
		std::vector<Command> commands = undo(change, host);
		any.push_back(!commands.empty());
		all.insert(all.end(), commands.begin(), commands.end());
	}
	try {
		carry_out(all);
	} catch (const std::exception &) {
		return false;
	}
	for (std::size_t i = 0; i < changes.size(); i++) {
		forget(state, changes[i]);
		if (tells)
			tell_taken_back(changes[i], any[i] ? Outcome::as_before : Outcome::not_ours);
	}
	return true;
}

// The first, and the routes behind it if it is one: they are changed together.
template <typename One> std::size_t together(std::span<const One> rest, bool (*is_route)(const One &))
{
	std::size_t count = std::find_if_not(rest.begin(), rest.end(), is_route) - rest.begin();

	return std::max<std::size_t>(count, 1);
}

bool is_route(const Change &change)
{
	return change.kind == Kind::route;
}

// Of the newest first; whether all went well.
bool take_back_these(std::vector<Change> changes, const StateFile &file, State &state, bool tells)
{
	Host host = look_at_host(state.wanted);
	bool well = true;

	std::reverse(changes.begin(), changes.end());
	for (std::span<const Change> rest = changes; !rest.empty();) {
		std::span<const Change> some = rest.first(together(rest, is_route));

		rest = rest.subspan(some.size());
		if (some.size() > 1 && take_back_together(some, host, state, tells))
			continue;
		// Which of them cannot be taken back is told; what is done is not done again.
		if (some.size() > 1)
			host = look_at_host(state.wanted);
		well = take_back_each(some, host, file, state, tells, well);
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

static bool is_route_step(const Step &step)
{
	return is_route(step.change);
}

static void carry_out(std::span<const Step> steps, bool tells)
{
	std::vector<Command> commands;

	for (const Step &step : steps)
		commands.insert(commands.end(), step.commands.begin(), step.commands.end());
	carry_out(commands);
	for (const Step &step : steps)
		if (tells)
			std::cout << step.change.key() << ": " << step.now << " -> " << step.wanted << '\n';
}

void make(const Plan &todo, const StateFile &file, State &state, bool tells)
{
	std::vector<Step> steps = todo.steps;

	std::erase_if(steps, [](const Step &step) { return step.holds; });
	// Written first: what is half done can be undone.
	for (const Step &step : steps)
		remember(state, with_keys(step.change));
	state.indexes.clear();
	for (const WantedDevice &device : state.wanted.devices)
		state.indexes[device.name] = if_nametoindex(device.name.c_str());
	file.write(state);
	std::span<const Step> rest = steps, some;
	try {
		while (!rest.empty()) {
			some = rest.first(together(rest, is_route_step));
			carry_out(some, tells);
			rest = rest.subspan(some.size());
		}
	} catch (const std::exception &error) {
		bool well = take_all_back(file, state, false);
		throw Error(std::string(error.what()) + (well ? "; all is as it was before"
							      : "; not all could be taken back: turnpike down") +
			    (some.front().change.kind == Kind::module ? "; turnpike doctor says why" : ""));
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
