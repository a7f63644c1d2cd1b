// SPDX-License-Identifier: GPL-2.0
#include "silence_look.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "include/uapi/turnpike.h"
#include "monotonic.h"
#include "netlink.h"
#include "netns.h"
#include "process.h"
#include "setup/qdiscs.h"
#include "show/sockets.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Each costs a peer one datagram, and its ICMP.
constexpr std::size_t kProbesMost = 8;
// Hosts of On-Ramp are at most 10 ms away.
constexpr std::int64_t kWaitNs = 200000000;
// Who hears of us and gets no more than this may be a host that this one only answers.
constexpr std::uint64_t kDataBytes = 1000000;

std::string text_of(const char *path)
{
	std::ifstream file(path);

	return {std::istreambuf_iterator<char>(file), {}};
}

// A connected socket gets the ICMP error as its own.
Probed probe_of(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return Probed::refused;
	case EPERM:
		return Probed::forbidden;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EACCES:
		return Probed::unreachable;
	}
	return Probed::none;
}

// IPv6 or IPv4 by numbers; 0: it is neither.
socklen_t address_of(const std::string &text, unsigned port, sockaddr_storage &address)
{
	auto *four = reinterpret_cast<sockaddr_in *>(&address);
	auto *six = reinterpret_cast<sockaddr_in6 *>(&address);

	address = {};
	if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) != 1)
		return 0;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return sizeof(*six);
}

// The socket to look at later; NULL if the answer is known.
std::unique_ptr<File> send_probe(SilencePeer &peer, unsigned port)
{
	sockaddr_storage address;
	socklen_t bytes = address_of(peer.address, port, address);

	if (!bytes)
		return nullptr;
	auto socket = std::make_unique<File>(::socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (socket->fd() < 0)
		return nullptr;
	if (!connect(socket->fd(), reinterpret_cast<sockaddr *>(&address), bytes) && send(socket->fd(), "", 1, 0) == 1) {
		peer.probe = Probed::no_answer;
		return socket;
	}
	peer.probe = probe_of(errno);
	return nullptr;
}

bool wants_receipts(const Qdisc &onramp)
{
	for (const nlattr *attribute : attributes(onramp.options))
		if (mnl_attr_get_type(attribute) == TCA_ONRAMP_FEEDBACK)
			return struct_of<std::uint8_t>(attribute) != ONRAMP_FEEDBACK_TCPTS;
	return true;
}

std::map<std::string, std::uint64_t> sent_bytes()
{
	std::map<std::string, std::uint64_t> bytes;

	for (const Socket &socket : tcp_sockets())
		bytes[end_text(socket.ends.remote, std::nullopt)] += socket.bytes_acked;
	return bytes;
}

}  // namespace

bool has_udp_port(const std::string &text, unsigned port)
{
	std::istringstream lines(text);
	char wanted[8];

	std::snprintf(wanted, sizeof(wanted), ":%04X", port);
	for (std::string line; std::getline(lines, line);) {
		std::istringstream words(line);
		std::string number, local;

		// Such as "  12: 00000000:EE4C 00000000:0000 07".
		if (words >> number >> local && number.back() == ':' && local.ends_with(wanted))
			return true;
	}
	return false;
}

SilenceHost look_at_silence(const Json &config, const Json &stats, const Json &peers)
{
	SilenceHost host;

	for (const Qdisc &qdisc : qdiscs()) {
		if (qdisc.kind != "onramp")
			continue;
		host.onramp = true;
		host.asks = host.asks || wants_receipts(qdisc);
	}
	host.port = config.at("port").get<unsigned>();
	host.port_open = config.at("active").get<bool>();
	host.port_taken = !host.port_open && (has_udp_port(text_of("/proc/net/udp"), host.port) ||
					      has_udp_port(text_of("/proc/net/udp6"), host.port));
	host.has_key = !config.at("keys").empty();
	host.limited = !config.at("ask").empty();
	host.answering = std::count_if(peers.begin(), peers.end(), [](const Json &peer) { return peer.at("acks").get<bool>(); });
	host.refused_key = stats.value("refused_key", std::uint64_t(0));
	host.refused_mac = stats.value("refused_mac", std::uint64_t(0));
	return host;
}

std::vector<SilencePeer> silent_peers(const Json &peers, const std::map<std::string, std::uint64_t> &sent_bytes)
{
	std::vector<SilencePeer> silent;

	for (const Json &peer : peers) {
		SilencePeer one;

		one.address = peer.at("remote").get<std::string>();
		one.hears = peer.at("hears").get<bool>();
		auto sent = sent_bytes.find(one.address);
		// Who only sends to this host was never asked.
		if (peer.at("acks").get<bool>() || (one.hears && (sent == sent_bytes.end() || sent->second < kDataBytes)))
			continue;
		silent.push_back(one);
	}
	return silent;
}

void probe(std::vector<SilencePeer> &peers, unsigned port)
{
	std::vector<std::unique_ptr<File>> sockets;
	std::int64_t end_ns = static_cast<std::int64_t>(monotonic_ns()) + kWaitNs;

	for (std::size_t i = 0; i < std::min(peers.size(), kProbesMost); i++)
		sockets.push_back(send_probe(peers[i], port));
	for (std::size_t i = 0; i < sockets.size(); i++) {
		if (!sockets[i])
			continue;
		// POLLERR comes unasked.
		pollfd wait = {sockets[i]->fd(), 0, 0};
		std::int64_t left_ns = std::max<std::int64_t>(end_ns - static_cast<std::int64_t>(monotonic_ns()), 0);
		int error = 0;
		socklen_t bytes = sizeof(error);

		if (poll(&wait, 1, static_cast<int>(left_ns / 1000000)) == 1 &&
		    !getsockopt(sockets[i]->fd(), SOL_SOCKET, SO_ERROR, &error, &bytes) && error)
			peers[i].probe = probe_of(error);
	}
}

std::string silence_text(const SilenceHost &host, const std::vector<SilencePeer> &peers,
			 SilenceCause (*empty)(const SilenceHost &))
{
	std::string text;

	if (peers.empty() && !empty)
		return text;
	if (auto cause = host_silence(host))
		return "no feedback: " + cause->text() + '\n';
	for (std::size_t i = 0; i < std::min(peers.size(), kProbesMost); i++)
		text += "no receipts from " + peers[i].address + ": " + peer_silence(host, peers[i]).text() + '\n';
	if (peers.size() > kProbesMost)
		text += "nor from " + std::to_string(peers.size() - kProbesMost) + " more\n";
	if (peers.empty())
		text = "no feedback: " + empty(host).text() + '\n';
	return text;
}

std::string look_for_silence(SilenceCause (*empty)(const SilenceHost &), const std::function<bool(const std::string &)> &concerns)
{
	Json config = answer_if_any({"onramp", "show"}), stats = answer_if_any({"onramp", "stats"}), peers = answer_if_any({"onramp", "peers"});

	// Users without rights see no peers, and the module may be gone by now.
	if (!config.is_object() || !stats.is_object() || !peers.is_array())
		return "";
	SilenceHost host = look_at_silence(config, stats, peers);
	std::vector<SilencePeer> silent = silent_peers(peers, sent_bytes());
	std::erase_if(silent, [&](const SilencePeer &peer) { return !concerns(peer.address); });
	if (!host_silence(host))
		probe(silent, host.port);
	return silence_text(host, silent, empty);
}

}  // namespace turnpike
