// SPDX-License-Identifier: GPL-2.0
#include "netns.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"

namespace turnpike {
namespace {

int open_netns(const std::string &name)
{
	bool plain = name.find('/') == std::string::npos;
	int fd = open((plain ? "/run/netns/" + name : name).c_str(), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		throw Error("network namespace " + name + ": " + std::strerror(errno));
	return fd;
}

void enter(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		throw Error(std::string("cannot enter a network namespace: ") +
			    std::strerror(errno));
}

}  // namespace

File::~File()
{
	if (fd_ >= 0)
		close(fd_);
}

Netns::Netns(const std::string &name) : file_(open_netns(name)) {}

int socket_in(const Netns *netns)
{
	File home(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));

	if (netns)
		enter(netns->fd());
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int why = errno;
	if (netns)
		enter(home.fd());
	if (fd < 0)
		throw Error(std::string("cannot open a socket: ") + std::strerror(why));
	return fd;
}

}  // namespace turnpike
