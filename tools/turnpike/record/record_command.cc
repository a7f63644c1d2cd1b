// SPDX-License-Identifier: GPL-2.0
//
// turnpike record: what goes on on this host for a while, in one file.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>

#include <net/if.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../modules.h"
#include "../monotonic.h"
#include "../show/doctor.h"
#include "../show/facts.h"
#include "../units.h"
#include "event_reader.h"
#include "look.h"
#include "recording.h"
#include "tracing.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMs = 1000000, kHour = 3600ULL * 1000 * kMs;
// In between it is looked whether the trace could be written.
constexpr std::int64_t kSliceNs = 200 * kMs;

struct Arguments {
	std::string file, device;
	std::string duration = "30s", interval = "1s";
	std::uint64_t events = 200000;
	bool replace = false, json = false;
	std::int64_t duration_ns = 0, interval_ns = 0;
};

// Signals that end it wait until they are asked for; whoever has one ignored, as nohup does, goes on without it.
class Ending {
public:
	Ending()
	{
		sigemptyset(&set_);
		for (int number : {SIGINT, SIGTERM, SIGHUP}) {
			struct sigaction now = {};

			if (!sigaction(number, nullptr, &now) && now.sa_handler != SIG_IGN)
				sigaddset(&set_, number);
		}
		sigprocmask(SIG_BLOCK, &set_, nullptr);
	}

	// Waits, unless it is the end.
	bool comes_within(std::int64_t ns)
	{
		timespec time = {static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};

		came_ = came_ || sigtimedwait(&set_, nullptr, &time) > 0;
		return came_;
	}

private:
	sigset_t set_;
	bool came_ = false;
};

Json header(const Arguments &arguments, const std::string &no_trace)
{
	struct utsname name = {};
	Json json = {{"turnpike_recording", kRecordingVersion}};

	uname(&name);
	json.update({{"host", name.nodename}, {"kernel", name.release}, {"version", kVersion},
		     {"time_s", std::time(nullptr)}, {"t_ns", monotonic_ns()}, {"interval_ns", arguments.interval_ns},
		     {"device", arguments.device}, {"no_trace", nullptr}});
	if (!no_trace.empty())
		json["no_trace"] = no_trace;
	return json;
}

// The trace, or why there is none.
std::unique_ptr<Tracing> begin_trace(std::string &why)
{
	try {
		return std::make_unique<Tracing>(tracefs_path());
	} catch (const Error &error) {
		why = error.what();
		return nullptr;
	}
}

// A look each interval, the first now and one at the end.
void take_looks(const Arguments &arguments, RecordingWriter &writer, Ending &ending, const EventReader *reader, Summary &summary)
{
	std::int64_t begin_ns = monotonic_ns(), end_ns = begin_ns + arguments.duration_ns, next_ns = begin_ns;
	auto failed = [&] { return reader && reader->failed(); };

	for (;;) {
		writer.add(look_at_all(arguments.device));
		summary.looks++;
		if (ending.comes_within(0) || monotonic_ns() >= end_ns)
			break;
		// One that took longer than an interval is followed by the next at once.
		next_ns = std::min(std::max(next_ns + arguments.interval_ns, monotonic_ns()), end_ns);
		for (std::int64_t now_ns = monotonic_ns(); now_ns < next_ns && !failed(); now_ns = monotonic_ns())
			if (ending.comes_within(std::min(next_ns - now_ns, kSliceNs)))
				break;
		if (failed())
			break;
	}
	summary.duration_ns = monotonic_ns() - begin_ns;
}

Json doctor_json(const std::string &device)
{
	try {
		return findings_json(examine(look_at_facts(device)));
	} catch (const std::exception &error) {
		return {{{"check", "doctor"}, {"severity", "warning"}, {"what", error.what()}, {"why", ""}, {"mend", ""}}};
	}
}

void print(const Arguments &arguments, const Summary &summary, std::uint64_t bytes)
{
	if (arguments.json) {
		Json json = {{"file", arguments.file}, {"file_bytes", bytes}};

		json.update(summary_json(summary));
		std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
		return;
	}
	std::cout << printable(arguments.file) << " (" << bytes_text(static_cast<double>(bytes)) << "): " << summary_text(summary)
		  << "\nlook at it with: turnpike report " << printable(arguments.file) << '\n';
}

void record(const Arguments &arguments)
{
	Ending ending;
	Summary summary;

	if (!arguments.device.empty() && !if_nametoindex(arguments.device.c_str()))
		throw Error("there is no device " + printable(arguments.device));
	RecordingWriter writer(arguments.file, arguments.replace);
	std::unique_ptr<Tracing> tracing = begin_trace(summary.no_trace);
	if (!tracing)
		std::cerr << "turnpike: no trace events: " << summary.no_trace << '\n';
	writer.add(header(arguments, summary.no_trace));
	writer.add(look_at_configuration());
	{
		std::optional<EventReader> reader;

		if (tracing)
			reader.emplace(*tracing, arguments.events, [&](const Json &event) { writer.add(event); });
		take_looks(arguments, writer, ending, reader ? &*reader : nullptr, summary);
		if (reader)
			reader->end(summary);
	}
	tracing.reset();
	writer.add({{"doctor", doctor_json(arguments.device)}});
	writer.add({{"summary", summary_json(summary)}});
	print(arguments, summary, writer.finish());
}

}  // namespace

void add_record_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("record", "record what goes on for a while, in one file: for a report, or to replay");

	command->add_option("FILE", arguments->file, "to be made; gzip of JSON lines")->required();
	command->add_option("DEV", arguments->device, "a device: of those with onramp it alone; doctor looks at it, too");
	command->add_option("--for", arguments->duration, "how long: 500ms, 30s, 2min, 1h (default: 30s); ^C ends it before");
	command->add_option("--interval", arguments->interval, "from one look to the next (default: 1s)");
	command->add_option("--events", arguments->events, "trace events at most; others are counted (default: 200000)")
		->check(CLI::Range(std::uint64_t(0), std::uint64_t(100000000)));
	command->add_flag("--force", arguments->replace, "replace FILE if it is there");
	command->add_flag("-j,--json", arguments->json, "print what was recorded as JSON");
	command->callback([arguments, &action] {
		try {
			arguments->duration_ns = span_ns("--for", arguments->duration, 10 * kMs, 24 * kHour);
			arguments->interval_ns = span_ns("--interval", arguments->interval, 10 * kMs, kHour);
		} catch (const Error &error) {
			throw CLI::ValidationError(error.what());
		}
		action = [arguments] { record(*arguments); };
	});
}

}  // namespace turnpike
