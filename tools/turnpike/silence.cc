// SPDX-License-Identifier: GPL-2.0
#include "silence.h"

namespace turnpike {
namespace {

std::string port_of(const SilenceHost &host)
{
	return "UDP port " + std::to_string(host.port);
}

// Datagrams came, and this host could not check them.
std::optional<SilenceCause> other_key(const SilenceHost &host)
{
	std::string many = std::to_string(host.refused_key + host.refused_mac);

	if (host.refused_mac)
		return SilenceCause{many + " datagrams with another host's key were refused: the keys differ", "",
				    "sha256sum /etc/turnpike/onramp.key, at each host"};
	if (host.refused_key && !host.has_key)
		return SilenceCause{many + " signed datagrams were refused: this host has no key, and others have one", "",
				    "turnpike onramp key load"};
	if (host.refused_key)
		return SilenceCause{many + " datagrams without this host's key were refused: others have no key, or one of another number",
				    "the sender", "turnpike onramp key load"};
	return std::nullopt;
}

// Nothing came back at all. Who has receipts of others has the right key.
std::string causes_of_no_answer(const SilenceHost &host)
{
	std::string key = host.has_key ? "it has no key or another one" : "it has a key and this host has none";
	std::string wall = "a firewall drops " + port_of(host);
	std::string taken = "another program there has the port";

	if (host.answering)
		return wall + ", " + taken + ", or " + key;
	return wall + ", " + key + ", or " + taken;
}

}  // namespace

std::string SilenceCause::text() const
{
	return what + "; next, " + (where.empty() ? "here" : "at " + where) + ": " + command;
}

std::optional<SilenceCause> host_silence(const SilenceHost &host)
{
	if (!host.onramp)
		return SilenceCause{"no device of this host has the qdisc onramp", "", "turnpike up DEV --profile onramp"};
	if (!host.port_open && host.port_taken)
		return SilenceCause{"another program of this host has " + port_of(host) + ", so no receipt comes or goes", "",
				    "ss -ulnp sport = :" + std::to_string(host.port)};
	if (!host.port_open)
		return SilenceCause{port_of(host) + " is closed: no onramp of this host holds flows", "", "tc qdisc show"};
	if (!host.asks)
		return SilenceCause{"each onramp of this host goes by TCP timestamps alone (feedback tcpts)", "", "tc qdisc show"};
	return std::nullopt;
}

SilenceCause peer_silence(const SilenceHost &host, const SilencePeer &peer)
{
	if (auto cause = host_silence(host))
		return *cause;
	if (peer.probe == Probed::forbidden)
		return {"a firewall of this host drops what goes to its " + port_of(host), "", "nft list ruleset"};
	if (peer.probe == Probed::refused)
		return {"no program there has " + port_of(host) + ": no onramp on a device, no module, or a firewall that rejects",
			peer.address, "turnpike doctor"};
	if (peer.probe == Probed::unreachable)
		return {"the network or a firewall says that " + port_of(host) + " is not reached", peer.address, "nft list ruleset"};
	// What it asks for was signed as this host wants it.
	if (peer.hears)
		return {"it asks this host for receipts and sends none: a firewall drops what goes to its " + port_of(host),
			peer.address, "nft list ruleset"};
	if (auto cause = other_key(host))
		return *cause;
	return {"nothing came back: " + causes_of_no_answer(host), peer.address, "turnpike onramp peers"};
}

SilenceCause no_peer(const SilenceHost &host)
{
	if (auto cause = host_silence(host))
		return *cause;
	if (auto cause = other_key(host))
		return *cause;
	return {"no host was asked, and none asked: no connection sent data to a host that is near" +
			std::string(host.limited ? " and that may be asked" : "") + ", or a firewall drops " + port_of(host),
		"", "turnpike onramp show"};
}

SilenceCause no_flow(const SilenceHost &host)
{
	if (auto cause = host_silence(host))
		return *cause;
	return {"no connection sent data to a host with feedback in the last seconds", "", "turnpike onramp peers"};
}

}  // namespace turnpike
