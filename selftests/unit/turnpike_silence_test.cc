// SPDX-License-Identifier: GPL-2.0
//
// Why On-Ramp has no feedback: tools/turnpike/silence.cc and silence_look.cc. No host is asked.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "silence.h"
#include "silence_look.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

SilenceHost host()
{
	SilenceHost made;

	made.onramp = made.asks = true;
	made.port = 61004;
	made.port_open = true;
	return made;
}

SilencePeer peer(Probed probe, bool hears = false)
{
	return {"10.1.0.2", hears, probe};
}

bool has(const SilenceCause &cause, const std::string &words) { return cause.text().find(words) != std::string::npos; }

TEST(Silence, host_silence__is_for_all_peers)
{
	SilenceHost here = host();

	EXPECT_FALSE(host_silence(here));
	here.asks = false;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::refused)), "goes by TCP timestamps alone"));
	here.port_open = false;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::refused)), "is closed: no onramp of this host holds flows"));
	here.port_taken = true;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::refused)), "another program of this host has UDP port 61004"));
	EXPECT_EQ(host_silence(here)->command, "ss -ulnp sport = :61004");
	here.onramp = false;
	EXPECT_EQ(host_silence(here)->command, "turnpike up DEV --profile onramp");
	EXPECT_EQ(no_peer(here).what, no_flow(here).what);
}

TEST(Silence, peer_silence__icmp_says_that_nobody_has_the_port)
{
	SilenceCause cause = peer_silence(host(), peer(Probed::refused));

	EXPECT_EQ(cause.text(), "no program there has UDP port 61004: no onramp on a device, no module, or a firewall that rejects; "
				"next, at 10.1.0.2: turnpike doctor");
	// Whatever was refused of others.
	SilenceHost here = host();
	here.refused_key = 7;
	EXPECT_EQ(peer_silence(here, peer(Probed::refused)).what, cause.what);
	EXPECT_EQ(peer_silence(host(), peer(Probed::unreachable)).command, "nft list ruleset");
	EXPECT_TRUE(has(peer_silence(host(), peer(Probed::forbidden)), "a firewall of this host"));
	EXPECT_EQ(peer_silence(host(), peer(Probed::forbidden)).where, "");
}

TEST(Silence, peer_silence__who_asks_with_the_right_key_is_behind_a_firewall)
{
	SilenceHost here = host();

	here.refused_mac = 3;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::no_answer, true)), "a firewall drops what goes to its UDP port 61004"));
}

TEST(Silence, peer_silence__by_datagrams_that_were_refused)
{
	SilenceHost here = host();

	here.refused_key = 7;
	EXPECT_EQ(peer_silence(here, peer(Probed::no_answer)).text(),
		  "7 signed datagrams were refused: this host has no key, and others have one; next, here: turnpike onramp key load");
	EXPECT_EQ(no_peer(here).what, peer_silence(here, peer(Probed::no_answer)).what);
	here.has_key = true;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::no_answer)), "7 datagrams without this host's key were refused"));
	here.refused_mac = 2;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::no_answer)), "the keys differ; next, here: sha256sum"));
}

TEST(Silence, peer_silence__nothing_at_all_names_what_is_left)
{
	SilenceHost here = host();
	std::string without = peer_silence(here, peer(Probed::no_answer)).text();

	EXPECT_EQ(without, "nothing came back: a firewall drops UDP port 61004, it has a key and this host has none, or another program "
			   "there has the port; next, at 10.1.0.2: turnpike onramp peers");
	here.has_key = true;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::none)), "it has no key or another one, or another program"));
	// The key serves for others.
	here.answering = 1;
	EXPECT_TRUE(has(peer_silence(here, peer(Probed::no_answer)), "another program there has the port, or it has no key"));
}

TEST(Silence, no_peer__and_no_flow_say_why)
{
	SilenceHost here = host();

	EXPECT_TRUE(has(no_peer(here), "no connection sent data to a host that is near, or a firewall drops UDP port 61004"));
	EXPECT_EQ(no_flow(here).command, "turnpike onramp peers");
	here.limited = true;
	EXPECT_TRUE(has(no_peer(here), "near and that may be asked"));
}

TEST(Silence, silent_peers__are_those_that_data_goes_to)
{
	Json peers = Json::parse(R"([{"remote": "10.1.0.2", "acks": true, "hears": false}, {"remote": "10.1.0.3", "acks": false, "hears": false},
		{"remote": "10.1.0.4", "acks": false, "hears": true}, {"remote": "10.1.0.5", "acks": false, "hears": true}])");
	std::vector<SilencePeer> silent = silent_peers(peers, {{"10.1.0.4", 500}, {"10.1.0.5", 50000000}});

	ASSERT_EQ(silent.size(), 2u);
	EXPECT_EQ(silent[0].address, "10.1.0.3");
	EXPECT_EQ(silent[1].address, "10.1.0.5");
	EXPECT_TRUE(silent[1].hears);
}

TEST(Silence, silence_text__a_line_each)
{
	std::vector<SilencePeer> many(11, peer(Probed::refused));
	std::string text = silence_text(host(), many, no_flow);
	SilenceHost off;

	EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
	EXPECT_NE(text.find("nor from 3 more"), std::string::npos);
	EXPECT_EQ(silence_text(host(), {}, nullptr), "");
	EXPECT_EQ(silence_text(off, {}, nullptr), "");
	EXPECT_EQ(silence_text(host(), {}, no_flow).rfind("no feedback: no connection", 0), 0u);
	// What is so of all is said once.
	EXPECT_EQ(silence_text(off, many, no_flow).rfind("no feedback: no device of this host", 0), 0u);
}

TEST(Silence, has_udp_port__of_local_ends_alone)
{
	const std::string text = "  sl  local_address rem_address   st\n"
				 "  12: 00000000:EE4C 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0\n"
				 "  13: 0100007F:0035 0100007F:EE4D 07\n";

	EXPECT_TRUE(has_udp_port(text, 61004));
	EXPECT_FALSE(has_udp_port(text, 61005));
	EXPECT_FALSE(has_udp_port("", 61004));
}

TEST(Silence, probe__of_a_closed_port_is_refused)
{
	std::vector<SilencePeer> peers = {{"127.0.0.1", false, Probed::none}, {"no address", false, Probed::none}};

	// No program has port 1 of UDP.
	probe(peers, 1);
	EXPECT_EQ(peers[0].probe, Probed::refused);
	EXPECT_EQ(peers[1].probe, Probed::none);
}

}  // namespace
}  // namespace turnpike
