// SPDX-License-Identifier: GPL-2.0
#include "state_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <net/if.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "../command.h"
#include "../show/namespaces.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion1 = 1;
constexpr const char *kKinds[] = {"module", "key", "qdisc", "route", "tlt", "unit", "device"};

std::string hex(const std::string &bytes)
{
	std::string text;
	char two[3];

	for (unsigned char byte : bytes) {
		std::snprintf(two, sizeof(two), "%02x", byte);
		text += two;
	}
	return text;
}

std::string bytes(const std::string &hex)
{
	std::string text;

	for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
		text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
	return text;
}

Json qdisc_json(const Qdisc &qdisc)
{
	return {{"device", qdisc.device}, {"kind", qdisc.kind}, {"handle", qdisc.handle}, {"parent", qdisc.parent},
		{"options", hex(qdisc.options)}};
}

Qdisc qdisc_of(const Json &json)
{
	Qdisc qdisc;

	qdisc.device = json.at("device").get<std::string>();
	qdisc.kind = json.at("kind").get<std::string>();
	qdisc.handle = json.at("handle").get<std::uint32_t>();
	qdisc.parent = json.at("parent").get<std::uint32_t>();
	qdisc.options = bytes(json.at("options").get<std::string>());
	return qdisc;
}

Json change_json(const Change &change)
{
	Json json = {{"kind", kKinds[static_cast<int>(change.kind)]}, {"name", change.name}};

	if (change.kind == Kind::route)
		json.update({{"device", change.device}, {"metric", change.metric}, {"v6", change.v6},
			     {"made", change.made}, {"congctl", change.congctl}, {"set", change.set},
			     {"usec", change.usec}, {"via", change.via}, {"src", change.src}});
	if (!change.keys.empty())
		json["keys"] = change.keys;
	for (const Qdisc &qdisc : change.qdiscs)
		json["qdiscs"].push_back(qdisc_json(qdisc));
	return json;
}

Kind kind_of(const std::string &name)
{
	for (std::size_t i = 0; i < std::size(kKinds); i++)
		if (name == kKinds[i])
			return static_cast<Kind>(i);
	throw Error("a change of kind '" + name + "'");
}

Change change_of(const Json &json)
{
	Change change;

	change.kind = kind_of(json.at("kind").get<std::string>());
	change.name = json.at("name").get<std::string>();
	if (change.kind == Kind::route) {
		change.device = json.at("device").get<std::string>();
		change.metric = json.at("metric").get<std::string>();
		change.v6 = json.at("v6").get<bool>();
		change.made = json.at("made").get<bool>();
		change.congctl = json.at("congctl").get<std::string>();
		change.set = json.at("set").get<std::string>();
		change.usec = json.at("usec").get<bool>();
		change.via = json.at("via").get<std::string>();
		change.src = json.at("src").get<std::string>();
	}
	change.keys = json.value("keys", std::vector<unsigned>());
	for (const Json &qdisc : json.value("qdiscs", Json::array()))
		change.qdiscs.push_back(qdisc_of(qdisc));
	return change;
}

// By the namespace's cookie, which no other has until the host starts again; inodes have a namespace's number anew
// when it is gone. Of the namespace that this runs in.
std::string file_name()
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	std::uint64_t cookie = 0;
	socklen_t bytes = sizeof(cookie);
	int failed = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &bytes);

	close(fd);
	if (fd < 0 || failed)
		throw Error(std::string("cannot tell network namespaces apart: ") + std::strerror(errno));
	return "state-" + std::to_string(cookie) + ".json";
}

[[noreturn]] void fail(const std::string &what)
{
	throw Error(what + ": " + std::strerror(errno));
}

// Of the namespaces that live and can be entered: one that is gone leaves its file behind.
std::set<std::string> living_file_names()
{
	std::set<std::string> names;

	each_namespace([&](const std::string &) { names.insert(file_name()); });
	return names;
}

State read_state(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!file && errno == ENOENT)
		return {};
	if (!file)
		fail("cannot read " + path);
	text << file.rdbuf();
	try {
		return parse_state(text.str());
	} catch (const Error &error) {
		throw Error(path + ": " + error.what() + "; nobody can undo what it was for: take back by hand what turnpike shows, and remove this file, or restart the host");
	}
}

void write_state(const State &state, const std::string &path)
{
	std::string next = path + ".new";

	if (state.changes.empty()) {
		unlink(path.c_str());
		return;
	}
	{
		std::ofstream file(next, std::ios::trunc);
		file << state_text(state);
		if (!file.flush())
			fail("cannot write " + next);
	}
	chmod(next.c_str(), 0644);
	if (rename(next.c_str(), path.c_str()))
		fail("cannot write " + path);
}

bool needs(const State &state, const std::string &module)
{
	return !state.changes.empty() && modules_of(state.wanted).count(module);
}

}  // namespace

std::string state_text(const State &state)
{
	Json json = {{"version", kVersion1}, {"since", state.since_s}, {"by", state.by},
		     {"wanted", config_text(state.wanted)}, {"changes", Json::array()}};

	for (const Change &change : state.changes)
		json["changes"].push_back(change_json(change));
	json["indexes"] = state.indexes;
	// Who called sudo may have any name.
	return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

State parse_state(const std::string &text)
{
	State state;

	try {
		Json json = Json::parse(text);

		if (json.at("version") != kVersion1)
			throw Error("of another version of turnpike");
		state.since_s = json.at("since").get<std::int64_t>();
		state.by = json.at("by").get<std::string>();
		state.wanted = parse_config(json.at("wanted").get<std::string>());
		for (const Json &change : json.at("changes"))
			state.changes.push_back(change_of(change));
		// Older ones have none.
		state.indexes = json.value("indexes", state.indexes);
	} catch (const Json::parse_error &error) {
		throw Error("damaged at byte " + std::to_string(error.byte));
	} catch (const std::exception &error) {
		throw Error(std::string("no state of turnpike: ") + error.what());
	}
	return state;
}

void follow_names(State &state, const std::function<std::string(unsigned)> &name_of)
{
	std::map<std::string, std::string> renamed;
	auto follow = [&](std::string &name) {
		auto found = renamed.find(name);

		if (found != renamed.end())
			name = found->second;
	};

	for (const auto &[name, index] : state.indexes) {
		std::string now = name_of(index);
		if (!now.empty() && now != name)
			renamed[name] = now;
	}
	for (WantedDevice &device : state.wanted.devices)
		follow(device.name);
	for (Change &change : state.changes) {
		follow(change.device);
		if (change.kind == Kind::qdisc)
			follow(change.name);
		for (Qdisc &qdisc : change.qdiscs)
			follow(qdisc.device);
	}
	std::map<std::string, unsigned> indexes;
	for (const auto &[name, index] : state.indexes) {
		std::string now = name;
		follow(now);
		indexes[now] = index;
	}
	state.indexes = indexes;
}

// Readers need no lock: a file is replaced as a whole.
StateFile::StateFile(const std::string &directory, bool write) : directory_(directory), path_(directory + "/" + file_name())
{
	if (!write)
		return;
	if (mkdir(directory.c_str(), 0755) && errno != EEXIST)
		fail("cannot make " + directory);
	chmod(directory.c_str(), 0755);
	// Of no use to others, who could keep it.
	lock_ = open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock_ < 0 || fchmod(lock_, 0600))
		fail("cannot open " + directory + "/lock");
	if (flock(lock_, LOCK_EX | LOCK_NB) == 0)
		return;
	std::cerr << "turnpike: another turnpike is at work: waiting for it\n";
	if (flock(lock_, LOCK_EX))
		fail("cannot lock " + directory + "/lock");
}

StateFile::~StateFile()
{
	if (lock_ >= 0)
		close(lock_);
}

State StateFile::read() const
{
	State state = read_state(path_);

	follow_names(state, [](unsigned index) -> std::string {
		char name[IF_NAMESIZE];

		return if_indextoname(index, name) ? name : "";
	});
	return state;
}

void StateFile::write(const State &state) const
{
	write_state(state, path_);
}

// Empty if there is none.
std::string StateFile::needing(const std::string &module) const
{
	std::error_code error;
	std::set<std::string> living;

	for (const auto &entry : std::filesystem::directory_iterator(directory_, error)) {
		std::string path = entry.path(), name = entry.path().filename();

		if (path == path_ || !name.starts_with("state-") || !name.ends_with(".json"))
			continue;
		try {
			if (!needs(read_state(path), module))
				continue;
		} catch (const Error &) {
			// Its own down tells of it.
			continue;
		}
		if (living.empty())
			living = living_file_names();
		if (living.count(name))
			return path;
	}
	return "";
}

bool StateFile::others_need(const std::string &module) const
{
	return !needing(module).empty();
}

void StateFile::hand_over(const Change &module) const
{
	std::string path = needing(module.name);
	State state = read_state(path);

	// First of all that it made, so that it goes last.
	if (std::none_of(state.changes.begin(), state.changes.end(),
			 [&](const Change &change) { return change.is_of_the_same(module); }))
		state.changes.insert(state.changes.begin(), module);
	write_state(state, path);
}

}  // namespace turnpike
