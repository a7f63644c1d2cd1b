// SPDX-License-Identifier: GPL-2.0
#include "tracing.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "trace_line.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

// The systems of kTraceEvents.
constexpr const char *kSystems[] = {"timely", "onramp"};
constexpr char kName[] = "turnpike-";

// Of all processors together; each has enough for some thousand events, and they are read all the time.
constexpr long kBuffersKb = 65536, kBufferMostKb = 4096, kBufferLeastKb = 256;

void put(const std::string &path, const std::string &text)
{
	File file(open(path.c_str(), O_WRONLY | O_CLOEXEC));

	if (file.fd() < 0 || write(file.fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		throw Error(path + ": " + std::strerror(errno));
}

std::string content(const std::string &path)
{
	std::ifstream file(path);

	return {std::istreambuf_iterator<char>(file), {}};
}

// Where one may not look is no place, either.
bool is_there(const std::string &path)
{
	std::error_code error;

	return fs::exists(path, error);
}

std::string buffer_kb()
{
	long processors = std::max(sysconf(_SC_NPROCESSORS_CONF), 1L);

	return std::to_string(std::clamp(kBuffersKb / processors, kBufferLeastKb, kBufferMostKb));
}

// Of one that was killed. The kernel refuses where somebody reads it still.
void remove_left_over(const std::string &instances)
{
	std::error_code error;

	for (const fs::directory_entry &entry : fs::directory_iterator(instances, error)) {
		std::string name = entry.path().filename();
		int pid = 0;

		if (!name.starts_with(kName))
			continue;
		std::from_chars(name.data() + std::strlen(kName), name.data() + name.size(), pid);
		if (pid > 0 && kill(pid, 0) && errno == ESRCH)
			rmdir(entry.path().c_str());
	}
}

}  // namespace

Tracing::Tracing(const std::string &tracefs)
{
	std::string instances = tracefs + "/instances", path = instances + "/" + kName + std::to_string(getpid());
	bool any = false;

	if (tracefs.empty())
		throw Error("tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
	if (access(instances.c_str(), R_OK | W_OK | X_OK))
		throw Error(instances + ": " + std::strerror(errno) + " (tracing needs root)");
	for (const char *system : kSystems)
		any = any || is_there(tracefs + "/events/" + system);
	if (!any)
		throw Error("the kernel has none of the events: neither tcp_timely nor sch_onramp is loaded");
	remove_left_over(instances);
	if (mkdir(path.c_str(), 0700))
		throw Error(path + ": " + std::strerror(errno));
	path_ = path;
	try {
		put(path_ + "/trace_clock", "mono");
		put(path_ + "/buffer_size_kb", buffer_kb());
		pipe_ = std::make_unique<File>(open((path_ + "/trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
		if (pipe_->fd() < 0)
			throw Error(path_ + "/trace_pipe: " + std::strerror(errno));
		for (const char *system : kSystems)
			if (is_there(path_ + "/events/" + system))
				put(path_ + "/events/" + system + "/enable", "1");
	} catch (...) {
		pipe_.reset();
		rmdir(path_.c_str());
		throw;
	}
}

Tracing::~Tracing()
{
	try {
		stop();
	} catch (const Error &) {
	}
	pipe_.reset();
	rmdir(path_.c_str());
}

void Tracing::stop()
{
	// A module that is unloaded takes its events along.
	for (const char *system : kSystems)
		if (is_there(path_ + "/events/" + system))
			put(path_ + "/events/" + system + "/enable", "0");
}

std::string Tracing::read(int wait_ms)
{
	pollfd ready = {pipe_->fd(), POLLIN, 0};
	char room[1 << 16];
	ssize_t got = ::read(pipe_->fd(), room, sizeof(room));

	if (got > 0 || wait_ms == 0)
		return {room, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
	// The kernel wakes us when its buffer is half full.
	poll(&ready, 1, wait_ms);
	return read(0);
}

std::uint64_t Tracing::lost() const
{
	std::uint64_t lost = 0;
	std::error_code error;

	for (const fs::directory_entry &entry : fs::directory_iterator(path_ + "/per_cpu", error))
		lost += lost_events(content(entry.path() / "stats"));
	return lost;
}

std::string tracefs_path()
{
	// One who may not look at it is told so, and not that it is not mounted.
	for (const char *path : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
		if (!access((std::string(path) + "/instances").c_str(), F_OK) || errno == EACCES)
			return path;
	return "";
}

}  // namespace turnpike
