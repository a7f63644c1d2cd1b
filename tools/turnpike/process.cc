// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "netns.h"

namespace turnpike {
namespace {

constexpr char kSafe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
constexpr int kNoProgram = 127;

// A file in memory: whatever a program prints or reads fits, and nobody waits for a reader.
int scratch()
{
	int fd = memfd_create("output", MFD_CLOEXEC);

	if (fd < 0)
		throw Error(std::string("no memory for a program's output: ") + std::strerror(errno));
	return fd;
}

int scratch_of(const std::string &text)
{
	int fd = scratch();
	std::size_t done = 0;

	while (done < text.size()) {
		ssize_t wrote = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
		if (wrote <= 0)
			throw Error(std::string("no memory for a program's input: ") + std::strerror(errno));
		done += static_cast<std::size_t>(wrote);
	}
	return fd;
}

std::string content(int fd)
{
	std::string text;
	char room[4096];
	ssize_t got;

	while ((got = pread(fd, room, sizeof(room), static_cast<off_t>(text.size()))) > 0)
		text.append(room, static_cast<size_t>(got));
	return text;
}

[[noreturn]] void become(std::vector<char *> &arguments, int input, int output, int errors)
{
	dup2(input, 0);
	dup2(output, 1);
	dup2(errors, 2);
	if (!std::strcmp(arguments[0], "turnpike"))
		execv("/proc/self/exe", arguments.data());
	else
		execvp(arguments[0], arguments.data());
	dprintf(2, "%s: %s", arguments[0], std::strerror(errno));
	_exit(kNoProgram);
}

void look_in_sbin()
{
	const char *path = getenv("PATH");

	setenv("PATH", (std::string(path ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin").c_str(), 1);
}

}  // namespace

Ended run(const Words &words, const std::string &input)
{
	std::vector<std::string> copy = words;
	std::vector<char *> arguments;
	File given(scratch_of(input)), output(scratch()), errors(scratch());
	int status;

	for (std::string &word : copy)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	pid_t child = fork();
	if (child < 0)
		throw Error(std::string("cannot start ") + words.at(0) + ": " + std::strerror(errno));
	if (!child) {
		look_in_sbin();
		become(arguments, given.fd(), output.fd(), errors.fd());
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(output.fd()),
		content(errors.fd())};
}

std::string Ended::said() const
{
	std::string text = errors.empty() ? output : errors;

	text.erase(text.find_last_not_of('\n') + 1);
	return text.empty() ? "status " + std::to_string(status) : text;
}

std::string output_of(const Words &words)
{
	Ended ended = run(words);

	if (ended.status)
		throw Error(shell_text(words) + ": " + ended.said());
	return ended.output;
}

nlohmann::ordered_json answer_of(const Words &words)
{
	Words all = {"turnpike"};

	all.insert(all.end(), words.begin(), words.end());
	all.push_back("-j");
	try {
		return nlohmann::ordered_json::parse(output_of(all));
	} catch (const nlohmann::json::exception &error) {
		throw Error(shell_text(all) + ": " + error.what());
	}
}

nlohmann::ordered_json answer_if_any(const Words &words)
{
	try {
		return answer_of(words);
	} catch (const Error &) {
		return nullptr;
	}
}

std::string shell_text(const Words &words)
{
	std::string text;

	for (const std::string &word : words) {
		bool safe = !word.empty() && word.find_first_not_of(kSafe) == std::string::npos;

		text += text.empty() ? "" : " ";
		if (safe) {
			text += word;
			continue;
		}
		text += '\'';
		for (char c : word)
			text += c == '\'' ? "'\\''" : std::string(1, c);
		text += '\'';
	}
	return text;
}

}  // namespace turnpike
