// SPDX-License-Identifier: GPL-2.0
#include "actions.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace vload
{

Actions::Actions(const std::vector<ActionConfig> &actions, Network &network, Loop &loop)
	: network_(network), loop_(loop)
{
	for (const ActionConfig &action : actions)
		actions_.push_back(std::make_unique<Action>(action));
}

// A command that outlives the run is not killed: it may be there to look at what is left.
Actions::~Actions()
{
	for (const auto &action : actions_)
		if (action->pid_fd >= 0)
			close(action->pid_fd);
}

void Actions::start(int64_t zero_ns)
{
	for (const auto &action : actions_)
		loop_.at(zero_ns + action->config.time_ns, [this, zero_ns, action = action.get()] {
			if (stopped_)
				return;
			action->at_ns = loop_.now_ns() - zero_ns;
			// Commands, and what /proc/sys means, belong to where vload was started.
			network_.go_home();
			action->perform(loop_);
		});
}

void Actions::Action::perform(Loop &loop)
{
	if (config.write_path.empty())
		run(loop);
	else
		write_text();
}

// The file must exist: a misspelt control file would otherwise be made and obeyed by nobody.
void Actions::Action::write_text()
{
	int fd = open(config.write_path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0) {
		error = std::strerror(errno);
		return;
	}
	// One write: control files take a command per write.
	ssize_t written = write(fd, config.text.data(), config.text.size());
	if (written < 0)
		error = std::strerror(errno);
	else if (static_cast<size_t>(written) != config.text.size())
		error = "not written whole";
	close(fd);
}

void Actions::Action::run(Loop &loop)
{
	char *const argv[] = {const_cast<char *>("sh"), const_cast<char *>("-c"),
			      const_cast<char *>(config.run.c_str()), nullptr};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t to_default;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	// Standard output is the result's.
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	// vload itself ignores it.
	sigemptyset(&to_default);
	sigaddset(&to_default, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &to_default);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	int failed = posix_spawn(&pid, "/bin/sh", &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (failed) {
		error = std::strerror(failed);
		return;
	}
	pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	if (pid_fd < 0)
		error = std::string("cannot wait for it: ") + std::strerror(errno);
	else
		loop.watch(pid_fd, EPOLLIN, *this);
}

void Actions::Action::on_events(uint32_t)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) != pid)
		return;
	exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	close(pid_fd);
	pid_fd = -1;
}

nlohmann::ordered_json Actions::result() const
{
	auto list = nlohmann::ordered_json::array();

	for (const auto &action : actions_) {
		nlohmann::ordered_json json;
		if (action->config.write_path.empty())
			json["run"] = action->config.run;
		else
			json["write"] = action->config.write_path;
		json["time_s"] = static_cast<double>(action->config.time_ns) / 1e9;
		json["at_s"] = action->at_ns ? nlohmann::ordered_json(static_cast<double>(*action->at_ns) / 1e9) :
					       nlohmann::ordered_json(nullptr);
		if (action->config.write_path.empty())
			json["exit_code"] = action->exit_code ? nlohmann::ordered_json(*action->exit_code) :
								nlohmann::ordered_json(nullptr);
		json["error"] = action->error.empty() ? nlohmann::ordered_json(nullptr) :
							nlohmann::ordered_json(action->error);
		list.push_back(std::move(json));
	}
	return list;
}

} // namespace vload
