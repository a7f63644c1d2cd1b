// SPDX-License-Identifier: GPL-2.0
//
// vload - drives the traffic of all hosts of a virtual rack from one process
#include "run.h"

#include "loop.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace
{

constexpr int EXIT_CONFIG = 1;
constexpr int EXIT_RUNTIME = 2;

std::string read_config(const std::string &path)
{
	if (path == "-")
		return {std::istreambuf_iterator<char>(std::cin), {}};
	std::ifstream in(path, std::ios::binary);
	if (!in)
		throw vload::ConfigError(path + ": " + std::strerror(errno));
	return {std::istreambuf_iterator<char>(in), {}};
}

// As built in the tree: build/vload beside selftests/vrack/sizes
std::string default_sizes_dir()
{
	std::error_code error;
	auto self = std::filesystem::read_symlink("/proc/self/exe", error);

	return (self.parent_path().parent_path() / "selftests/vrack/sizes").string();
}

int print_result(const nlohmann::ordered_json &result)
{
	std::string text = result.dump();

	text += '\n';
	if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
		std::fprintf(stderr, "vload: cannot write the result: %s\n", std::strerror(errno));
		return EXIT_RUNTIME;
	}
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app{"Drives the traffic of all hosts of a virtual rack: CONFIG in, results on standard output, both JSON"};
	std::string config_path;
	vload::ConfigPaths paths{default_sizes_dir(), ""};
	bool show_progress = false;
	bool check_only = false;

	app.add_option("CONFIG", config_path, "configuration file, - for standard input")->required();
	app.add_option("--sizes-dir", paths.sizes_dir, "directory of size distributions given by bare name");
	app.add_flag("--progress", show_progress, "a line on standard error each tenth of the way");
	app.add_flag("--check", check_only, "check the configuration and stop");
	app.set_version_flag("--version", std::string("vload " TURNPIKE_VERSION));
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? EXIT_CONFIG : 0;
	}

	// sendfile() to a broken connection must not kill us: it has no MSG_NOSIGNAL.
	std::signal(SIGPIPE, SIG_IGN);
	try {
		paths.config_dir = std::filesystem::path(config_path).parent_path().string();
		vload::Config config = vload::config_parse(read_config(config_path), paths);
		return check_only ? 0 : print_result(vload::run(config, show_progress));
	} catch (const vload::ConfigError &error) {
		std::fprintf(stderr, "vload: %s\n", error.what());
		return EXIT_CONFIG;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "vload: %s\n", error.what());
		return EXIT_RUNTIME;
	}
}
