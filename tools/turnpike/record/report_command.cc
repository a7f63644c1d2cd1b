// SPDX-License-Identifier: GPL-2.0
//
// turnpike report: a page of a recording, which a program in Python makes.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../process.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

struct Arguments {
	std::string file, before, output;
	bool replace = false;
};

// Where it is installed, beside this program's directory; or in the tree that this program was built in.
std::string page_maker()
{
	fs::path directory = fs::read_symlink("/proc/self/exe").parent_path();

	for (const char *place : {"../share/turnpike/report", "../tools/report"}) {
		fs::path path = (directory / place).lexically_normal();

		if (fs::exists(path / "__main__.py"))
			return path;
	}
	throw Error("the part that makes pages is not installed: share/turnpike/report beside " + directory.string());
}

void report(const Arguments &arguments)
{
	// Isolated: nothing of the directory that one stands in, or of the environment, is run.
	Words words = {"/usr/bin/python3", "-I", "-B", page_maker(), "--output", arguments.output};
	std::vector<char *> list;

	if (!arguments.before.empty())
		words.insert(words.end(), {"--before", arguments.before});
	if (arguments.replace)
		words.push_back("--force");
	words.insert(words.end(), {"--", arguments.file});
	for (std::string &word : words)
		list.push_back(word.data());
	list.push_back(nullptr);
	execv(list[0], list.data());
	throw Error(words[0] + ": " + std::strerror(errno) + " (apt install python3 python3-matplotlib)");
}

}  // namespace

void add_report_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("report", "make one page of a recording: plots, tables, settings, and what doctor found");

	command->add_option("FILE", arguments->file, "a recording; or a directory with results of the virtual rack")->required();
	command->add_option("--before", arguments->before, "another recording, to compare with");
	command->add_option("-o,--output", arguments->output, "the page (default: FILE with .html)");
	command->add_flag("--force", arguments->replace, "replace the page if it is there");
	command->callback([arguments, &action] {
		action = [arguments] { report(*arguments); };
	});
}

}  // namespace turnpike
