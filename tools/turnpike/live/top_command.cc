// SPDX-License-Identifier: GPL-2.0
//
// turnpike top: connections, peers and devices, live in a terminal.
#include <memory>
#include <utility>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../monotonic.h"
#include "clock.h"
#include "pace.h"
#include "terminal.h"

namespace turnpike {
namespace {

// A terminal that is ready and has nothing to read, so often running, is none any more.
constexpr int kVainReads = 100;

// Looks, and what they say.
class Source {
public:
	explicit Source(Screen &screen) : screen_(screen), last_(look_at_all()) { tell(last_); }

	std::int64_t first_ns() const { return first_ns_; }

	void look()
	{
		Look now = look_at_all();

		tell(now);
		last_ = std::move(now);
	}

private:
	void tell(const Look &now)
	{
		Changes changes = changes_between(last_, now);

		history_.add(changes);
		screen_.show(changes, history_, clock_text());
	}

	Screen &screen_;
	History history_;
	Look last_;
	std::int64_t first_ns_ = last_.at_ns;
};

// false: somebody ends it
bool take_keys(Terminal &terminal, Screen &screen, Woken woken, int &vain)
{
	std::vector<int> keys = terminal.keys();

	vain = keys.empty() && woken == Woken::input ? vain + 1 : 0;
	if (vain > kVainReads)
		throw Error("nothing can be read from the terminal");
	for (int key : keys)
		if (!screen.press(key))
			return false;
	return true;
}

void follow(const TerminalSignals &signals, std::int64_t interval_ns)
{
	Screen screen;
	Source source(screen);
	Terminal terminal(signals);
	int vain = 0;
	auto due = [&] { return next_due_ns(source.first_ns(), interval_ns, monotonic_ns()); };
	std::int64_t due_ns = due();

	for (;;) {
		terminal.draw(screen.lines(terminal.width(), terminal.height()));
		Woken woken = wait_until(due_ns, STDIN_FILENO, STDOUT_FILENO, signals.while_waiting());

		if (TerminalSignals::ended())
			return;
		if (woken == Woken::gone)
			throw Error("the terminal is gone");
		if (woken == Woken::due) {
			source.look();
			due_ns = due();
		} else if (!take_keys(terminal, screen, woken, vain)) {
			return;
		}
	}
}

void top(double interval_s)
{
	need_terminal();
	TerminalSignals signals;
	follow(signals, static_cast<std::int64_t>(1e9 * interval_s));
}

}  // namespace

void add_top_command(CLI::App &app, Action &action)
{
	auto interval_s = std::make_shared<double>(1);
	CLI::App *command = app.add_subcommand("top", "connections, peers and devices, live in a terminal");

	command->add_option("-i,--interval", *interval_s, "seconds between looks (default: 1)")
		->check(interval_range());
	command->footer("In it ? explains keys and columns, and q ends it. turnpike watch prints lines for logs.");
	command->callback([interval_s, &action] { action = [interval_s] { top(*interval_s); }; });
}

}  // namespace turnpike
