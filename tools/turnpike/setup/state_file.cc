// SPDX-License-Identifier: GPL-2.0
#include "state_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "../command.h"

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
// when it is gone.
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

}  // namespace

std::string state_text(const State &state)
{
	Json json = {{"version", kVersion1}, {"since", state.since_s}, {"by", state.by},
		     {"wanted", config_text(state.wanted)}, {"changes", Json::array()}};

	for (const Change &change : state.changes)
		json["changes"].push_back(change_json(change));
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
	} catch (const std::exception &error) {
		throw Error(std::string("no state of turnpike: ") + error.what());
	}
	return state;
}

// Readers need no lock: a file is replaced as a whole.
StateFile::StateFile(const std::string &directory, bool write) : path_(directory + "/" + file_name())
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
	std::ifstream file(path_);
	std::ostringstream text;

	if (!file && errno == ENOENT)
		return {};
	if (!file)
		fail("cannot read " + path_);
	text << file.rdbuf();
	try {
		return parse_state(text.str());
	} catch (const Error &error) {
		throw Error(path_ + ": " + error.what() + "; what it says cannot be undone by it any more");
	}
}

void StateFile::write(const State &state) const
{
	std::string next = path_ + ".new";

	if (state.changes.empty()) {
		unlink(path_.c_str());
		return;
	}
	{
		std::ofstream file(next, std::ios::trunc);
		file << state_text(state);
		if (!file.flush())
			fail("cannot write " + next);
	}
	chmod(next.c_str(), 0644);
	if (rename(next.c_str(), path_.c_str()))
		fail("cannot write " + path_);
}

}  // namespace turnpike
