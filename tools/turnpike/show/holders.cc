// SPDX-License-Identifier: GPL-2.0
#include "holders.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "../setup/host.h"
#include "../setup/qdiscs.h"
#include "../units.h"
#include "namespaces.h"

namespace turnpike {
namespace {

constexpr unsigned kExamples = 2;

// As include/net/tcp_states.h numbers them.
enum : unsigned { kFinWait1 = 4, kFinWait2 = 5, kClose = 7, kCloseWait = 8, kLastAck = 9, kListen = 10, kClosing = 11, kBound = 13 };

struct SocketKind {
	const char *one, *which;	// "connection" is counted, " that the peer closed" follows
	std::set<unsigned> states;
	bool shows_local;	// nobody is at the other end
};

// By what ends them: the program here, the peer, or the peer's last ACK. Those in no row are connections.
const std::vector<SocketKind> kKinds = {
	{"listener", "", {kListen}, true},
	{"connection", " that the peer closed", {kCloseWait}, false},
	{"closing connection", "", {kFinWait1, kFinWait2, kLastAck, kClosing}, false},
	{"socket", " without a connection", {kClose, kBound}, true},
};

const SocketKind &kind_of(const Socket &socket)
{
	static const SocketKind connection = {"connection", "", {}, false};
	auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const SocketKind &kind) { return kind.states.count(socket.state) != 0; });

	return found == kKinds.end() ? connection : *found;
}

std::string example(const Socket &socket, const SocketKind &kind)
{
	return kind.shows_local ? end_text(socket.ends.local, socket.ends.local_port)
				: "to " + end_text(socket.ends.remote, socket.ends.remote_port);
}

// As "2 connections (to 10.1.0.2:5001, to 10.1.0.3:5001)", for each kind that there is.
std::vector<std::string> sockets_text(const std::vector<Socket> &sockets)
{
	std::vector<const SocketKind *> kinds;
	std::vector<std::string> texts;

	for (const Socket &socket : sockets)
		if (std::find(kinds.begin(), kinds.end(), &kind_of(socket)) == kinds.end())
			kinds.push_back(&kind_of(socket));
	for (const SocketKind *kind : kinds) {
		std::size_t count = 0;
		std::string examples;
		for (const Socket &socket : sockets) {
			if (&kind_of(socket) != kind)
				continue;
			if (count++ < kExamples)
				examples += (examples.empty() ? "" : ", ") + example(socket, *kind);
		}
		texts.push_back(count_text(count, kind->one) + kind->which + " (" + examples + (count > kExamples ? ", ..." : "") + ")");
	}
	return texts;
}

std::vector<std::string> holders_in(const HeldModule &module, const Holders &space)
{
	std::vector<std::string> texts;

	if (module.name == "tcp_timely") {
		texts = sockets_text(space.sockets);
		if (space.congestion.starts_with("timely"))
			texts.push_back("the default congestion control");
	}
	if (module.name == "sch_onramp")
		for (const std::string &device : space.devices)
			texts.push_back("onramp on " + device);
	return texts;
}

Holders look_here(const std::string &netns)
{
	Holders here = {netns, first_word("/proc/sys/net/ipv4/tcp_congestion_control")};

	for (const Socket &socket : tcp_sockets(kAnyState))
		if (socket.congctl.starts_with("timely"))
			here.sockets.push_back(socket);
	for (const Qdisc &qdisc : qdiscs())
		if (qdisc.kind == "onramp")
			here.devices.insert(qdisc.device);
	return here;
}

}  // namespace

HeldModule held_module(const std::string &name, const std::string &sysfs)
{
	HeldModule module = {name};
	std::ifstream references(sysfs + "/" + name + "/refcnt");
	std::error_code error;

	references >> module.references;
	for (const auto &user : std::filesystem::directory_iterator(sysfs + "/" + name + "/holders", error))
		module.users.push_back(user.path().filename());
	std::sort(module.users.begin(), module.users.end());
	return module;
}

std::vector<Holders> look_at_holders()
{
	std::vector<Holders> spaces;

	each_namespace([&](const std::string &netns) { spaces.push_back(look_here(netns)); });
	return spaces;
}

std::string holders_of(const HeldModule &module, const std::vector<Holders> &spaces)
{
	std::string text;
	auto add = [&](const std::string &what) { text += (text.empty() ? "" : ", ") + what; };

	for (const std::string &user : module.users)
		add("module " + user);
	for (const Holders &space : spaces)
		for (const std::string &what : holders_in(module, space))
			add(what + (space.netns.empty() ? "" : " in network namespace " + space.netns));
	// The kernel lists no socket before connect() or after a reset, and nobody all namespaces.
	if (text.empty() && module.references)
		add(count_text(module.references, "reference") + " of sockets without a connection that programs keep open, "
							      "of namespaces without a process, or of perf");
	return text;
}

}  // namespace turnpike
