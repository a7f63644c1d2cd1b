// SPDX-License-Identifier: GPL-2.0
//
// Network namespaces by name.
#ifndef TURNPIKE_TOOLS_NETNS_H
#define TURNPIKE_TOOLS_NETNS_H

#include <string>

namespace turnpike {

// An open file that is closed at the end.
class File {
public:
	explicit File(int fd = -1) : fd_(fd) {}
	~File();
	File(const File &) = delete;
	File &operator=(const File &) = delete;
	int fd() const { return fd_; }

private:
	int fd_;
};

// A namespace is named as "ip netns" does, or by a path. Throws Error.
class Netns {
public:
	explicit Netns(const std::string &name);
	int fd() const { return file_.fd(); }

private:
	File file_;
};

// A socket for ioctls on devices of that namespace; of the own one if it is NULL. Throws
// Error.
int socket_in(const Netns *netns);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_NETNS_H
