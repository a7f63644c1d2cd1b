// SPDX-License-Identifier: GPL-2.0
//
// Subcommands of `turnpike'. Each lives in a file of its own and adds itself to
// the command line; a new one is a new file and a line in turnpike.cc.
#ifndef TURNPIKE_TOOLS_COMMAND_H
#define TURNPIKE_TOOLS_COMMAND_H

#include <functional>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace turnpike {

// A sentence for the user; the command ends with status 2 (exit_status.h), or with a signal's if it said so before.
class Error : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

// What to do once the command line is understood.
using Action = std::function<void()>;

// Every subcommand sets `action' when it was asked for.
void add_replay_command(CLI::App &app, Action &action);
void add_usec_ts_command(CLI::App &app, Action &action);
void add_stamps_command(CLI::App &app, Action &action);
void add_tlt_command(CLI::App &app, Action &action);
void add_onramp_command(CLI::App &app, Action &action);
void add_clock_command(CLI::App &app, Action &action);
void add_clockd_command(CLI::App &app, Action &action);
void add_version_command(CLI::App &app, Action &action);
void add_record_command(CLI::App &app, Action &action);
void add_report_command(CLI::App &app, Action &action);
void add_top_command(CLI::App &app, Action &action);
void add_watch_command(CLI::App &app, Action &action);
void add_metrics_command(CLI::App &app, Action &action);
void add_advise_command(CLI::App &app, Action &action);

// What is done without a command, too.
void add_status_command(CLI::App &app, Action &action);

// Those of these whose answer is a status set it.
void add_up_commands(CLI::App &app, Action &action, int &status);
void add_doctor_command(CLI::App &app, Action &action, int &status);
void add_check_command(CLI::App &app, Action &action, int &status);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_COMMAND_H
