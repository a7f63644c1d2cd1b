// SPDX-License-Identifier: GPL-2.0
//
// What turnpike top and watch make of two looks, and of keys and the size of a terminal.
#include <gtest/gtest.h>

#include "live/change.h"
#include "live/columns.h"
#include "live/history.h"
#include "live/look.h"
#include "live/pace.h"
#include "live/rows.h"
#include "live/screen.h"
#include "live/watch_line.h"
#include "proc_counter.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kSecond = 1000000000;

std::array<std::uint8_t, 16> address(std::uint8_t last)
{
	std::uint8_t four[] = {10, 1, 0, last};

	return mapped_address(four, true);
}

Ends ends_of(std::uint16_t port, std::uint8_t peer = 2)
{
	return {address(1), address(peer), port, 5001};
}

Socket socket_of(std::uint64_t cookie, std::uint64_t acked, std::uint64_t received = 0)
{
	Socket socket;

	socket.cookie = cookie;
	socket.ends = ends_of(static_cast<std::uint16_t>(1000 + cookie));
	socket.congctl = "cubic";
	socket.rtt_us = 31;
	socket.bytes_acked = acked;
	socket.bytes_sent = acked;
	socket.bytes_received = received;
	return socket;
}

Json flow_of(std::uint64_t samples, std::uint64_t paused_ns, std::uint64_t p50_ns, std::uint64_t p99_ns)
{
	return {{"dev", "eth0"}, {"source", "orack"}, {"grade", "c"}, {"coarse", false}, {"noisy", false},
		{"samples", samples}, {"paused_ns", paused_ns}, {"delay_ns", p50_ns + 1}, {"delay_p50_ns", p50_ns},
		{"delay_p99_ns", p99_ns}};
}

Json onramp_of(std::uint64_t packets, std::uint64_t held)
{
	return Json::array({{{"name", "eth0"}, {"packets", packets}, {"held_packets", held}}});
}

Link link_of(const char *name, std::uint64_t sent)
{
	Link link;

	link.index = 3;
	link.name = name;
	link.loopback = std::string(name) == "lo";
	link.sent_bytes = sent;
	link.received_bytes = 2 * sent;
	return link;
}

// One namespace with one device.
Look look_of(std::int64_t at_ns, const std::vector<Socket> &sockets, std::uint64_t sent = 0)
{
	Look look;
	Space space;

	space.id = 7;
	space.at_ns = at_ns;
	space.sockets = sockets;
	space.links = {link_of("eth0", sent)};
	look.at_ns = at_ns;
	look.spaces = {space};
	return look;
}

// -- connections

TEST(Changes, rates__are_of_what_was_counted_between)
{
	Changes changes = changes_between(look_of(kSecond, {socket_of(1, 1000, 10)}),
					  look_of(3 * kSecond, {socket_of(1, 251000, 20)}));

	ASSERT_EQ(changes.connections.size(), 1u);
	EXPECT_DOUBLE_EQ(*changes.connections[0].acked_bps, 1e6);
	EXPECT_DOUBLE_EQ(*changes.connections[0].sent_bps, 1e6);
	EXPECT_DOUBLE_EQ(*changes.connections[0].received_bps, 40);
	EXPECT_DOUBLE_EQ(changes.connections[0].rtt_ns, 31e3);
	EXPECT_EQ(changes.connections[0].congctl, "cubic");
	EXPECT_EQ(*changes.connections[0].retransmits, 0);
}

TEST(Changes, rates__none_for_what_one_look_has_alone)
{
	Changes changes = changes_between(look_of(0, {socket_of(1, 1000)}), look_of(kSecond, {socket_of(2, 1 << 30)}));

	ASSERT_EQ(changes.connections.size(), 1u);
	EXPECT_FALSE(changes.connections[0].acked_bps);
	EXPECT_FALSE(changes.connections[0].retransmits);
	EXPECT_TRUE(changes_between(look_of(0, {socket_of(1, 1)}), look_of(kSecond, {})).connections.empty());
}

TEST(Changes, rates__none_where_a_counter_fell)
{
	Socket before = socket_of(1, 1000), now = socket_of(1, 999, 5);

	now.retransmits = 3;
	Changes changes = changes_between(look_of(0, {before}), look_of(kSecond, {now}));
	EXPECT_FALSE(changes.connections[0].acked_bps);
	EXPECT_DOUBLE_EQ(*changes.connections[0].received_bps, 40);
	EXPECT_EQ(*changes.connections[0].retransmits, 3);
}

TEST(Changes, rates__none_where_no_time_passed)
{
	Changes changes = changes_between(look_of(5, {socket_of(1, 1)}), look_of(5, {socket_of(1, 2)}));

	EXPECT_FALSE(changes.connections[0].acked_bps);
	EXPECT_FALSE(changes.devices[0].sent_bps);
}

TEST(Changes, connection__with_the_number_of_another_is_no_old_one)
{
	Socket other = socket_of(1, 9000);

	other.ends.remote_port = 5002;
	EXPECT_FALSE(changes_between(look_of(0, {socket_of(1, 0)}), look_of(kSecond, {other})).connections[0].acked_bps);
}

TEST(Changes, connection__of_another_namespace_is_no_old_one)
{
	Look before = look_of(0, {socket_of(1, 0)}, 0), now = look_of(kSecond, {socket_of(1, 9000)}, 9000);

	before.spaces[0].id = 8;
	EXPECT_FALSE(changes_between(before, now).connections[0].acked_bps);
	EXPECT_FALSE(changes_between(before, now).devices[0].sent_bps);
}

TEST(Changes, onramp__holds_delays_and_feedback_of_the_flow)
{
	Look before = look_of(0, {socket_of(1, 0)}), now = look_of(2 * kSecond, {socket_of(1, 0)});

	before.spaces[0].onramp_flows[ends_of(1001)] = flow_of(10, 0, 5000, 60000);
	now.spaces[0].onramp_flows[ends_of(1001)] = flow_of(20, kSecond, 7000, 90000);
	Connection one = changes_between(before, now).connections[0];
	EXPECT_DOUBLE_EQ(*one.held, .5);
	EXPECT_EQ(*one.delay_ns, 7001);
	EXPECT_EQ(*one.delay_p99_ns, 90000);
	EXPECT_EQ(one.feedback, "orack-c");
	// Without a new sample the delay is an old one.
	now.spaces[0].onramp_flows[ends_of(1001)] = flow_of(10, 3 * kSecond, 7000, 90000);
	one = changes_between(before, now).connections[0];
	EXPECT_FALSE(one.delay_ns);
	EXPECT_DOUBLE_EQ(*one.held, 1);
}

TEST(Changes, onramp__a_new_flow_has_no_share_of_time)
{
	Look before = look_of(0, {socket_of(1, 0)}), now = look_of(kSecond, {socket_of(1, 0)});

	now.spaces[0].onramp_flows[ends_of(1001)] = flow_of(3, 500, 7000, 90000);
	Connection one = changes_between(before, now).connections[0];
	EXPECT_FALSE(one.held);
	EXPECT_EQ(*one.delay_ns, 7001);
}

TEST(Changes, feedback__says_when_there_is_none)
{
	Look now = look_of(kSecond, {socket_of(1, 0), socket_of(2, 0), socket_of(3, 0)});
	Json none = flow_of(0, 0, 0, 0), poor = flow_of(1, 0, 0, 0);

	none["source"] = "none";
	none["grade"] = nullptr;
	poor["coarse"] = poor["noisy"] = true;
	poor["source"] = "tcpts";
	poor["grade"] = nullptr;
	now.spaces[0].onramp_flows = {{ends_of(1001), none}, {ends_of(1002), poor}};
	Changes changes = changes_between(look_of(0, {}), now);
	EXPECT_EQ(changes.connections[0].feedback, "none!");
	EXPECT_EQ(changes.connections[1].feedback, "tcpts!~");
	EXPECT_EQ(changes.connections[2].feedback, "");
	// Who was asked for receipts and sends none.
	now.spaces[0].silent = {address(2)};
	EXPECT_EQ(changes_between(look_of(0, {}), now).connections[2].feedback, "none!");
	EXPECT_EQ(changes_between(look_of(0, {}), now).connections[1].feedback, "tcpts!~");
}

TEST(Changes, tlt__state_of_the_connection)
{
	Look now = look_of(kSecond, {socket_of(1, 0), socket_of(2, 0)});

	now.spaces[0].tlt_peers[ends_of(1002)] = "deaf";
	now.spaces[0].refused = true;
	Changes changes = changes_between(look_of(0, {}), now);
	EXPECT_EQ(changes.connections[0].tlt, "");
	EXPECT_EQ(changes.connections[1].tlt, "deaf");
	EXPECT_TRUE(changes.refused);
}

// -- devices

Look device_look(std::int64_t at_ns, std::uint64_t sent, std::uint64_t drops, std::uint64_t packets, std::uint64_t held)
{
	Look look = look_of(at_ns, {}, sent);

	look.spaces[0].roots["eth0"] = {"onramp", 0x80010000, drops};
	look.spaces[0].onramp = onramp_of(packets, held);
	look.spaces[0].retransmits = 10 * drops;
	look.spaces[0].timeouts = drops;
	return look;
}

TEST(Changes, device__rate_drops_and_held_packets)
{
	Device device = changes_between(device_look(0, 0, 1, 100, 10), device_look(kSecond, 1000, 3, 300, 60)).devices.at(0);

	EXPECT_EQ(device.name, "eth0");
	EXPECT_TRUE(device.onramp);
	EXPECT_DOUBLE_EQ(*device.sent_bps, 8000);
	EXPECT_DOUBLE_EQ(*device.received_bps, 16000);
	EXPECT_DOUBLE_EQ(*device.held, .25);
	EXPECT_EQ(*device.drops, 2);
	EXPECT_EQ(*device.retransmits, 20);
	EXPECT_EQ(*device.timeouts, 2);
}

TEST(Changes, device__another_qdisc_counts_anew)
{
	Look before = device_look(0, 0, 1, 100, 10), now = device_look(kSecond, 0, 3, 300, 60);

	now.spaces[0].roots["eth0"].handle++;
	EXPECT_FALSE(changes_between(before, now).devices[0].drops);
	EXPECT_FALSE(changes_between(before, now).devices[0].held);
	now = device_look(kSecond, 0, 0, 50, 60);
	EXPECT_FALSE(changes_between(before, now).devices[0].drops);
	EXPECT_FALSE(changes_between(before, now).devices[0].held);
}

TEST(Changes, device__another_of_its_name_counts_anew)
{
	Look now = device_look(kSecond, 1000, 1, 100, 10);

	now.spaces[0].links[0].index++;
	EXPECT_FALSE(changes_between(device_look(0, 0, 1, 100, 10), now).devices[0].sent_bps);
}

TEST(Changes, device__delays_of_flows_with_samples)
{
	Look before = look_of(0, {}), now = look_of(kSecond, {});

	for (std::uint16_t i = 1; i <= 3; i++) {
		before.spaces[0].onramp_flows[ends_of(i)] = flow_of(10, 0, 1, 1);
		now.spaces[0].onramp_flows[ends_of(i)] = flow_of(11, 0, 1000u * i, 10000u * i);
	}
	now.spaces[0].onramp_flows[ends_of(4)] = flow_of(0, 0, 9, 900000);
	now.spaces[0].onramp_flows[ends_of(5)] = flow_of(9, 0, 9, 900000);
	now.spaces[0].onramp_flows[ends_of(5)]["dev"] = "eth1";
	Device device = changes_between(before, now).devices.at(0);
	EXPECT_EQ(*device.delay_p50_ns, 2000);
	EXPECT_EQ(*device.delay_p99_ns, 30000);
	EXPECT_FALSE(changes_between(now, now).devices[0].delay_p99_ns);
}

TEST(Look, proc_counter__of_its_group)
{
	std::string text = "Ip: A B\nIp: 1 2\nTcp: B RetransSegs\nTcp: -1 44\nTcpExt: B\nTcpExt: 9\n";

	EXPECT_EQ(proc_counter(text, "Tcp:", "RetransSegs"), 44u);
	EXPECT_EQ(proc_counter(text, "Ip:", "B"), 2u);
	EXPECT_EQ(proc_counter(text, "TcpExt:", "B"), 9u);
	EXPECT_FALSE(proc_counter(text, "Ip:", "RetransSegs"));
	EXPECT_FALSE(proc_counter("", "Ip:", "A"));
}

TEST(Pace, due__at_multiples_whatever_a_look_takes)
{
	EXPECT_EQ(next_due_ns(100, 10, 100), 110);
	EXPECT_EQ(next_due_ns(100, 10, 109), 110);
	EXPECT_EQ(next_due_ns(100, 10, 110), 120);
	EXPECT_EQ(next_due_ns(100, 10, 147), 150);
	EXPECT_EQ(next_due_ns(100, 10, 50), 110);
}

// -- the last minute

Changes minute(std::int64_t at_s, Number p99_ns, Number drops)
{
	Changes changes;
	Device device;

	device.space = 7;
	device.name = "eth0";
	device.delay_p99_ns = p99_ns;
	device.drops = drops;
	changes.at_ns = at_s * kSecond;
	changes.devices = {device};
	return changes;
}

TEST(History, bar__newest_at_the_right)
{
	History history;
	Device device = minute(0, 0, 0).devices[0];

	history.add(minute(600, 80e3, 1));
	history.add(minute(610, std::nullopt, std::nullopt));
	history.add(minute(630, 10e3, 4));
	history.add(minute(659, 30e3, 0));
	EXPECT_EQ(history.bar(device, 6), std::string("\10  \1 \3"));
	EXPECT_EQ(*history.drops(device), 5);
	EXPECT_EQ(history.bar(device, 0), "");
}

TEST(History, forgets__what_is_older_and_devices_that_went)
{
	History history;
	Device device = minute(0, 0, 0).devices[0];

	history.add(minute(600, 80e3, 1));
	history.add(minute(661, 10e3, std::nullopt));
	EXPECT_EQ(history.bar(device, 2), std::string(" \10"));
	EXPECT_FALSE(history.drops(device));
	Changes nothing;
	nothing.at_ns = 1000 * kSecond;
	history.add(nothing);
	EXPECT_EQ(history.bar(device, 2), "  ");
}

// -- columns

TEST(Fit, columns__the_least_go_first_and_none_is_cut_that_counts)
{
	std::vector<FitColumn> columns = {{"a", Align::right, 1, 5}, {"name", Align::left, 0, 8}, {"z", Align::right, 2, 3}};
	Cells row = {"9.41G", "long-name-of-it", "12"};

	EXPECT_EQ(fit(columns, {&row}, 40)[1], "9.41G long-name-of-it  12");
	EXPECT_EQ(fit(columns, {&row}, 20)[1], "9.41G long-name~  12");
	EXPECT_EQ(fit(columns, {&row}, 14)[1], "9.41G long-na~");
	EXPECT_EQ(fit(columns, {&row}, 8)[1], "long-na~");
	EXPECT_EQ(fit(columns, {&row}, 3)[1], "lo~");
	EXPECT_EQ(fit(columns, {}, 40).size(), 1u);
	EXPECT_EQ(fit(columns, {}, 40)[0], "    a name       z");
}

TEST(Rows, numbers__are_narrow)
{
	EXPECT_EQ(narrow_rate(9.41e9), "9.41G");
	EXPECT_EQ(narrow_rate(0), "0");
	EXPECT_EQ(narrow_rate(std::nullopt), "-");
	EXPECT_EQ(narrow_time(31200), "31.2us");
	EXPECT_EQ(narrow_share(.031), "3.1%");
	EXPECT_EQ(narrow_count(12), "12");
	EXPECT_EQ(narrow_count(1234567), "1.23M");
}

// -- the screen

Connection connection(std::uint8_t peer, Number acked_bps, const char *congctl = "cubic")
{
	Connection one;

	one.ends = ends_of(static_cast<std::uint16_t>(40000 + peer), peer);
	one.acked_bps = acked_bps;
	one.rtt_ns = 1e3 * (100 - peer);
	one.congctl = congctl;
	return one;
}

Changes some()
{
	Changes changes = minute(600, 61e3, 2);

	changes.devices[0].onramp = true;
	changes.devices[0].sent_bps = 9.41e9;
	for (std::uint8_t peer = 2; peer < 6; peer++)
		changes.connections.push_back(connection(peer, 1e6 * peer, peer == 4 ? "timely" : "cubic"));
	changes.connections.push_back(connection(9, std::nullopt));
	return changes;
}

struct Shown : Screen {
	explicit Shown(const Changes &changes = some())
	{
		history.add(changes);
		show(changes, history, "12:34:56");
	}

	std::string text(std::size_t width = 80, std::size_t height = 24)
	{
		std::string all;

		for (const Line &line : lines(width, height)) {
			EXPECT_LE(line.text.size(), width);
			all += line.text + "\n";
		}
		return all;
	}

	// Peers of connections, as they stand below each other.
	std::string order()
	{
		std::string found;

		for (const Line &line : lines(80, 24))
			if (std::size_t at = line.text.find("10.1.0."); at != std::string::npos)
				found += line.text[at + 7];
		return found;
	}

	void press_all(const std::string &keys)
	{
		for (char c : keys)
			EXPECT_TRUE(press(c));
	}

	History history;
};

bool has(const std::string &text, const std::string &what)
{
	return text.find(what) != std::string::npos;
}

TEST(Screen, connections__by_rate_and_those_without_last)
{
	Shown screen;

	EXPECT_EQ(screen.order(), "54329");
	std::string text = screen.text();
	EXPECT_TRUE(has(text, "turnpike top  12:34:56  5 connections  acked 14.0 Mbit/s")) << text;
	EXPECT_TRUE(has(text, "40005 10.1.0.5:5001")) << text;
	EXPECT_TRUE(has(text, "eth0  sent 9.41G")) << text;
	EXPECT_TRUE(has(text, "p99 61.0us")) << text;
	EXPECT_FALSE(has(text, "netns")) << text;
}

TEST(Screen, columns__of_eighty_have_what_counts)
{
	Shown screen;
	std::string text = screen.text();

	for (const char *title : {"port", "remote", "acked", "recv", "RTT", "delay", "held", "feedback", "TLT", "cc"})
		EXPECT_TRUE(has(text, title)) << title << "\n" << text;
}

TEST(Screen, order__by_keys)
{
	Shown screen;

	screen.press_all("t");
	EXPECT_EQ(screen.order(), "23459");
	screen.press_all("i");
	EXPECT_EQ(screen.order(), "95432");
	screen.press_all("rn");
	EXPECT_EQ(screen.order(), "95432");
	screen.press_all("i");
	EXPECT_EQ(screen.order(), "23459");
	screen.press_all("s");
	EXPECT_EQ(screen.order(), "54329");
	EXPECT_TRUE(has(screen.text(), "by rate"));
	screen.press_all("i");
	EXPECT_EQ(screen.order(), "23459");
}

TEST(Screen, order__what_has_no_number_is_last)
{
	Changes changes = some();

	changes.connections.insert(changes.connections.begin(), connection(1, std::nullopt));
	Shown screen(changes);
	EXPECT_EQ(screen.order(), "543219");
	screen.press_all("i");
	EXPECT_EQ(screen.order(), "234519");
}

TEST(Screen, filter__shows_rows_with_a_word)
{
	Shown screen;

	screen.press_all("/TIMq");
	EXPECT_EQ(screen.order(), "");
	EXPECT_TRUE(has(screen.text(), "/TIMq_"));
	screen.press(key::kErase);
	EXPECT_EQ(screen.order(), "4");
	screen.press(key::kEnter);
	EXPECT_TRUE(has(screen.text(), "only 'TIM'"));
	EXPECT_EQ(screen.order(), "4");
	screen.press(key::kEscape);
	EXPECT_EQ(screen.order(), "54329");
	EXPECT_FALSE(screen.press('q'));
}

TEST(Screen, frozen__shows_what_it_showed)
{
	Shown screen;
	Changes later = some();

	later.connections.resize(1);
	screen.press_all("f");
	screen.show(later, screen.history, "23:00:00");
	EXPECT_EQ(screen.order(), "54329");
	EXPECT_TRUE(has(screen.text(), "FROZEN"));
	screen.press_all("f");
	screen.show(later, screen.history, "23:00:01");
	EXPECT_EQ(screen.order(), "2");
	EXPECT_TRUE(has(screen.text(), "23:00:01"));
}

TEST(Screen, peers__sum_their_connections)
{
	Changes changes = some();
	Connection more = connection(5, 2e6);

	more.ends.local_port = 1;
	more.tlt = "deaf";
	more.feedback = "none!";
	more.held = .5;
	changes.connections.push_back(more);
	Shown screen(changes);
	screen.press_all("p");
	EXPECT_EQ(screen.order(), "54329");
	std::string text = screen.text();
	EXPECT_TRUE(has(text, "10.1.0.5             2 7.00M")) << text;
	EXPECT_TRUE(has(text, "1 deaf")) << text;
	EXPECT_TRUE(has(text, "none!")) << text;
	EXPECT_TRUE(has(text, "50.0%")) << text;
}

TEST(Screen, devices__have_the_last_minute)
{
	Shown screen;

	screen.press_all("v");
	std::string text = screen.text();
	EXPECT_TRUE(has(text, "eth0       9.41G")) << text;
	EXPECT_TRUE(has(text, "\10\n")) << text;
	EXPECT_TRUE(has(text, "     2 ")) << text;
	screen.press_all("c");
	EXPECT_EQ(screen.order(), "54329");
}

TEST(Screen, help__and_back)
{
	Shown screen;

	screen.press_all("?");
	EXPECT_TRUE(has(screen.text(), "q       quit"));
	screen.press(key::kDown);
	screen.press_all("?");
	EXPECT_EQ(screen.order(), "54329");
}

TEST(Screen, rows__move_and_stop_at_the_ends)
{
	Shown screen;
	auto first = [&] { return screen.text(80, 5); };

	screen.press_all("n");
	EXPECT_TRUE(has(first(), "10.1.0.2:") && has(first(), "10.1.0.3:") && !has(first(), "10.1.0.4:")) << first();
	screen.press(key::kDown);
	EXPECT_TRUE(!has(first(), "10.1.0.2:") && has(first(), "10.1.0.4:")) << first();
	screen.press(key::kPageDown);
	screen.press(key::kPageDown);
	screen.press(key::kPageDown);
	EXPECT_TRUE(has(first(), "10.1.0.5:") && has(first(), "10.1.0.9:")) << first();
	screen.press(key::kUp);
	EXPECT_TRUE(has(first(), "10.1.0.4:")) << first();
	screen.press(key::kEnd);
	EXPECT_TRUE(has(first(), "10.1.0.9:")) << first();
	screen.press(key::kHome);
	EXPECT_TRUE(has(first(), "10.1.0.2:")) << first();
}

TEST(Screen, size__any)
{
	Shown screen;

	for (const char *view : {"c", "p", "v", "?", "?/x"}) {
		screen.press_all(view);
		for (std::size_t width = 0; width < 200; width += width < 20 ? 1 : 37)
			for (std::size_t height = 0; height < 30; height++)
				EXPECT_EQ(screen.lines(width, height).size(), height) << width << "x" << height;
	}
	Shown other;
	EXPECT_TRUE(has(other.text(30, 4), "10.1.0.5")) << other.text(30, 4);
	EXPECT_TRUE(has(Screen().lines(80, 24).at(0).text, "turnpike top"));
}

TEST(Screen, names__are_escaped)
{
	Changes changes = some();

	changes.devices[0].name = "eth\033[2J";
	changes.connections[0].congctl = "x\nq";
	changes.connections[0].netns = "a\1b";
	Shown screen(changes);
	for (const char *view : {"c", "p", "v"}) {
		screen.press_all(view);
		std::string text = screen.text(200);
		EXPECT_FALSE(has(text, "\033")) << text;
		EXPECT_TRUE(has(text, "a\\x01b") || *view == 'v') << text;
	}
	EXPECT_TRUE(has(screen.text(200), "eth\\x1b[2J"));
}

TEST(Screen, rights__says_when_they_lack)
{
	Changes changes = some();

	EXPECT_FALSE(has(Shown(changes).text(), "CAP_NET_ADMIN"));
	changes.refused = true;
	EXPECT_TRUE(has(Shown(changes).text(), "CAP_NET_ADMIN"));
}

// -- watch

TEST(Watch, devices__with_onramp_or_else_those_that_are_no_loopback)
{
	Changes changes;
	auto names = [&](const std::string &name) {
		std::string all;

		for (const Device &device : watched(changes, name))
			all += device.name + " ";
		return all;
	};

	EXPECT_EQ(names(""), "");
	changes.devices.resize(3);
	changes.devices[0].name = "lo";
	changes.devices[0].loopback = true;
	changes.devices[1].name = "eth0";
	changes.devices[2].name = "eth1";
	EXPECT_EQ(names(""), "eth0 eth1 ");
	EXPECT_EQ(names("lo"), "lo ");
	EXPECT_EQ(names("eth7"), "");
	changes.devices[2].onramp = true;
	EXPECT_EQ(names(""), "eth1 ");
	changes.devices.resize(1);
	EXPECT_EQ(names(""), "lo ");
}

TEST(Watch, line__and_object)
{
	Device device;

	device.name = "eth0";
	device.netns = "blue";
	device.sent_bps = 9.41e9;
	device.held = .031;
	device.delay_p50_ns = 31000;
	device.delay_p99_ns = 61000.4;
	device.drops = 2;
	device.retransmits = 12345;
	EXPECT_EQ(watch_titles(),
		  "time      device               rate      held       p50       p99   drops    resent  timeouts\n");
	EXPECT_EQ(watch_line(device, "12:34:56"),
		  "12:34:56  blue:eth0     9.41 Gbit/s     3.1 %   31.0 us   61.0 us       2     12345         -\n");
	EXPECT_EQ(watch_json(device, 1.5).dump(),
		  R"({"time_s":1.5,"netns":"blue","device":"eth0","sent_bps":9410000000,"received_bps":null,)"
		  R"("held_share":0.031,"delay_p50_ns":31000,"delay_p99_ns":61000,"drops":2,"retransmits":12345,"timeouts":null})");
	device.name = "a\nb";
	EXPECT_TRUE(has(watch_line(device, "12:34:56"), "blue:a\\x0ab"));
}

}  // namespace
}  // namespace turnpike
