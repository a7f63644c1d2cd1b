// SPDX-License-Identifier: GPL-2.0
//
// turnpike check: what it makes of its turns, and what both of its ends say to each other. No network is touched.
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "check/estimate.h"
#include "check/net.h"
#include "check/protocol.h"
#include "check/route_get.h"
#include "check/verdict.h"
#include "command.h"
#include "setup/wanted.h"

namespace turnpike {
namespace {

// What an action throws.
template <typename Do> std::string said(Do action)
{
	try {
		action();
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

// -- estimates

TEST(Estimate, t__is_that_of_tables)
{
	EXPECT_DOUBLE_EQ(student_t(1), 12.706);
	EXPECT_DOUBLE_EQ(student_t(4), 2.776);
	EXPECT_DOUBLE_EQ(student_t(30), 2.042);
	// Never narrower than it has to be.
	EXPECT_DOUBLE_EQ(student_t(1000), 2.042);
	EXPECT_THROW(student_t(0), Error);
}

TEST(Estimate, mean__of_factors)
{
	Estimate mean = geometric_mean({1, 100});

	EXPECT_NEAR(mean.value, 10, 1e-9);
	// Logarithms 0 and ln 100: their standard error is half of the distance.
	EXPECT_NEAR(std::log(mean.high / mean.value), 12.706 * std::log(100) / 2, 1e-9);
	EXPECT_NEAR(mean.high / mean.value, mean.value / mean.low, mean.high / mean.value * 1e-9);
}

TEST(Estimate, mean__of_equals_is_certain)
{
	Estimate mean = geometric_mean({7, 7, 7});

	EXPECT_NEAR(mean.low, 7, 1e-9);
	EXPECT_NEAR(mean.high, 7, 1e-9);
}

TEST(Estimate, ratio__of_pairs_does_not_see_what_changes_in_both)
{
	Estimate ratio = paired_ratio({1, 10, 100}, {2, 20, 200});

	EXPECT_NEAR(ratio.value, 0.5, 1e-9);
	EXPECT_NEAR(ratio.low, 0.5, 1e-9);
	EXPECT_NEAR(ratio.high, 0.5, 1e-9);
}

TEST(Estimate, what_is_none__is_refused)
{
	EXPECT_THROW(geometric_mean({}), Error);
	EXPECT_THROW(geometric_mean({1}), Error);
	EXPECT_THROW(geometric_mean({1, 0}), Error);
	EXPECT_THROW(geometric_mean({1, NAN}), Error);
	EXPECT_THROW(paired_ratio({1, 2}, {1, 2, 3}), Error);
}

// -- the verdict

constexpr double kUs = 1e3;

// Of a hundred requests that take so long, the shortest 20 us.
Turn turn(bool with_profile, double p99_us, double gbps)
{
	Turn made;

	made.with_profile = with_profile;
	made.congestion = with_profile ? "timely" : "cubic";
	made.qdisc = "fq";
	made.tlt = with_profile;
	made.seconds = 2;
	made.acked_bytes = static_cast<std::uint64_t>(gbps * 1e9 / 8 * made.seconds);
	made.request_ns.assign(200, p99_us * kUs);
	made.request_ns[0] = 20 * kUs;
	return made;
}

// Four pairs, of which the second setting differs a little each time.
std::vector<Turn> turns(double before_us, double after_us, double before_gbps, double after_gbps, double spread = 0.01)
{
	std::vector<Turn> all;

	for (int i : {-1, 1, -1, 1}) {
		all.push_back(turn(false, before_us, before_gbps));
		all.push_back(turn(true, after_us * (1 + i * spread), after_gbps));
	}
	return all;
}

TEST(Verdict, gain__is_told_in_one_sentence)
{
	Verdict verdict = judge(turns(2300, 61, 10, 9.94));

	EXPECT_EQ(verdict.worth, Worth::yes);
	EXPECT_EQ(sentence(verdict), "p99 of requests 2.30 ms -> 61.0 us, throughput 99.4 % of before");
	EXPECT_NEAR(verdict.p99_ratio.value, 61 / 2300.0, 1e-5);
	EXPECT_LT(verdict.p99_ratio.low, verdict.p99_ratio.value);
	EXPECT_GT(verdict.p99_ratio.high, verdict.p99_ratio.value);
}

TEST(Verdict, p99__is_that_of_requests_and_not_their_worst)
{
	std::vector<Turn> all = turns(1000, 100, 10, 10, 0);

	for (Turn &one : all)
		one.request_ns[1] = one.request_ns[2] = 1e9;
	EXPECT_NEAR(judge(all).with_profile.p99_ns.value, 100 * kUs, 1e-3);
	for (Turn &one : all)
		one.request_ns[3] = 1e9;
	EXPECT_NEAR(judge(all).with_profile.p99_ns.value, 1e9, 1);
}

TEST(Verdict, throughput__that_is_lost_is_not_worth_it)
{
	Verdict verdict = judge(turns(2300, 61, 10, 8));

	EXPECT_EQ(verdict.worth, Worth::no);
	EXPECT_TRUE(has(sentence(verdict), "not worth it here, because throughput falls to 80.0 % of before ("))
		<< sentence(verdict);
}

TEST(Verdict, throughput__that_may_be_lost_is_unclear)
{
	std::vector<Turn> all = turns(2300, 61, 10, 10);

	all[1].acked_bytes = all[1].acked_bytes / 2;
	EXPECT_EQ(judge(all).worth, Worth::unclear);
	EXPECT_TRUE(has(sentence(judge(all)), "unclear, because throughput is ")) << sentence(judge(all));
}

TEST(Verdict, tail__that_gets_longer_is_not_worth_it)
{
	Verdict verdict = judge(turns(100, 200, 10, 10));

	EXPECT_EQ(verdict.worth, Worth::no);
	EXPECT_TRUE(has(verdict.why, "gets longer")) << verdict.why;
}

TEST(Verdict, path_without_a_queue__says_so)
{
	Verdict verdict = judge(turns(25, 25, 10, 10));

	EXPECT_EQ(verdict.worth, Worth::no);
	EXPECT_TRUE(has(verdict.why, "no queue to take away: the shortest request took 20.0 us")) << verdict.why;
}

TEST(Verdict, difference__within_noise_is_unclear)
{
	Verdict verdict = judge(turns(1000, 900, 10, 10, 0.5));

	EXPECT_EQ(verdict.worth, Worth::unclear);
	EXPECT_TRUE(has(verdict.why, "no difference is certain")) << verdict.why;
}

TEST(Verdict, gain__that_nobody_notices_is_not_worth_it)
{
	Verdict verdict = judge(turns(1000, 970, 10, 10, 0.001));

	EXPECT_EQ(verdict.worth, Worth::no);
	EXPECT_TRUE(has(verdict.why, "nobody notices")) << verdict.why;
}

TEST(Verdict, too_little__is_refused)
{
	std::vector<Turn> all = turns(1000, 100, 10, 10);

	all[3].request_ns.resize(49);
	EXPECT_TRUE(has(said([&] { judge(all); }), "only 49 requests in a turn"));
	all = turns(1000, 100, 10, 10);
	all[2].acked_bytes = 0;
	EXPECT_TRUE(has(said([&] { judge(all); }), "carried nothing"));
}

TEST(Verdict, report__has_both_settings_and_intervals)
{
	Verdict verdict = judge(turns(2300, 61, 10, 9.94));
	std::string text = report_table(verdict, "timely") + report_sentences(verdict, "timely");

	for (const char *part : {"as it is", "with timely", "2.30 ms", "10.0 Gbit/s", "9.94 Gbit/s", "95 %", "p99 of requests 2.30 ms"})
		EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
}

TEST(Verdict, report__table_fits_a_terminal)
{
	for (const std::string &profile : profile_names()) {
		std::istringstream lines(report_table(judge(turns(2345, 1234, 9.41, 9.38)), profile));
		std::string line;

		while (std::getline(lines, line))
			EXPECT_LE(line.size(), 80u) << line;
	}
}

TEST(Verdict, json__has_each_turn_and_what_it_had)
{
	std::vector<Turn> all = turns(2300, 61, 10, 9.94);
	nlohmann::ordered_json json = report_json(judge(all), all);

	ASSERT_EQ(json["turns"].size(), 8u);
	EXPECT_EQ(json["turns"][0]["setting"], "as_is");
	EXPECT_EQ(json["turns"][1]["setting"], "with_profile");
	EXPECT_EQ(json["turns"][1]["congestion"], "timely");
	EXPECT_EQ(json["turns"][0]["tlt"], false);
	EXPECT_EQ(json["turns"][1]["tlt"], true);
	EXPECT_EQ(json["turns"][1]["requests"], 200);
	EXPECT_NEAR(json["turns"][0]["throughput_bps"].get<double>(), 10e9, 10);
	EXPECT_EQ(json["worth_it"], "yes");
	EXPECT_NEAR(json["as_is"]["p99_ns"]["value"].get<double>(), 2.3e6, 1);
}

// -- the protocol

const char kToken[] = "0123456789abcdef";

std::string answered(const std::string &line, const std::string &session = "", bool same_host = true)
{
	auto answer = answer_to(line, session, same_host, "ffff");

	return answer ? greeting_text(*answer) : "";
}

TEST(Protocol, greeting__says_the_same_when_read_again)
{
	for (const Greeting &greeting : {Greeting{1, "open", ""}, Greeting{1, "bulk", kToken}, Greeting{1, "token", kToken}}) {
		std::string text = greeting_text(greeting);
		ASSERT_EQ(text.back(), '\n');
		auto again = parse_greeting(text.substr(0, text.size() - 1));
		ASSERT_TRUE(again);
		EXPECT_EQ(again->word, greeting.word);
		EXPECT_EQ(again->token, greeting.token);
	}
}

TEST(Protocol, greeting__that_is_none)
{
	for (const char *line : {"", "GET / HTTP/1.1", "SSH-2.0-OpenSSH_9.2", "turnpike-check", "turnpike-check 1",
				 "turnpike-check one open", "turnpike-check 1x open", "turnpike-check 1 bulk",
				 "turnpike-check 1 bulk XYZ", "turnpike-check 1 open more", "turnpike-check 1 bulk 12 34",
				 "turnpike-check -1 open", "turnpike-check 99999999999 open"})
		EXPECT_FALSE(parse_greeting(line)) << line;
	EXPECT_FALSE(parse_greeting("turnpike-check 1 bulk " + std::string(200, 'a')));
}

TEST(Protocol, server__has_one_client)
{
	EXPECT_EQ(answered("turnpike-check 1 open"), "turnpike-check 1 token ffff\n");
	EXPECT_EQ(answered("turnpike-check 1 open", kToken), "turnpike-check 1 busy\n");
	EXPECT_EQ(answered("turnpike-check 1 bulk 0123456789abcdef", kToken), "turnpike-check 1 joined\n");
	EXPECT_EQ(answered("turnpike-check 1 request 0123456789abcdef", kToken), "turnpike-check 1 joined\n");
}

TEST(Protocol, server__says_nothing_to_who_does_not_know_it)
{
	EXPECT_EQ(answered("GET / HTTP/1.1"), "");
	EXPECT_EQ(answered(""), "");
	EXPECT_EQ(answered("turnpike-check 1 bulk ffff", kToken), "");
	EXPECT_EQ(answered("turnpike-check 1 bulk ffff"), "");
	EXPECT_EQ(answered("turnpike-check 1 token ffff", "ffff"), "");
	// A token that was overheard is of no use to another host.
	EXPECT_EQ(answered("turnpike-check 1 bulk 0123456789abcdef", kToken, false), "");
}

TEST(Protocol, server__tells_another_version_its_own)
{
	EXPECT_EQ(answered("turnpike-check 2 open"), "turnpike-check 1 refused\n");
	EXPECT_EQ(answered("turnpike-check 2 something new"), "turnpike-check 1 refused\n");
}

std::string told(const std::string &line)
{
	return said([&] { understood(line, "db17 port 61005", "10.1.0.1"); });
}

TEST(Protocol, client__says_what_is_wrong_with_the_peer)
{
	EXPECT_EQ(understood("turnpike-check 1 token ffff", "db17", "10.1.0.1"), "ffff");
	EXPECT_EQ(told("turnpike-check 1 joined"), "");
	EXPECT_TRUE(has(told(""), "'turnpike check --serve --allow 10.1.0.1'"));
	EXPECT_TRUE(has(told("SSH-2.0-OpenSSH_9.2\r"), "something else listens at db17 port 61005, it says 'SSH-2.0-OpenSSH_9.2\\x0d'"))
		<< told("SSH-2.0-OpenSSH_9.2\r");
	EXPECT_TRUE(has(told("turnpike-check 2 whatever"), "version 2"));
	EXPECT_TRUE(has(told("turnpike-check 1 busy"), "another host"));
	EXPECT_TRUE(has(told("turnpike-check 1 open"), "refused"));
}

// -- addresses

TEST(Address, prefix__is_of_that_host_alone)
{
	EXPECT_EQ(host_prefix(address_of("10.1.0.2", 1)), "10.1.0.2/32");
	EXPECT_EQ(host_prefix(address_of("fd01::2", 1)), "fd01::2/128");
	// A socket of both families has it so.
	EXPECT_EQ(host_prefix(address_of("::ffff:10.1.0.2", 1)), "10.1.0.2/32");
}

TEST(Address, device__of_what_ip_says)
{
	EXPECT_EQ(device_of_route(R"([{"dst":"10.1.0.2","dev":"eth0","prefsrc":"10.1.0.1","flags":[]}])", "x"), "eth0");
	EXPECT_TRUE(has(said([] { device_of_route(R"([{"type":"local","dst":"127.0.0.1","dev":"lo"}])", "db17"); }),
			"db17 is this host itself"));
	for (const char *none : {"", "[]", "{}", R"([{"type":"blackhole","dst":"10.1.0.2"}])"})
		EXPECT_TRUE(has(said([&] { device_of_route(none, "db17"); }), "no route leads to db17")) << none;
	EXPECT_TRUE(has(said([] { device_to(address_of("fe80::1", 1)); }), "link alone"));
}

}  // namespace
}  // namespace turnpike
