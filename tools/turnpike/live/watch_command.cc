// SPDX-License-Identifier: GPL-2.0
//
// turnpike watch: a line a device and interval, for logs.
#include <cmath>
#include <ctime>
#include <iostream>
#include <memory>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../monotonic.h"
#include "clock.h"
#include "pace.h"
#include "watch_line.h"

namespace turnpike {
namespace {

struct Arguments {
	std::string device;
	double interval_s = 1;
	std::uint64_t count = 0;
	bool json = false;
};

double realtime_s()
{
	struct timespec now = {};

	clock_gettime(CLOCK_REALTIME, &now);
	return static_cast<double>(now.tv_sec) + std::round(static_cast<double>(now.tv_nsec) / 1e6) / 1e3;
}

// One line each, which is written at once.
void print(const Changes &changes, const Arguments &arguments)
{
	std::string clock = clock_text();
	double time_s = realtime_s();

	for (const Device &device : watched(changes, arguments.device)) {
		// Names are bytes to the kernel, and need be no UTF-8.
		if (arguments.json)
			std::cout << watch_json(device, time_s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
				  << '\n';
		else
			std::cout << watch_line(device, clock);
		std::cout.flush();
	}
}

void watch(const Arguments &arguments)
{
	auto interval_ns = static_cast<std::int64_t>(1e9 * arguments.interval_s);
	Look before = look_at_all();

	if (watched(changes_between(before, before), arguments.device).empty())
		throw Error(arguments.device.empty() ? "no device is up" : "no device " + arguments.device + " is up");
	if (!arguments.json)
		std::cout << watch_titles() << std::flush;
	std::int64_t start_ns = before.at_ns;
	for (std::uint64_t done = 0; std::cout && (!arguments.count || done < arguments.count); done++) {
		if (wait_until(next_due_ns(start_ns, interval_ns, monotonic_ns()), -1, STDOUT_FILENO, nullptr) == Woken::gone)
			return;
		Look now = look_at_all();
		print(changes_between(before, now), arguments);
		before = std::move(now);
	}
}

}  // namespace

void add_watch_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("watch", "rates, holds and delays of devices, a line a second");

	command->add_option("DEV", arguments->device, "this device alone, whatever is on it");
	command->add_option("-i,--interval", arguments->interval_s, "seconds between lines (default: 1)")
		->check(interval_range());
	command->add_option("-n,--count", arguments->count, "end after so many intervals (default: none)")
		->check(CLI::Range(std::uint64_t(1), std::uint64_t(1000000000)));
	command->add_flag("-j,--json", arguments->json, "print JSON, one object a line");
	command->callback([arguments, &action] { action = [arguments] { watch(*arguments); }; });
}

}  // namespace turnpike
