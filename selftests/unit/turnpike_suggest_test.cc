// SPDX-License-Identifier: GPL-2.0
//
// "did you mean": of commands, options, and lines of turnpike.conf.
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "process.h"
#include "suggest.h"

namespace turnpike {
namespace {

std::string said(Words words)
{
	words.insert(words.begin(), TURNPIKE_COMMAND);
	Ended ended = run(words);
	EXPECT_EQ(ended.status, 64);
	return ended.errors;
}

TEST(Suggest, command_line__names_what_may_be_meant)
{
	EXPECT_EQ(said({"up", "lo", "--perist"}), "turnpike: unknown option '--perist'; did you mean '--persist'? (--help lists all)\n");
	// Also where something else is wrong, too.
	EXPECT_EQ(said({"up", "--dryrun"}), "turnpike: unknown option '--dryrun'; did you mean '--dry-run'? (--help lists all)\n");
	EXPECT_EQ(said({"status", "--nothing-like-it=3"}), "turnpike: unknown option '--nothing-like-it' (--help lists all)\n");
	EXPECT_EQ(said({"statsu"}), "turnpike: unknown command 'statsu'; did you mean 'status'? (--help lists all)\n");
	EXPECT_NE(said({"up", "lo", "--profile", "timley"}).find("'timley' is none of timely, onramp, tlt, all; did you mean 'timely'?"),
		  std::string::npos);
}

std::string complaint_of_file(const char *text)
{
	char name[] = "/tmp/turnpike-conf.XXXXXX";
	int fd = mkstemp(name);

	close(fd);
	std::ofstream(name) << text;
	Ended ended = run({TURNPIKE_COMMAND, "diff", "--config", name});
	EXPECT_EQ(ended.status, 2);
	unlink(name);
	return ended.errors.substr(ended.errors.find("line "));
}

TEST(Suggest, file__names_what_may_be_meant)
{
	EXPECT_EQ(complaint_of_file("[net]\nfro = 10.0.0.0/8\n"), "line 2: [net] has no 'fro'; there are: congestion, for; did you mean 'for'?\n");
	EXPECT_NE(complaint_of_file("[onrmap]\n").find("; did you mean 'onramp'?\n"), std::string::npos);
	EXPECT_NE(complaint_of_file("[net]\ncongestion = timley\n").find("; did you mean 'timely'?\n"), std::string::npos);
	EXPECT_EQ(complaint_of_file("[tlt]\nsomething = 1\n"), "line 2: [tlt] has no 'something'; there are: rule\n");
}

TEST(Suggest, word__that_is_near)
{
	std::vector<std::string> known = {"up", "down", "diff", "status", "show", "flows"};

	EXPECT_EQ(suggest("flow", known), "flows");
	EXPECT_EQ(suggest("donw", known), "down");
	EXPECT_EQ(suggest("statsu", known), "status");
	EXPECT_EQ(suggest("nonsense", known), "");
	EXPECT_EQ(suggest("u", known), "");
	EXPECT_EQ(suggest("", known), "");
}

}  // namespace
}  // namespace turnpike
