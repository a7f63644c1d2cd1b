// SPDX-License-Identifier: GPL-2.0
//
// Signals that ask a program to end, taken when it is ready for it: what is begun is finished, or put back.
#ifndef TURNPIKE_TOOLS_SIGNALS_H
#define TURNPIKE_TOOLS_SIGNALS_H

#include <csignal>

#include "command.h"
#include "netns.h"

namespace turnpike {

class Stopped : public Error {
public:
	explicit Stopped(int number);
	int number;
};

// From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT wait; SIGPIPE is ignored. Those that were ignored before stay so, as
// under nohup. Threads that begin later have it alike.
class Signals {
public:
	Signals();

	// Readable when one came.
	int fd() const { return file_.fd(); }

	// Its number; 0 for none.
	int take() const;

	// Throws Stopped if one came.
	void check() const;

private:
	File file_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SIGNALS_H
