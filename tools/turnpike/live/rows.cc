// SPDX-License-Identifier: GPL-2.0
#include "rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "../units.h"

namespace turnpike {
namespace {

// As wide as the widest number that these print.
constexpr unsigned kRate = 5, kTime = 6, kShare = 6, kCount = 6;
constexpr unsigned kBarCells = 20;
constexpr unsigned kNetns = 10;

std::string without(std::string text, const std::string &what)
{
	for (std::size_t at; (at = text.find(what)) != std::string::npos;)
		text.erase(at, what.size());
	return text;
}

std::string or_none(const std::string &text)
{
	return text.empty() ? "-" : printable(text);
}

bool any_netns(const auto &all)
{
	return std::any_of(all.begin(), all.end(), [](const auto &one) { return !one.netns.empty(); });
}

// Where all are in the own namespace nobody needs its column.
std::vector<FitColumn> with_netns(std::vector<FitColumn> columns, bool needed)
{
	if (!needed)
		std::erase_if(columns, [](const FitColumn &column) { return column.title == "netns"; });
	return columns;
}

void drop_netns(Rows &table, std::size_t at, bool needed)
{
	if (needed)
		return;
	for (Row &row : table.rows)
		row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(at));
}

// Numbers of several, of which some may have none.
void add(Number &sum, const Number &value)
{
	if (value)
		sum = sum.value_or(0) + *value;
}

void raise(Number &most, const Number &value)
{
	if (value)
		most = std::max(most.value_or(0), *value);
}

// What is sent and received; none if neither is known.
Number both(const Number &sent, const Number &received)
{
	Number sum;

	add(sum, sent);
	add(sum, received);
	return sum;
}

// -- peers

struct Peer {
	std::string netns, address;
	unsigned connections = 0, with_tlt = 0, deaf = 0;
	Number sent, received, rtt, delay, held, resent;
	bool silent = false;		// a connection has no feedback
	std::string feedback;
};

void add_connection(Peer &peer, const Connection &one)
{
	peer.connections++;
	peer.with_tlt += !one.tlt.empty();
	peer.deaf += one.tlt == "deaf";
	add(peer.sent, one.acked_bps);
	add(peer.received, one.received_bps);
	raise(peer.rtt, one.rtt_ns);
	raise(peer.delay, one.delay_p99_ns);
	raise(peer.held, one.held);
	add(peer.resent, one.retransmits);
	if (one.feedback == "none!")
		peer.silent = true;
	else if (!one.feedback.empty())
		peer.feedback = one.feedback;
}

std::string tlt_text(const Peer &peer)
{
	if (!peer.with_tlt)
		return "-";
	return peer.deaf ? std::to_string(peer.deaf) + " deaf" : "tlt";
}

Row peer_row(const Peer &peer)
{
	// One with feedback tells that the peer has what it takes.
	std::string feedback = peer.feedback.empty() && peer.silent ? "none!" : peer.feedback;

	return {peer.address, {both(peer.sent, peer.received), peer.rtt, peer.delay, peer.held, peer.resent},
		{peer.address, or_none(peer.netns), std::to_string(peer.connections), narrow_rate(peer.sent),
		 narrow_rate(peer.received), narrow_time(peer.rtt), narrow_time(peer.delay), narrow_share(peer.held),
		 or_none(feedback), tlt_text(peer), narrow_count(peer.resent)}};
}

// -- connections, devices

std::string tlt_word(const std::string &tlt)
{
	return tlt == "unknown" ? "?" : tlt == "deaf" ? "deaf!" : or_none(tlt);
}

Row connection_row(const Connection &one)
{
	std::string remote = end_text(one.ends.remote, one.ends.remote_port);

	return {remote, {both(one.acked_bps, one.received_bps), one.rtt_ns, one.delay_ns, one.held, one.retransmits},
		{std::to_string(one.ends.local_port), remote, or_none(one.netns), narrow_rate(one.acked_bps),
		 narrow_rate(one.received_bps), narrow_time(one.rtt_ns), narrow_time(one.delay_ns),
		 narrow_time(one.delay_p99_ns), narrow_share(one.held), or_none(one.feedback), tlt_word(one.tlt),
		 or_none(one.congctl), narrow_count(one.retransmits), narrow_rate(one.sent_bps),
		 end_text(one.ends.local, std::nullopt)}};
}

Row device_row(const Device &one, const History &history)
{
	return {printable(one.name),
		{both(one.sent_bps, one.received_bps), std::nullopt, one.delay_p99_ns, one.held, one.retransmits},
		{printable(one.name), or_none(one.netns), narrow_rate(one.sent_bps), narrow_rate(one.received_bps),
		 narrow_share(one.held), narrow_time(one.delay_p50_ns), narrow_time(one.delay_p99_ns),
		 narrow_count(history.drops(one)), history.bar(one, kBarCells)}};
}

}  // namespace

std::string narrow_rate(Number bps)
{
	return bps ? without(without(rate_text(*bps), "bit/s"), " ") : "-";
}

std::string narrow_time(Number ns)
{
	return ns ? without(duration_text(*ns), " ") : "-";
}

std::string narrow_share(Number share)
{
	return share ? without(percent_text(*share), " ") : "-";
}

std::string narrow_count(Number count)
{
	return count ? without(without(bytes_text(*count), "B"), " ") : "-";
}

Rows connection_rows(const Changes &changes)
{
	bool netns = any_netns(changes.connections);
	Rows table;

	table.columns = with_netns({
		{"port", Align::right, 9, 5}, {"remote", Align::left, 0, 14}, {"netns", Align::left, 10, kNetns},
		{"acked", Align::right, 1, kRate}, {"recv", Align::right, 2, kRate}, {"RTT", Align::right, 3, kTime},
		{"delay", Align::right, 4, kTime}, {"p99", Align::right, 12, kTime}, {"held", Align::right, 5, kShare},
		{"feedback", Align::left, 6, 8}, {"TLT", Align::left, 7, 5}, {"cc", Align::left, 8, 6},
		{"resent", Align::right, 11, kCount}, {"sent", Align::right, 13, kRate},
		{"local", Align::left, 14, 10}}, netns);
	for (const Connection &one : changes.connections)
		table.rows.push_back(connection_row(one));
	drop_netns(table, 2, netns);
	return table;
}

Rows peer_rows(const Changes &changes)
{
	std::map<std::pair<std::string, std::array<std::uint8_t, 16>>, Peer> peers;
	bool netns = any_netns(changes.connections);
	Rows table;

	table.columns = with_netns({
		{"peer", Align::left, 0, 15}, {"netns", Align::left, 9, kNetns}, {"conns", Align::right, 2, kCount},
		{"acked", Align::right, 1, kRate}, {"recv", Align::right, 3, kRate}, {"RTT", Align::right, 4, kTime},
		{"p99", Align::right, 5, kTime}, {"held", Align::right, 6, kShare}, {"feedback", Align::left, 7, 8},
		{"TLT", Align::left, 8, 6}, {"resent", Align::right, 10, kCount}}, netns);
	for (const Connection &one : changes.connections) {
		Peer &peer = peers[{one.netns, one.ends.remote}];

		peer.netns = one.netns;
		peer.address = end_text(one.ends.remote, std::nullopt);
		add_connection(peer, one);
	}
	for (const auto &[key, peer] : peers)
		table.rows.push_back(peer_row(peer));
	drop_netns(table, 1, netns);
	return table;
}

Rows device_rows(const Changes &changes, const History &history)
{
	bool netns = any_netns(changes.devices);
	Rows table;

	table.columns = with_netns({
		{"device", Align::left, 0, 10}, {"netns", Align::left, 8, kNetns}, {"sent", Align::right, 1, kRate},
		{"recv", Align::right, 2, kRate}, {"held", Align::right, 3, kShare}, {"p50", Align::right, 4, kTime},
		{"p99", Align::right, 5, kTime}, {"drops", Align::right, 6, kCount},
		{"last minute, p99", Align::left, 7, kBarCells}}, netns);
	for (const Device &one : changes.devices)
		table.rows.push_back(device_row(one, history));
	drop_netns(table, 1, netns);
	return table;
}

}  // namespace turnpike
