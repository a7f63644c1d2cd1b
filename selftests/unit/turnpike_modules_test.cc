// SPDX-License-Identifier: GPL-2.0
//
// Loaded modules held against those on disk, with a directory in place of sysfs and a
// script in place of modinfo.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "modules.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

class Modules : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/turnpike-modules.XXXXXX";

		directory_ = mkdtemp(name);
		write(directory_ / "modinfo", "cat " + directory_.string() + "/disk/$3.$2\n");
	}

	void TearDown() override { fs::remove_all(directory_); }

	void write(const fs::path &path, const std::string &text)
	{
		fs::create_directories(path.parent_path());
		std::ofstream(path) << text << '\n';
	}

	void load(const std::string &name, const std::string &version, const std::string &sum)
	{
		write(directory_ / "sys" / name / "version", version);
		write(directory_ / "sys" / name / "srcversion", sum);
	}

	void store(const std::string &name, const std::string &version, const std::string &sum)
	{
		write(directory_ / "disk" / (name + ".version"), version);
		write(directory_ / "disk" / (name + ".srcversion"), sum);
	}

	std::vector<ModuleState> stale()
	{
		return stale_modules(directory_ / "sys", {"sh", (directory_ / "modinfo").string()});
	}

	ModuleState state(const std::string &name)
	{
		for (const ModuleState &module :
		     module_states(directory_ / "sys", {"sh", (directory_ / "modinfo").string()}))
			if (module.name == name)
				return module;
		ADD_FAILURE() << name << " is not asked for";
		return {};
	}

	fs::path directory_;
};

TEST_F(Modules, stale__no_when_both_are_the_same)
{
	load("tlt", "1.2.0", "AB12");
	store("tlt", "1.2.0", "AB12");
	EXPECT_FALSE(state("tlt").stale());
	EXPECT_EQ(describe(state("tlt")), "loaded 1.2.0 (AB12), as on disk");
}

TEST_F(Modules, stale__another_version)
{
	load("sch_onramp", "1.2.0", "AB12");
	store("sch_onramp", "1.2.0+git3.g12", "AB12");
	EXPECT_TRUE(state("sch_onramp").stale());
	EXPECT_EQ(describe(state("sch_onramp")),
		  "loaded 1.2.0 (AB12), which is not the one on disk: 1.2.0+git3.g12 (AB12)");
	EXPECT_EQ(stale_text(state("sch_onramp")), "1.2.0 is loaded, 1.2.0+git3.g12 is on disk");
}

TEST_F(Modules, stale__other_sources_of_the_same_version)
{
	load("nicstamp", "1.2.0", "AB12");
	store("nicstamp", "1.2.0", "CD34");
	EXPECT_TRUE(state("nicstamp").stale());
	EXPECT_EQ(stale_text(state("nicstamp")), "another build of 1.2.0 is loaded than is on disk");
}

TEST_F(Modules, stale_modules__those_alone)
{
	load("tlt", "1.2.0", "AB12");
	store("tlt", "1.2.0", "AB12");
	load("sch_onramp", "1.1.0", "CD34");
	store("sch_onramp", "1.2.0", "AB12");
	store("nicstamp", "1.2.0", "AB12");
	load("tcp_timely", "1.1.0", "CD34");
	ASSERT_EQ(stale().size(), 1u);
	EXPECT_EQ(stale()[0].name, "sch_onramp");
	EXPECT_EQ(stale_text(stale()[0]), "1.1.0 is loaded, 1.2.0 is on disk");
}

TEST_F(Modules, stale__no_when_one_is_missing)
{
	EXPECT_FALSE(state("tcp_timely").stale());
	EXPECT_EQ(describe(state("tcp_timely")), "not loaded, nothing on disk");
	store("tcp_timely", "1.2.0", "AB12");
	EXPECT_FALSE(state("tcp_timely").stale());
	EXPECT_EQ(describe(state("tcp_timely")), "not loaded, on disk 1.2.0 (AB12)");
	load("tlt", "1.2.0", "AB12");
	EXPECT_FALSE(state("tlt").stale());
	EXPECT_EQ(describe(state("tlt")), "loaded 1.2.0 (AB12), nothing on disk");
}

}  // namespace
}  // namespace turnpike
