// SPDX-License-Identifier: GPL-2.0
#include "signals.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/signalfd.h>
#include <unistd.h>

namespace turnpike {
namespace {

int blocked()
{
	sigset_t set;

	sigemptyset(&set);
	for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
		sigaddset(&set, number);
	std::signal(SIGPIPE, SIG_IGN);
	pthread_sigmask(SIG_BLOCK, &set, nullptr);
	int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		throw Error(std::string("cannot wait for signals: ") + std::strerror(errno));
	return fd;
}

}  // namespace

Stopped::Stopped(int number) : Error(std::string("stopped by SIG") + sigabbrev_np(number)), number(number) {}

Signals::Signals() : file_(blocked()) {}

int Signals::take() const
{
	signalfd_siginfo info;

	if (read(file_.fd(), &info, sizeof(info)) != sizeof(info))
		return 0;
	return static_cast<int>(info.ssi_signo);
}

void Signals::check() const
{
	if (int number = take())
		throw Stopped(number);
}

}  // namespace turnpike
