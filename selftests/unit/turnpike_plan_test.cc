// SPDX-License-Identifier: GPL-2.0
//
// What turnpike up would do to a host, and what takes it back: no host is touched.
#include <cstdio>
#include <cstring>
#include <fstream>

#include <linux/netlink.h>
#include <linux/pkt_sched.h>

#include <gtest/gtest.h>

#include "command.h"
#include "include/uapi/turnpike.h"
#include "setup/config_file.h"
#include "setup/plan.h"
#include "setup/state_file.h"

namespace turnpike {
namespace {

Qdisc qdisc(const char *device, const char *kind, std::uint32_t handle, std::uint32_t parent)
{
	Qdisc made;

	made.device = device;
	made.kind = kind;
	made.handle = handle;
	made.parent = parent;
	return made;
}

Host host()
{
	Host host;

	host.devices = {"lo", "eth0", "eth1"};
	host.has_usec = true;
	host.routes = parse_routes("default via 10.1.0.254 dev eth0 proto dhcp metric 100 \n"
				   "10.1.0.0/24 dev eth0 proto kernel scope link src 10.1.0.1 metric 100 \n"
				   "10.7.0.0/16 via 10.2.0.1 dev eth1 \n"
				   "blackhole 10.8.0.0/16 \n", false);
	host.qdiscs = {qdisc("eth0", "mq", 0, TC_H_ROOT), qdisc("eth0", "fq_codel", 0, 1), qdisc("eth0", "fq_codel", 0, 2),
		       qdisc("eth1", "fq", 0x80010000, TC_H_ROOT)};
	return host;
}

Wanted wanted(const char *piece, const char *device, std::vector<std::string> prefixes = {})
{
	Wanted made;

	made.prefixes = prefixes;
	add_piece(made, piece, {device});
	return made;
}

std::vector<std::string> texts(const std::vector<Command> &commands)
{
	std::vector<std::string> lines;

	for (const Command &command : commands)
		lines.push_back(command_text(command));
	return lines;
}

std::vector<std::string> commands_of(const Plan &plan)
{
	std::vector<std::string> lines;

	for (const Step &step : plan.steps)
		for (const std::string &line : texts(step.commands))
			lines.push_back(line + (step.holds ? " (holds)" : ""));
	return lines;
}

using Lines = std::vector<std::string>;

void append_to(std::vector<Qdisc> &list, const std::vector<Qdisc> &more)
{
	list.insert(list.end(), more.begin(), more.end());
}

TEST(Plan, routes__of_the_device_alone_and_one_for_the_rest)
{
	EXPECT_EQ(commands_of(plan(wanted("timely", "eth0", {"10.0.0.0/8"}), host())),
		  (Lines{"modprobe tcp_timely",
			 "ip route change 10.1.0.0/24 dev eth0 proto kernel scope link src 10.1.0.1 metric 100 congctl timely",
			 "ip route add 10.0.0.0/8 proto static via 10.1.0.254 dev eth0 congctl timely"}));
	EXPECT_EQ(commands_of(plan(wanted("timely_patched", "eth1", {"10.7.0.0/16"}), host())).back(),
		  "ip route change 10.7.0.0/16 via 10.2.0.1 dev eth1 congctl timely_patched");
	EXPECT_EQ(commands_of(plan(wanted("timely_pi", "eth1", {"10.7.0.0/16"}), host())).back(),
		  "ip route change 10.7.0.0/16 via 10.2.0.1 dev eth1 congctl timely_pi");
	EXPECT_THROW(plan(wanted("timely", "eth1", {"172.16.0.0/12"}), host()), Error);
	// IPv6's default is no way to a network of IPv4.
	Host other = host();
	other.routes = parse_routes("default via fe80::1 dev eth0 metric 1 pref medium\n", true);
	EXPECT_THROW(plan(wanted("timely", "eth0", {"10.0.0.0/8"}), other), Error);
}

TEST(Plan, containers__that_the_setup_leaves_out_are_told)
{
	Host other = host();

	other.veths = {"veth12"};
	EXPECT_EQ(plan(wanted("onramp", "eth0"), other).remarks,
		  Lines{"veth12 leads to a container, whose connections this does not touch or hold: call it in each, as in "
			"'nsenter -t PID -n turnpike up DEV', with the other words as here"});
	// diff is called again and again, and what is as wanted is no difference.
	EXPECT_TRUE(compare(wanted("onramp", "eth0"), other).remarks.empty());
	// What is set up itself, as within a container, and what leads to a gateway, is no container's.
	other.veths = {"eth0", "eth1"};
	EXPECT_TRUE(plan(wanted("onramp", "eth0"), other).remarks.empty());
	other.veths = {"a", "b", "c", "d", "e"};
	EXPECT_EQ(plan(wanted("timely", "eth0", {"10.0.0.0/8"}), other).remarks.front().rfind("a, b, c and 2 more lead to containers", 0), 0u);
}

TEST(Plan, routes__that_a_router_told_of_stay)
{
	Host other = host();

	other.routes = parse_routes("fd01::/64 dev eth0 proto ra metric 100 expires 1795sec pref high\n", true);
	Plan found = plan(wanted("timely", "eth0", {"fd00::/8"}), other);
	EXPECT_EQ(commands_of(found), Lines{"modprobe tcp_timely"});
	EXPECT_EQ(found.remarks.size(), 1u);
}

TEST(Plan, routes__keep_microsecond_timestamps)
{
	Host other = host();

	other.routes = parse_routes("10.1.0.0/24 dev eth0 scope link features 0x10 congctl reno linkdown \n", false);
	Plan found = plan(wanted("timely", "eth0", {"10.1.0.0/24"}), other);
	EXPECT_EQ(commands_of(found), (Lines{"modprobe tcp_timely",
					     "ip route change 10.1.0.0/24 dev eth0 scope link congctl timely",
					     "turnpike usec-ts on 10.1.0.0/24 --dev eth0"}));
	other.routes = parse_routes("10.1.0.0/24 dev eth0 scope link features 0x10 congctl timely \n", false);
	EXPECT_TRUE(plan(wanted("timely", "eth0", {"10.1.0.0/24"}), other).steps.back().holds);
	EXPECT_EQ(texts(undo(found.steps.back().change, other)),
		  (Lines{"ip route change 10.1.0.0/24 dev eth0 scope link congctl reno",
			 "turnpike usec-ts on 10.1.0.0/24 --dev eth0"}));
}

// With one route of eth0; what is done besides loading the module.
Lines with_route(const char *line, const char *prefix, bool v6 = false)
{
	Host other = host();

	other.routes = parse_routes(line, v6);
	Plan found = plan(wanted("timely", "eth0", {prefix}), other);
	Lines lines = commands_of(found);
	lines.erase(lines.begin());
	// Either it is done, or said why not.
	EXPECT_EQ(lines.empty(), !found.remarks.empty()) << line;
	return lines;
}

TEST(Plan, routes__that_words_do_not_make_again_stay)
{
	for (const char *line : {"10.1.0.0/16 dev eth0 mtu lock 1400", "10.1.0.0/16 dev eth0 rto_min lock 40ms",
				 "10.1.0.0/16 nhid 7 via 10.1.0.3 dev eth0", "10.1.0.0/16 via 10.1.0.3 dev eth0 onlink",
				 "10.1.0.0/16 dev eth0 congctl lock cubic", "10.1.0.0/16 tos 0x10 dev eth0",
				 "10.1.0.0/16 dev eth0 proto ra", "10.1.0.0/16 dev eth0 features ecn",
				 "10.1.0.0/16 proto bgp \\ \tnexthop via 10.9.0.1 dev eth0 weight 1 \\ "
				 "\tnexthop via 10.9.0.2 dev eth0 weight 1",
				 "default encap ip id 5 dst 10.1.0.9 dev eth0"})
		EXPECT_EQ(with_route(line, "10.1.0.0/16"), Lines()) << line;
	EXPECT_EQ(with_route("fd01::/64 dev eth0 metric 256 pref high", "fd00::/8", true), Lines());
}

TEST(Plan, routes__of_several_to_one_place_stay)
{
	EXPECT_EQ(with_route("10.9.0.0/16 via 10.1.0.2 dev eth0 \n10.9.0.0/16 via 10.1.0.3 dev eth0 ", "10.9.0.0/16"), Lines());
	EXPECT_EQ(with_route("10.9.0.0/16 via 10.1.0.2 dev eth0 metric 1\n10.9.0.0/16 via 10.1.0.3 dev eth0 metric 2",
			     "10.9.0.0/16").size(), 2u);
}

TEST(Plan, routes__what_is_closed_is_not_opened)
{
	EXPECT_EQ(with_route("default via 10.1.0.2 dev eth0\nblackhole 172.16.0.0/12", "172.16.5.0/24"), Lines());
	Host other = host();
	other.routes = parse_routes("default via 10.1.0.2 dev eth0\nunreachable 172.16.0.0/12 metric 500", false);
	EXPECT_THROW(plan(wanted("timely", "eth0", {"172.16.0.0/12"}), other), Error);
}

TEST(Plan, routes__of_overlapping_prefixes_are_set_once)
{
	Lines lines = commands_of(plan(wanted("timely", "eth0", {"10.1.0.0/24", "10.0.0.0/8", "10.0.0.0/8"}), host()));

	EXPECT_EQ(lines.size(), 3u);
	EXPECT_EQ(lines[1].substr(0, 28), "ip route change 10.1.0.0/24 ");
}

TEST(Plan, routes__of_ipv6)
{
	const char *lines = "fe80::/64 dev eth0 proto kernel metric 256 pref medium\ndefault via fd01::2 dev eth0 metric 9 pref medium";

	EXPECT_EQ(with_route(lines, "fd00::/8", true),
		  Lines{"ip -6 route add fd00::/8 proto static via fd01::2 dev eth0 metric 1024 congctl timely"});
	EXPECT_THROW(with_route("fe80::/64 dev eth0 proto kernel metric 256 pref medium", "fe80::/10", true), Error);
}

// The route that an up made or changed, and what down would do when it is like that.
Lines undone(const Change &change, const char *line)
{
	Host then = host();

	then.routes = parse_routes(line, false);
	return texts(undo(change, then));
}

TEST(Plan, undo__leaves_what_is_anothers_by_now)
{
	Plan found = plan(wanted("timely", "eth0", {"10.0.0.0/8"}), host());
	const Change &changed = found.steps.at(1).change, &made = found.steps.at(2).change;

	EXPECT_EQ(undone(changed, "10.1.0.0/24 dev eth0 src 10.1.0.7 metric 100 congctl timely"),
		  Lines{"ip route change 10.1.0.0/24 dev eth0 src 10.1.0.7 metric 100"});
	EXPECT_EQ(undone(changed, "10.1.0.0/24 dev eth0 src 10.1.0.7 metric 100 congctl bbr"), Lines());
	EXPECT_EQ(undone(changed, "10.1.0.0/24 dev eth0 src 10.1.0.7 metric 100"), Lines());
	EXPECT_EQ(undone(changed, ""), Lines());
	EXPECT_EQ(undone(made, "10.0.0.0/8 via 10.1.0.254 dev eth0 proto static congctl timely"),
		  Lines{"ip route del 10.0.0.0/8 via 10.1.0.254 dev eth0 proto static"});
	EXPECT_EQ(undone(made, "10.0.0.0/8 via 10.1.0.77 dev eth0 proto static congctl timely"), Lines());
	EXPECT_EQ(undone(made, "10.0.0.0/8 via 10.1.0.254 dev eth0 proto static"), Lines());
}

// Of a host's address ip prints no /32 and no /128.
TEST(Plan, undo__of_a_route_to_one_host)
{
	struct {
		const char *wide, *host, *then, *undo;
		bool v6;
	} cases[] = {
		{"10.1.0.0/24 dev eth0 scope link", "10.1.0.2/32",
		 "10.1.0.2 dev eth0 proto static scope link congctl timely", "ip route del 10.1.0.2/32 dev eth0", false},
		{"fd01::/64 dev eth0 metric 256 pref medium", "fd01::2/128",
		 "fd01::2 dev eth0 proto static metric 1024 congctl timely pref medium",
		 "ip -6 route del fd01::2/128 dev eth0", true},
	};

	for (const auto &one : cases) {
		Host now = host(), then = host();
		now.routes = parse_routes(one.wide, one.v6);
		then.routes = parse_routes(std::string(one.wide) + "\n" + one.then, one.v6);
		Plan made = plan(wanted("timely", "eth0", {one.host}), now);
		Plan again = plan(wanted("timely", "eth0", {one.host}), then);
		EXPECT_TRUE(again.steps.back().holds) << one.host;
		EXPECT_EQ(again.steps.back().change.key(), made.steps.back().change.key());
		Lines back = texts(undo(made.steps.back().change, then));
		ASSERT_EQ(back.size(), 1u) << one.host;
		EXPECT_EQ(back[0].substr(0, std::strlen(one.undo)), one.undo);
	}
}

TEST(Routes, destination__of_all_has_one_name)
{
	EXPECT_EQ(parse_routes("0.0.0.0/0 via 10.1.0.2 dev eth0", false).at(0).destination(), "default");
	EXPECT_EQ(parse_routes("default via 10.1.0.2 dev eth0", false).at(0).destination(), "default");
	EXPECT_EQ(parse_routes("::/0 via fd01::2 dev eth0", true).at(0).destination(), "default");
}

TEST(Plan, qdisc__each_queue_of_the_kernels_own_mq)
{
	Plan found = plan(wanted("onramp", "eth0"), host());

	EXPECT_EQ(commands_of(found), (Lines{"modprobe sch_onramp", "tc qdisc replace dev eth0 root handle 1: mq",
					     "tc qdisc replace dev eth0 parent 1:1 onramp",
					     "tc qdisc replace dev eth0 parent 1:2 onramp"}));
	Host then = host();
	then.qdiscs = {qdisc("eth0", "mq", 0x10000, TC_H_ROOT), qdisc("eth0", "onramp", 0x80020000, 0x10001),
		       qdisc("eth0", "onramp", 0x80030000, 0x10002)};
	Step again = plan(wanted("onramp", "eth0"), then).steps.back();
	EXPECT_TRUE(again.holds);
	EXPECT_EQ(again.change.key(), found.steps.back().change.key());
	EXPECT_EQ(texts(undo(found.steps.back().change, then)), Lines{"tc qdisc del dev eth0 root"});
}

void append_option(std::string &options, std::uint16_t type, const void *value, std::size_t bytes)
{
	nlattr attribute = {static_cast<std::uint16_t>(sizeof(nlattr) + bytes), type};

	options.append(reinterpret_cast<const char *>(&attribute), sizeof(attribute));
	options.append(static_cast<const char *>(value), bytes);
	options.resize(NLA_ALIGN(options.size()));
}

Qdisc onramp_of(const char *device, std::uint32_t threshold_ns, std::uint64_t line_rate_bps, std::uint32_t parent)
{
	Qdisc made = qdisc(device, "onramp", 0x80020000, parent);
	std::uint64_t bytes = line_rate_bps / 8;
	std::uint8_t mode = 1;

	append_option(made.options, TCA_ONRAMP_MODE, &mode, sizeof(mode));
	append_option(made.options, TCA_ONRAMP_THRESHOLD, &threshold_ns, sizeof(threshold_ns));
	append_option(made.options, TCA_ONRAMP_LINE_RATE, &bytes, sizeof(bytes));
	return made;
}

TEST(Plan, onramp_options__are_those_of_the_qdisc)
{
	Qdisc onramp = onramp_of("eth1", 50000, 25000000000, TC_H_ROOT);

	EXPECT_EQ(onramp_options(onramp).threshold_ns, 50000u);
	EXPECT_EQ(onramp_options(onramp).line_rate_bps, 25000000000u);
	for (std::size_t bytes = 0; bytes < onramp.options.size(); bytes++) {
		Qdisc cut = onramp;
		cut.options.resize(bytes);
		EXPECT_EQ(onramp_options(cut).line_rate_bps, 0u) << bytes;
	}
	onramp.options.replace(0, 2, std::string(2, 0));
	EXPECT_EQ(onramp_options(onramp).threshold_ns, 0u);
}

TEST(Plan, qdisc__has_the_options_that_are_wanted)
{
	Wanted asked = wanted("onramp", "eth1");
	Host then = host();

	asked.devices[0].threshold = "100us";
	asked.devices[0].line_rate = "25gbit";
	EXPECT_EQ(commands_of(plan(asked, then)).back(),
		  "tc qdisc replace dev eth1 root onramp threshold 100us line_rate 25gbit");
	then.qdiscs = {onramp_of("eth1", 100000, 25000000000, TC_H_ROOT)};
	EXPECT_TRUE(plan(asked, then).steps.back().holds);
	then.qdiscs = {onramp_of("eth1", 50000, 0, TC_H_ROOT)};
	Step step = plan(asked, then).steps.back();
	EXPECT_FALSE(step.holds);
	EXPECT_EQ(step.wanted, "onramp threshold 100us line_rate 25gbit");
	EXPECT_EQ(step.now, "onramp threshold 50us line_rate auto");
	EXPECT_EQ(texts(undo(step.change, then)),
		  Lines{"tc qdisc replace dev eth1 root handle 8002: onramp  # with the options that it had"});
	// Nothing is wanted of them.
	EXPECT_TRUE(plan(wanted("onramp", "eth1"), then).steps.back().holds);
}

TEST(Plan, qdisc__of_each_queue_has_the_options_that_are_wanted)
{
	Wanted asked = wanted("onramp", "eth0");
	Host then = host();

	asked.devices[0].threshold = "100us";
	then.qdiscs = {qdisc("eth0", "mq", 0x10000, TC_H_ROOT), onramp_of("eth0", 100000, 0, 0x10001),
		       onramp_of("eth0", 50000, 0, 0x10002)};
	Step step = plan(asked, then).steps.back();
	EXPECT_EQ(step.wanted, "mq with onramp threshold 100us");
	EXPECT_EQ(step.now, "mq with onramp threshold 50us");
	EXPECT_EQ(texts(step.commands), Lines{"tc qdisc replace dev eth0 parent 1:2 onramp threshold 100us"});
	then.qdiscs[2] = onramp_of("eth0", 100000, 0, 0x10002);
	EXPECT_TRUE(plan(asked, then).steps.back().holds);
}

// On a device of two queues that up gave onramps; what down does when they are like that.
Lines mq_undone(const std::vector<Qdisc> &then, const std::vector<Qdisc> &replaced_since = {})
{
	Change change = plan(wanted("onramp", "eth0"), host()).steps.back().change;
	Host now = host();

	append_to(change.qdiscs, replaced_since);
	now.qdiscs = {qdisc("eth0", "mq", 0x10000, TC_H_ROOT)};
	append_to(now.qdiscs, then);
	return texts(undo(change, now));
}

TEST(Plan, qdisc__queues_that_came_later_go_with_mq)
{
	Lines kernels = {"tc qdisc del dev eth0 root"};
	Qdisc first = qdisc("eth0", "onramp", 0x80020000, 0x10001), later = qdisc("eth0", "onramp", 0x80030000, 0x10003);

	EXPECT_EQ(mq_undone({first, later}, {qdisc("eth0", "fq_codel", 0, 0x10003)}), kernels);
	EXPECT_EQ(mq_undone({first, qdisc("eth0", "fq_codel", 0, 0x10003)}), kernels);
	// An up that failed between mq and its onramps.
	EXPECT_EQ(mq_undone({qdisc("eth0", "fq_codel", 0, 0x10001), qdisc("eth0", "fq_codel", 0, 0x10002)}), kernels);
}

TEST(Plan, qdisc__of_somebody_below_mq_stays)
{
	Qdisc first = qdisc("eth0", "onramp", 0x80020000, 0x10001), theirs = qdisc("eth0", "fq", 0x80040000, 0x10002);
	const char *kernels = "tc qdisc replace dev eth0 parent 1:1 fq_codel  # with the options that it had";

	EXPECT_EQ(mq_undone({first, theirs}), Lines{kernels});
	EXPECT_EQ(mq_undone({qdisc("eth0", "fq", 0x80050000, 0x10001), theirs}), Lines());
	// Theirs before up was called again.
	EXPECT_EQ(mq_undone({first, qdisc("eth0", "onramp", 0x80030000, 0x10002)}, {theirs}),
		  (Lines{kernels, "tc qdisc replace dev eth0 parent 1:2 handle 8004: fq  # with the options that it had"}));
}

TEST(Plan, qdisc__that_an_administrator_put_there_comes_back)
{
	Change change = plan(wanted("onramp", "eth1"), host()).steps.back().change;
	Host then = host();

	then.qdiscs = {qdisc("eth1", "onramp", 0x80020000, TC_H_ROOT)};
	EXPECT_EQ(texts(undo(change, then)),
		  Lines{"tc qdisc replace dev eth1 root handle 8001: fq  # with the options that it had"});
	then.qdiscs = {qdisc("eth1", "sfq", 0x80020000, TC_H_ROOT)};
	EXPECT_EQ(texts(undo(change, then)), Lines());
}

TEST(Plan, qdisc__with_classes_is_refused)
{
	Host other = host();

	other.qdiscs = {qdisc("eth0", "htb", 0x10000, TC_H_ROOT)};
	EXPECT_THROW(plan(wanted("onramp", "eth0"), other), Error);
	other.qdiscs = {qdisc("eth0", "mq", 0x10000, TC_H_ROOT), qdisc("eth0", "etf", 0x20000, 0x10001)};
	EXPECT_THROW(plan(wanted("onramp", "eth0"), other), Error);
}

// Why onramp is not put on a device; empty: it is.
std::string refusal(const Host &host, const char *device)
{
	try {
		plan(wanted("onramp", device), host);
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

TEST(Plan, qdisc__with_filters_is_refused)
{
	Host other = host();

	other.filters[{"eth1", TC_H_ROOT}] = {"pref 10 u32", "pref 20 flower"};
	EXPECT_EQ(refusal(other, "eth1"), "eth1 has fq (8001:) with filters (pref 10 u32, pref 20 flower), which would go with it "
					  "and not come back: remove them first");
	EXPECT_EQ(refusal(other, "eth0"), "");
	other.qdiscs[1].handle = 0x80020000;
	other.filters[{"eth0", 1}] = {"pref 1 bpf"};
	EXPECT_NE(refusal(other, "eth0").find("eth0 has fq_codel (8002:) with filters (pref 1 bpf)"), std::string::npos);
	// Where onramp is already, nothing is lost.
	other.qdiscs[3].kind = "onramp";
	EXPECT_EQ(refusal(other, "eth1"), "");
}

TEST(Plan, qdisc__with_a_size_table_is_refused)
{
	Host other = host();

	other.qdiscs[3].stab = true;
	EXPECT_NE(refusal(other, "eth1").find("eth1 has fq (8001:) with a size table (stab)"), std::string::npos);
}

TEST(Plan, tlt__that_is_on_with_other_rules_is_refused)
{
	Wanted tlt = wanted("tlt", "eth0");
	Host other = host();

	tlt.tlt_rules = {"port=5000"};
	EXPECT_EQ(commands_of(plan(tlt, other)).back(), "turnpike tlt set --rule port=5000");
	tlt.tlt_rules = {};
	EXPECT_EQ(commands_of(plan(tlt, other)).back(), "turnpike tlt set --all");
	tlt.tlt_rules = {"port=5000"};
	other.tlt_on = true;
	EXPECT_THROW(plan(tlt, other), Error);
	other.tlt_rules = {"port=5000"};
	EXPECT_TRUE(plan(tlt, other).steps.back().holds);
}

TEST(Plan, tlt__rules_in_other_words_are_the_same)
{
	Wanted tlt = wanted("tlt", "eth0");
	Host other = host();

	other.tlt_on = true;
	other.tlt_rules = {"peer=10.0.0.1/32,port=5000"};
	tlt.tlt_rules = {"port=5000-5000,peer=10.0.0.1"};
	EXPECT_TRUE(plan(tlt, other).steps.back().holds);
	for (const char *rule : {"port=5000,peer=10.0.0.2", "port=5000", "port=5001,peer=10.0.0.1"}) {
		tlt.tlt_rules = {rule};
		EXPECT_THROW(plan(tlt, other), Error) << rule;
	}
	tlt.tlt_rules = {"port=5000,peer=10.0.0.1", "uid=7"};
	EXPECT_THROW(plan(tlt, other), Error);
}

TEST(Plan, metrics__start_the_unit_of_each_way)
{
	Wanted metrics;
	Host other = host();

	metrics.metrics.textfile = "/var/lib/prometheus/node-exporter/turnpike.prom";
	EXPECT_EQ(commands_of(plan(metrics, other)), Lines{"systemctl start turnpike-metrics.timer"});
	metrics.metrics.listen = "127.0.0.1:9733";
	other.units = {"turnpike-metrics.timer"};
	Plan found = plan(metrics, other);
	EXPECT_EQ(commands_of(found), (Lines{"systemctl start turnpike-metrics.timer (holds)",
					     "systemctl start turnpike-metrics-listen.service"}));
	EXPECT_EQ(texts(undo(found.steps.back().change, other)), Lines());
	other.units.insert("turnpike-metrics-listen.service");
	EXPECT_EQ(texts(undo(found.steps.back().change, other)), Lines{"systemctl stop turnpike-metrics-listen.service"});
}

TEST(Plan, undo__leaves_keys_that_came_by_hand)
{
	Host then = host();

	then.keys = {1, 7};
	EXPECT_EQ(texts(undo({.kind = Kind::key, .name = "/key", .keys = {1, 2}}, then)), Lines{"turnpike onramp key del 1"});
}

TEST(DiffCommand, failure__is_told_from_a_difference)
{
	// That is no configuration.
	Ended ended = run({TURNPIKE_COMMAND, "diff", "--config", "/proc/version"});
	EXPECT_EQ(ended.status, 2) << ended.output << ended.errors;
}

TEST(Plan, device__that_there_is_not_is_refused)
{
	EXPECT_THROW(plan(wanted("onramp", "eth9"), host()), Error);
	EXPECT_THROW(plan(Wanted(), host()), Error);
}

TEST(Plan, device__that_there_is_not_is_told_beside_the_rest)
{
	Wanted two = wanted("onramp", "eth9");

	add_piece(two, "onramp", {"eth0"});
	EXPECT_THROW(plan(two, host()), Error);
	std::string text;
	for (const Step &step : compare(two, host()).steps)
		text += step.change.key() + ": " + step.now + (step.holds ? " (holds)\n" : "\n");
	EXPECT_EQ(text, "module sch_onramp: not loaded\ndevice eth9: there is no device eth9\nqdisc of eth0: mq with fq_codel\n");
	EXPECT_TRUE(undo({.kind = Kind::device, .name = "eth9"}, host()).empty());
	EXPECT_THROW(compare(Wanted(), host()), Error);
}

TEST(Plan, usec__needs_a_kernel_that_has_it)
{
	Wanted onramp = wanted("onramp", "eth0", {"10.1.0.0/24"});
	Host old = host();

	onramp.devices[0].usec = true;
	EXPECT_EQ(commands_of(plan(onramp, old)).back(),
		  "turnpike usec-ts on 10.1.0.0/24 --dev eth0 --metric 100");
	old.has_usec = false;
	EXPECT_EQ(plan(onramp, old).remarks.size(), 1u);
	EXPECT_EQ(plan(onramp, old).steps.size(), 2u);
}

TEST(Prefixes, inside__by_bits_and_family)
{
	auto inside = [](const char *inner, const char *outer) {
		return is_inside(onramp_prefix(inner), onramp_prefix(outer));
	};

	EXPECT_TRUE(inside("10.1.0.0/24", "10.0.0.0/8"));
	EXPECT_TRUE(inside("10.0.0.0/8", "10.0.0.0/8"));
	EXPECT_FALSE(inside("10.0.0.0/8", "10.0.0.0/9"));
	EXPECT_TRUE(inside("10.127.0.0/16", "10.0.0.0/9"));
	EXPECT_FALSE(inside("10.128.0.0/16", "10.0.0.0/9"));
	EXPECT_FALSE(inside("fd00::/8", "10.0.0.0/8"));
}

TEST(Config, text__says_the_same_when_read_again)
{
	Wanted all = wanted("timely", "eth0", {"10.0.0.0/8", "fd00::/8"});

	add_piece(all, "onramp", {"eth0", "eth1"});
	add_piece(all, "tlt", {});
	all.devices[0].usec = true;
	all.devices[0].threshold = "1us";
	all.devices[1].line_rate = "800mbit";
	all.tlt_rules = {"port=5000", "uid=7"};
	all.key = "/etc/turnpike/onramp.key";
	EXPECT_EQ(parse_config(config_text(all)), all);
	all.metrics = {"/var/lib/node_exporter/turnpike.prom", "0.0.0.0:9733", true};
	EXPECT_EQ(parse_config(config_text(all)), all);
	all.metrics = {"", "127.0.0.1:9733", false};
	EXPECT_EQ(parse_config(config_text(all)), all);
	all.tlt_rules.clear();
	EXPECT_EQ(parse_config(config_text(all)), all);
}

std::string said_of(const std::string &text)
{
	try {
		parse_config(text);
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

TEST(Config, nonsense__is_refused_with_its_line)
{
	EXPECT_EQ(said_of("[net]\nfor = 10.0.0.0/8\ncolour = red\n"), "line 3: [net] has no 'colour'; there are: congestion, for");
	EXPECT_NE(said_of("qdisc = onramp\n").find("line 1: a section"), std::string::npos);
	EXPECT_NE(said_of("[nets]\n").find("no section"), std::string::npos);
	EXPECT_NE(said_of("[net\n").find("no section"), std::string::npos);
	EXPECT_NE(said_of("[device]\n").find("one name"), std::string::npos);
	EXPECT_NE(said_of("[device eth0]\n[device eth0]\n").find("second"), std::string::npos);
	EXPECT_NE(said_of("[net]\nfor = everywhere\n").find("line 2"), std::string::npos);
	EXPECT_NE(said_of("[net]\ncongestion = timely\n").find("by route"), std::string::npos);
	EXPECT_NE(said_of("[net]\nfor = 0.0.0.0/0\n").find("everybody"), std::string::npos);
	EXPECT_NE(said_of("[net]\nfor = ::/0\n").find("everybody"), std::string::npos);
	EXPECT_NE(said_of("[net]\nfor = 10.0.0.0/8\ncongestion = timely\n[tlt]\nrule = all\n").find("which?"), std::string::npos);
	EXPECT_EQ(parse_config("[tlt]\nrule = cgroup=/a#b # those\n").tlt_rules, std::vector<std::string>{"cgroup=/a#b"});
	EXPECT_NE(said_of("[metrics]\ntextfile = turnpike.prom\n").find("line 2: 'turnpike.prom' is no path from /"),
		  std::string::npos);
	EXPECT_NE(said_of("[metrics]\ntextfile = /turnpike.txt\n").find(".prom"), std::string::npos);
	EXPECT_NE(said_of("[metrics]\nlisten = 9733\n").find("line 2: '9733' is no address"), std::string::npos);
	EXPECT_NE(said_of("[metrics]\nlisten = 0.0.0.0:9733\n").find("'anywhere = yes'"), std::string::npos);
	EXPECT_NE(said_of("[metrics]\nanywhere = maybe\n").find("none of yes, no"), std::string::npos);
	for (const char *line : {"threshold = 0", "threshold = 1001ms", "threshold = 50", "line_rate = 25", "line_rate = 1mbit",
				 "line_rate = 0gbit", "line_rate = -1gbit", "line_rate = 99999999gbit", "line_rate = 25gbps"})
		EXPECT_NE(said_of(std::string("[device eth0]\nqdisc = onramp\n") + line + "\n").find("line 3: "), std::string::npos)
			<< line;
	EXPECT_NE(said_of("[device eth0]\nthreshold = 50us\n").find("of 'qdisc = onramp'"), std::string::npos);
	EXPECT_EQ(parse_config("[device eth0]\nqdisc = onramp\nthreshold = auto\nline_rate = auto\n").devices.at(0).threshold, "");
	EXPECT_NE(said_of("[tlt]\nrule = port=0\n").find("1 to 65535"), std::string::npos);
	EXPECT_NE(said_of("[tlt]\nrule = all\nrule = uid=1\n").find("alone"), std::string::npos);
}

TEST(StateFile, text__says_the_same_when_read_again)
{
	State state;
	Host now = host();

	now.qdiscs[3].options = std::string("\x08\x00\x01\xff", 4);
	state.since_s = 1700000000;
	state.by = "ann";
	state.wanted = wanted("onramp", "eth1");
	state.changes = {plan(state.wanted, now).steps.back().change,
			 plan(wanted("timely", "eth0", {"10.0.0.0/8"}), now).steps.back().change,
			 {.kind = Kind::unit, .name = kTextfileUnit}};
	State again = parse_state(state_text(state));
	EXPECT_EQ(state_text(again), state_text(state));
	EXPECT_EQ(again.changes.at(0).qdiscs.at(0).options, now.qdiscs[3].options);
	EXPECT_TRUE(again.changes.at(1).made);
	EXPECT_EQ(again.changes.at(2).key(), "unit turnpike-metrics.timer");
	EXPECT_THROW(parse_state("{}"), Error);
	EXPECT_THROW(parse_state("[1"), Error);
	// Whole, but of a later one.
	std::string later = state_text(state);
	std::size_t version = later.find("\"version\": 1");
	ASSERT_NE(version, std::string::npos);
	EXPECT_THROW(parse_state(later.replace(version, 12, "\"version\": 2")), Error);
}

TEST(StateFile, damage__is_told_in_few_words)
{
	for (const char *text : {"", "{\"version\": 1, \"cha\n"})
		try {
			parse_state(text);
			FAIL();
		} catch (const Error &error) {
			EXPECT_TRUE(std::string(error.what()).starts_with("damaged at byte ")) << error.what();
		}
}

// eth0 and eth1 changed their names, eth2 went and came, eth3 is another one's by now.
TEST(StateFile, names__follow_the_device)
{
	State state;
	std::map<unsigned, std::string> now = {{2, "eth1"}, {3, "eth0"}, {9, "eth2"}};

	state.wanted.devices = {{"eth0"}, {"eth1"}, {"eth2"}};
	state.indexes = {{"eth0", 2}, {"eth1", 3}, {"eth2", 4}};
	state.changes = {{.kind = Kind::module, .name = "eth0"},
			 {.kind = Kind::qdisc, .name = "eth0", .qdiscs = {qdisc("eth0", "fq", 0x80010000, TC_H_ROOT)}},
			 {.kind = Kind::route, .name = "10.0.0.0/8", .device = "eth1"},
			 {.kind = Kind::route, .name = "10.0.0.0/8", .device = "eth2"}};
	State read = parse_state(state_text(state));
	follow_names(read, [&](unsigned index) { return now.count(index) ? now[index] : ""; });
	EXPECT_EQ(read.changes[0].name, "eth0");
	EXPECT_EQ(read.changes[1].name, "eth1");
	EXPECT_EQ(read.changes[1].qdiscs[0].device, "eth1");
	EXPECT_EQ(read.changes[2].device, "eth0");
	EXPECT_EQ(read.changes[3].device, "eth2");
	EXPECT_EQ(read.wanted.devices[0].name, "eth1");
	EXPECT_EQ(read.indexes, (std::map<std::string, unsigned>{{"eth0", 3}, {"eth1", 2}, {"eth2", 4}}));
}

TEST(Prefixes, network_without_its_length__is_asked_for)
{
	EXPECT_THROW(datacenter_prefix("10.0.0.0"), Error);
	EXPECT_THROW(datacenter_prefix("fd00::"), Error);
	EXPECT_EQ(datacenter_prefix("10.0.0.0/32"), "10.0.0.0/32");
	EXPECT_EQ(datacenter_prefix("10.0.0.10"), "10.0.0.10/32");
	EXPECT_EQ(datacenter_prefix("fd00::1"), "fd00::1/128");
}

TEST(ConfigFile, marks_and_ends_of_other_systems__are_no_matter)
{
	std::string path = testing::TempDir() + "/turnpike.conf";

	std::ofstream(path) << "\xef\xbb\xbf[net]\r\nfor = 10.0.0.0/8\r\n";
	EXPECT_EQ(read_config(path).prefixes, std::vector<std::string>{"10.0.0.0/8"});
	std::ofstream(path) << "[\x1b[31m\n";
	EXPECT_THROW(read_config(path), Error);
	try {
		read_config(path);
	} catch (const Error &error) {
		EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
	}
	EXPECT_THROW(read_config(testing::TempDir()), Error);
	EXPECT_FALSE(is_absent(path));
	std::remove(path.c_str());
	EXPECT_TRUE(is_absent(path));
}

TEST(Process, words__are_shown_as_one_types_them)
{
	EXPECT_EQ(shell_text({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
	EXPECT_EQ(run({"sh", "-c", "echo out; echo err >&2; exit 3"}).status, 3);
	EXPECT_EQ(run({"sh", "-c", "echo out; echo err >&2"}).errors, "err\n");
	EXPECT_EQ(run({"/nowhere"}).status, 127);
	EXPECT_EQ(output_of({"echo", "a  b"}), "a  b\n");
	EXPECT_THROW(output_of({"false"}), Error);
}

}  // namespace
}  // namespace turnpike
