// SPDX-License-Identifier: GPL-2.0
#include "terminal.h"

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <string>

#include <langinfo.h>
#include <termios.h>
#include <unistd.h>

#include <ncurses.h>
#include <term.h>

#include "../command.h"

namespace turnpike {
namespace {

// A terminal that takes no characters (a connection that is dead, Control-S) must not keep this program alive.
constexpr unsigned kPatience_s = 5;
// Keys are taken while there are some; more than anybody types means that reading fails.
constexpr int kKeysAtOnce = 1000;

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile std::sig_atomic_t ended_by;
struct termios modes_before;

void note(int signal)
{
	ended_by = signal;
	alarm(kPatience_s);
}

// Nothing here waits for the terminal.
void give_up(int)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
	_exit(128 + ended_by);
}

void handle(int number, void (*function)(int))
{
	struct sigaction action = {};

	action.sa_handler = function;
	sigaction(number, &action, nullptr);
}

bool is_ignored(int number)
{
	struct sigaction action = {};

	return !sigaction(number, nullptr, &action) && action.sa_handler == SIG_IGN;
}

// ncurses' own handlers are for what it waits for, and it does not wait.
sigset_t held_back()
{
	sigset_t set;

	sigemptyset(&set);
	for (int number : kEnding)
		sigaddset(&set, number);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	return set;
}

std::string terminal_name()
{
	const char *name = getenv("TERM");

	return name ? name : "";
}

// Names of numbers and the decimal point stay those of C.
bool has_blocks()
{
	setlocale(LC_CTYPE, "");
	return !std::strcmp(nl_langinfo(CODESET), "UTF-8") && terminal_name() != "linux";
}

// What stands for a level of a bar.
std::string level_text(unsigned level, bool blocks)
{
	static const char *const of_blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const of_ascii[] = {"_", ".", ",", "-", "=", "+", "*", "#"};

	return (blocks ? of_blocks : of_ascii)[level - 1];
}

int key_of(int code)
{
	switch (code) {
	case KEY_UP:
		return key::kUp;
	case KEY_DOWN:
		return key::kDown;
	case KEY_PPAGE:
		return key::kPageUp;
	case KEY_NPAGE:
		return key::kPageDown;
	case KEY_HOME:
		return key::kHome;
	case KEY_END:
		return key::kEnd;
	case KEY_BACKSPACE:
	case '\b':
		return key::kErase;
	case KEY_ENTER:
	case '\r':
		return key::kEnter;
	default:
		return code < 128 ? code : 0;
	}
}

attr_t attribute_of(Line::Look look)
{
	return look == Line::Look::title ? A_REVERSE : look == Line::Look::loud ? A_BOLD : A_NORMAL;
}

}  // namespace

void need_terminal()
{
	int status = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		throw Error("top needs a terminal; turnpike watch prints lines");
	if (terminal_name().empty())
		throw Error("TERM does not say which terminal this is: TERM=xterm turnpike top, or turnpike watch");
	if (setupterm(nullptr, STDOUT_FILENO, &status) != OK || !cursor_address)
		throw Error("a terminal '" + terminal_name() +
			    "' is not known here, or cannot place characters: TERM=xterm turnpike top, or turnpike watch");
}

TerminalSignals::TerminalSignals()
{
	sigset_t set = held_back();

	for (int number : kEnding)
		if (!is_ignored(number))
			handle(number, note);
	handle(SIGALRM, give_up);
	sigprocmask(SIG_BLOCK, &set, &before_);
}

// It ends by the signal, as whoever sent it expects.
TerminalSignals::~TerminalSignals()
{
	int number = ended();

	alarm(0);
	if (number)
		handle(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before_, nullptr);
	if (number)
		raise(number);
}

int TerminalSignals::ended()
{
	return ended_by;
}

Terminal::Terminal(const TerminalSignals &signals) : signals_(signals)
{
	tcgetattr(STDIN_FILENO, &modes_before);
	blocks_ = has_blocks();
	if (!newterm(nullptr, stdout, stdin))
		throw Error("cannot use this terminal; turnpike watch prints lines");
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, true);
	keypad(stdscr, true);
	curs_set(0);
}

Terminal::~Terminal()
{
	alarm(kPatience_s);
	endwin();
	alarm(0);
}

std::size_t Terminal::width() const
{
	return static_cast<std::size_t>(getmaxx(stdscr));
}

std::size_t Terminal::height() const
{
	return static_cast<std::size_t>(getmaxy(stdscr));
}

void Terminal::draw(const std::vector<Line> &screen)
{
	sigset_t held = held_back();
	int row = 0;

	erase();
	for (const Line &line : screen) {
		std::string text;

		for (char c : line.text)
			text += c > 0 && c <= kBarLevels ? level_text(static_cast<unsigned>(c), blocks_) : std::string(1, c);
		if (line.look == Line::Look::title)
			text.resize(text.size() + width() - std::min(width(), line.text.size()), ' ');
		attrset(attribute_of(line.look));
		mvaddstr(row++, 0, text.c_str());
	}
	// It may wait for the terminal.
	sigprocmask(SIG_SETMASK, signals_.while_waiting(), nullptr);
	refresh();
	sigprocmask(SIG_BLOCK, &held, nullptr);
}

std::vector<int> Terminal::keys()
{
	std::vector<int> found;

	for (int code; (code = getch()) != ERR && found.size() < kKeysAtOnce;)
		found.push_back(key_of(code));
	return found;
}

}  // namespace turnpike
