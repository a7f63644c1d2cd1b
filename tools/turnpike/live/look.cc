// SPDX-License-Identifier: GPL-2.0
#include "look.h"

#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>

#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <sys/socket.h>

#include "../genl.h"
#include "../monotonic.h"
#include "../netns.h"
#include "../onramp_family.h"
#include "../onramp_flows.h"
#include "../proc_counter.h"
#include "../setup/host.h"
#include "../setup/qdiscs.h"
#include "../show/namespaces.h"
#include "../show/status.h"
#include "pace.h"

namespace turnpike {
namespace {

// A dump fails if what it tells of changes meanwhile.
constexpr int kTries = 5;

template <typename Function> auto patiently(Function function)
{
	for (int left = kTries; ; left--) {
		try {
			return function();
		} catch (const Error &) {
			if (left <= 1)
				throw;
		}
	}
}

// Without it the socket's own namespace has number 0, which is one of its own, too.
std::uint64_t namespace_id()
{
	File file(socket_in(nullptr));
	std::uint64_t id = 0;
	socklen_t bytes = sizeof(id);

	(void)!getsockopt(file.fd(), SOL_SOCKET, SO_NETNS_COOKIE, &id, &bytes);
	return id;
}

void read_qdiscs(Space &space)
{
	std::vector<Qdisc> all = patiently(qdiscs);

	for (const Qdisc &qdisc : all)
		if (qdisc.parent == TC_H_ROOT)
			space.roots[qdisc.device] = {qdisc.kind, qdisc.handle, qdisc.drops};
	space.onramp = onramp_json(all);
}

// Who has no rights sees the rest.
template <typename Function> void if_allowed(Space &space, Function function)
{
	try {
		function();
	} catch (const KernelError &error) {
		space.refused = space.refused || error.number() == EPERM;
	} catch (const Error &) {
		// The module went meanwhile.
	}
}

void read_onramp_flows(Space &space)
{
	onramp_family().call(ONRAMP_CMD_FLOWS, nullptr, [&](const Attributes &a) {
		if (!a.count(ONRAMP_A_FLOW))
			return;
		Attributes flow = parse_nest(a.at(ONRAMP_A_FLOW));
		Ends ends;

		ends.local = mapped_address(attribute_bytes(flow.at(ONRAMP_FLOW_LOCAL), 16), false);
		ends.remote = mapped_address(attribute_bytes(flow.at(ONRAMP_FLOW_REMOTE), 16), false);
		ends.local_port = attribute_u16(flow.at(ONRAMP_FLOW_LOCAL_PORT));
		ends.remote_port = attribute_u16(flow.at(ONRAMP_FLOW_REMOTE_PORT));
		space.onramp_flows.insert_or_assign(ends, onramp_flow_json(flow));
	}, true);
}

// Hosts that only receive have said what they want; those that answer send receipts.
void read_silent(Space &space)
{
	onramp_family().call(ONRAMP_CMD_PEERS, nullptr, [&](const Attributes &a) {
		if (!a.count(ONRAMP_A_PEER))
			return;
		Attributes peer = parse_nest(a.at(ONRAMP_A_PEER));

		if (!attribute_u8(peer.at(ONRAMP_PEER_ACKS)) && !attribute_u8(peer.at(ONRAMP_PEER_HEARS)))
			space.silent.insert(mapped_address(attribute_bytes(peer.at(ONRAMP_PEER_REMOTE), 16), false));
	}, true);
}

std::array<std::uint8_t, 16> tlt_address(const nlattr *attribute)
{
	bool four = mnl_attr_get_payload_len(attribute) == 4;

	return mapped_address(attribute_bytes(attribute, four ? 4 : 16), four);
}

void read_tlt_flows(Space &space)
{
	static const char *const names[] = {"unknown", "tlt", "deaf"};

	Genl(TLT_GENL_NAME, TLT_GENL_VERSION, "no TLT").call(TLT_CMD_FLOWS, nullptr, [&](const Attributes &a) {
		if (!a.count(TLT_A_FLOW))
			return;
		Attributes flow = parse_nest(a.at(TLT_A_FLOW));
		unsigned peer = attribute_u8(flow.at(TLT_FLOW_PEER));
		Ends ends;

		ends.local = tlt_address(flow.at(TLT_FLOW_LOCAL));
		ends.remote = tlt_address(flow.at(TLT_FLOW_REMOTE));
		ends.local_port = attribute_u16(flow.at(TLT_FLOW_LOCAL_PORT));
		ends.remote_port = attribute_u16(flow.at(TLT_FLOW_REMOTE_PORT));
		space.tlt_peers[ends] = peer < std::size(names) ? names[peer] : std::to_string(peer);
	}, true);
}

std::string content(const char *path)
{
	std::stringstream text;

	text << std::ifstream(path).rdbuf();
	return text.str();
}

Space look_at_space(const std::string &name, const std::set<std::string> &modules)
{
	Space space;

	space.id = namespace_id();
	space.name = name;
	space.at_ns = monotonic_ns();
	space.sockets = patiently([] { return tcp_sockets(); });
	space.links = patiently(links);
	read_qdiscs(space);
	if (modules.count("sch_onramp"))
		if_allowed(space, [&] {
			read_onramp_flows(space);
			read_silent(space);
		});
	if (modules.count("tlt"))
		if_allowed(space, [&] { read_tlt_flows(space); });
	space.retransmits = proc_counter(content("/proc/net/snmp"), "Tcp:", "RetransSegs");
	space.timeouts = proc_counter(content("/proc/net/netstat"), "TcpExt:", "TCPTimeouts");
	return space;
}

}  // namespace

Look look_at_all()
{
	std::set<std::string> modules = loaded_modules();
	Look look;

	look.at_ns = monotonic_ns();
	each_namespace([&](const std::string &name) {
		try {
			look.spaces.push_back(look_at_space(name, modules));
		} catch (const Error &) {
			if (name.empty())
				throw;
		}
	});
	return look;
}

}  // namespace turnpike
