// SPDX-License-Identifier: GPL-2.0
//
// A terminal for turnpike top, by ncurses: draws lines, reads keys, and leaves it as it was.
#ifndef TURNPIKE_TOOLS_LIVE_TERMINAL_H
#define TURNPIKE_TOOLS_LIVE_TERMINAL_H

#include <csignal>
#include <cstddef>
#include <vector>

#include "screen.h"

namespace turnpike {

// TerminalSignals that would end the program come while it waits, or draws; then somebody restores the terminal first. Those
// that were ignored stay so.
class TerminalSignals {
public:
	TerminalSignals();
	~TerminalSignals();
	TerminalSignals(const TerminalSignals &) = delete;
	TerminalSignals &operator=(const TerminalSignals &) = delete;

	// For wait_until().
	const sigset_t *while_waiting() const { return &before_; }

	// The one that came; 0: none.
	static int ended();

private:
	sigset_t before_;
};

// Throws Error where there is no terminal, or none that is known.
void need_terminal();

class Terminal {
public:
	// After need_terminal().
	explicit Terminal(const TerminalSignals &signals);
	~Terminal();
	Terminal(const Terminal &) = delete;
	Terminal &operator=(const Terminal &) = delete;

	std::size_t width() const;
	std::size_t height() const;
	void draw(const std::vector<Line> &lines);

	// Those that were pressed; keys of its own for a new size, which nobody knows.
	std::vector<int> keys();

private:
	const TerminalSignals &signals_;
	bool blocks_;	// it has characters of eight heights
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_TERMINAL_H
