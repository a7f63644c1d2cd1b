// SPDX-License-Identifier: GPL-2.0
#include "setting.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include <linux/capability.h>

#include "../command.h"
#include "../setup/apply.h"
#include "../setup/host.h"

namespace turnpike {
namespace {

// The kernel frees connections that were closed a little later, and with them modules.
constexpr std::chrono::milliseconds kLook{50};
constexpr unsigned kLooks = 100;

constexpr char kNotBack[] = "not all could be taken back: mend that, and call 'turnpike down'";

std::uint64_t effective_capabilities()
{
	std::ifstream status("/proc/self/status");
	std::uint64_t capabilities = 0;

	for (std::string word; status >> word;)
		if (word == "CapEff:")
			status >> std::hex >> capabilities;
	return capabilities;
}

bool in_use(const std::string &module)
{
	std::string count = first_word("/sys/module/" + module + "/refcnt");

	return !count.empty() && count != "0";
}

void wait_for_modules(const State &state)
{
	for (unsigned i = 0; i < kLooks; i++) {
		bool any = std::any_of(state.changes.begin(), state.changes.end(), [](const Change &change) {
			return change.kind == Kind::module && in_use(change.name);
		});
		if (!any)
			return;
		std::this_thread::sleep_for(kLook);
	}
}

// Modules and keys alone act on nothing.
bool acts(const Step &step)
{
	return !step.holds && step.change.kind != Kind::module && step.change.kind != Kind::key;
}

}  // namespace

void require_rights()
{
	require_root();
	if (!(effective_capabilities() >> CAP_NET_ADMIN & 1))
		throw Error("needs CAP_NET_ADMIN, which root of this container does not have");
}

Setting::Setting(const Wanted &wanted) : file_(kStateDirectory, true), state_(file_.read()), wanted_(wanted)
{
	if (!state_.changes.empty())
		throw Error("turnpike up stands here, so that there is no 'before' to compare with: 'turnpike down' first");
	Plan todo = plan(wanted_, look_at_host());
	for (const std::string &remark : todo.remarks)
		std::cerr << "turnpike: " << remark << '\n';
	if (std::none_of(todo.steps.begin(), todo.steps.end(), acts))
		throw Error(todo.remarks.empty() ? "all of that profile is on here, by hand: there is nothing to compare with"
						 : "nothing of that profile can be set here");
}

Setting::~Setting()
{
	try {
		end();
	} catch (const std::exception &error) {
		std::cerr << "turnpike: " << error.what() << '\n';
	}
}

void Setting::on()
{
	Plan todo = plan(wanted_, look_at_host());

	if (!state_.since_s) {
		state_.since_s = std::time(nullptr);
		state_.by = caller() + " (turnpike check)";
	}
	state_.wanted = wanted_;
	make(todo, file_, state_, false);
}

void Setting::off()
{
	if (!take_settings_back(file_, state_))
		throw Error(kNotBack);
}

void Setting::end()
{
	if (state_.changes.empty())
		return;
	off();
	wait_for_modules(state_);
	if (!take_all_back(file_, state_, false))
		throw Error(kNotBack);
}

}  // namespace turnpike
