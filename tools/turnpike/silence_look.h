// SPDX-License-Identifier: GPL-2.0
//
// What this host and a datagram to its peers say of feedback that does not come.
#ifndef TURNPIKE_TOOLS_SILENCE_LOOK_H
#define TURNPIKE_TOOLS_SILENCE_LOOK_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "silence.h"

namespace turnpike {

// config, stats, peers: what turnpike onramp show, stats and peers print as JSON.
SilenceHost look_at_silence(const nlohmann::ordered_json &config, const nlohmann::ordered_json &stats,
			    const nlohmann::ordered_json &peers);

// Those of the peers that data goes to, and that send no receipts; no probe was made yet. sent_bytes: to an address.
std::vector<SilencePeer> silent_peers(const nlohmann::ordered_json &peers,
				      const std::map<std::string, std::uint64_t> &sent_bytes);

// Sends a datagram to the port of each, of eight at most, and waits a moment for what comes back.
void probe(std::vector<SilencePeer> &peers, unsigned port);

// Lines for people, one each. empty: what to say where no peer is silent, and the table above is empty; NULL if it is not.
std::string silence_text(const SilenceHost &host, const std::vector<SilencePeer> &peers,
			 SilenceCause (*empty)(const SilenceHost &));

// The same of this host as it is now. concerns: the peers to tell of, by their addresses.
std::string look_for_silence(SilenceCause (*empty)(const SilenceHost &), const std::function<bool(const std::string &)> &concerns);

// Has a socket the port, by the text of /proc/net/udp or udp6?
bool has_udp_port(const std::string &text, unsigned port);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SILENCE_LOOK_H
