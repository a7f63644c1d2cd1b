// SPDX-License-Identifier: GPL-2.0
#include "screen.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "../units.h"

namespace turnpike {
namespace {

// Less than this, and devices would take the room of connections.
constexpr std::size_t kLinesForSummary = 12;
constexpr std::size_t kSummaries = 3;
constexpr std::size_t kSummaryBar = 20;
constexpr std::size_t kFilterBytes = 40;

constexpr char kOrderKeys[] = "rtdhxn";
const char *const kOrderNames[kOrders] = {"rate", "RTT", "delay", "held", "resent", "name"};

const char *const kHelp[] = {
	"c p v   connections, peers, devices",
	"s       sorted by the next: rate, RTT, delay, held, resent, name",
	"r t d   sorted by rate, RTT, delay",
	"h x n   sorted by held, resent, name",
	"i       the other way round",
	"/       show only rows that have this word; Escape: all",
	"f       freeze, and go on",
	"arrows  other rows; also PageUp, PageDown, Home, End",
	"?       this, and back",
	"q       quit",
	"",
	"acked   payload bit/s that the peer has; recv: that it sent; sent: also again",
	"RTT     smoothed, by TCP",
	"delay   queueing delay, by On-Ramp's newest sample; p99: of the recent past",
	"held    share of the time that On-Ramp held it; of a device: of its packets",
	"feedback tcpts, orack-GRADE; none!: nothing tells On-Ramp delays",
	"        !: the peer's timestamps do not serve; ~: hosts delay its samples",
	"TLT     tlt: the peer answers marks; deaf!: it does not; ?: not known yet",
	"resent  segments since the look before; drops: of the last minute",
	"bar     p99 of the last minute, the newest at the right",
	"-       nothing tells",
};

std::string lower(std::string text)
{
	std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
	return text;
}

bool has_word(const Row &row, const std::string &word)
{
	return std::any_of(row.cells.begin(), row.cells.end(),
			   [&](const std::string &cell) { return lower(cell).find(word) != std::string::npos; });
}

std::string summary_of(const Device &device, const History &history)
{
	std::string name = (device.netns.empty() ? "" : device.netns + ":") + device.name;

	return printable(name) + "  sent " + narrow_rate(device.sent_bps) + "  held " + narrow_share(device.held) +
	       "  delay p50 " + narrow_time(device.delay_p50_ns) + " p99 " + narrow_time(device.delay_p99_ns) +
	       "  " + history.bar(device, kSummaryBar);
}

std::string header_of(const Changes &changes, const std::string &clock)
{
	double acked_bps = 0, received_bps = 0;

	for (const Connection &one : changes.connections) {
		acked_bps += one.acked_bps.value_or(0);
		received_bps += one.received_bps.value_or(0);
	}
	return "turnpike top  " + clock + "  " + count_text(changes.connections.size(), "connection") + "  acked " +
	       rate_text(acked_bps) + "  received " + rate_text(received_bps);
}

// The greater first, and what has no number last, whichever way round.
bool before(const Row &a, const Row &b, Order order, bool turned)
{
	if (order != Order::name) {
		const Number &x = a.by[static_cast<std::size_t>(order)], &y = b.by[static_cast<std::size_t>(order)];

		if (x.has_value() != y.has_value())
			return x.has_value();
		if (x && *x != *y)
			return turned ? *x < *y : *x > *y;
	}
	return order == Order::name && turned ? a.name > b.name : a.name < b.name;
}

}  // namespace

void Screen::show(const Changes &changes, const History &history, const std::string &clock)
{
	if (frozen_)
		return;
	tables_[static_cast<int>(View::connections)] = connection_rows(changes);
	tables_[static_cast<int>(View::peers)] = peer_rows(changes);
	tables_[static_cast<int>(View::devices)] = device_rows(changes, history);
	header_ = header_of(changes, clock);
	notice_ = changes.refused ? "without CAP_NET_ADMIN nobody sees flows of On-Ramp and TLT: try sudo" : "";
	summary_.clear();
	for (const Device &device : changes.devices)
		if (device.onramp && summary_.size() < kSummaries)
			summary_.push_back(summary_of(device, history));
}

// -- keys

void Screen::choose(View view)
{
	view_ = view;
	first_ = 0;
}

// Of a filter. Characters only: a name is shown escaped, and is found as it is shown.
bool Screen::type(int key)
{
	if (key == key::kEnter || key == key::kEscape) {
		filter_ = key == key::kEnter ? typed_ : "";
		typing_ = false;
		first_ = 0;
	} else if (key == key::kErase) {
		if (!typed_.empty())
			typed_.pop_back();
	} else if (key >= ' ' && key < 127 && typed_.size() < kFilterBytes) {
		typed_ += static_cast<char>(key);
	}
	return true;
}

void Screen::move(int key)
{
	std::size_t back = key == key::kUp ? 1 : key == key::kPageUp ? page_ : key == key::kHome ? first_ : 0;

	first_ -= std::min(back, first_);
	// lines() brings it back where there is no such row.
	std::size_t last = view_ == View::help ? std::size(kHelp) : rows().rows.size();
	first_ += key == key::kDown ? 1 : key == key::kPageDown ? page_ : key == key::kEnd ? last : 0;
}

void Screen::sort_by(int key)
{
	const char *found = std::find(std::begin(kOrderKeys), std::end(kOrderKeys) - 1, key);
	auto next = (static_cast<std::size_t>(order_) + 1) % kOrders;

	if (key == 'i')
		turned_ = !turned_;
	else if (key == 's')
		order_ = static_cast<Order>(next);
	else if (found != std::end(kOrderKeys) - 1)
		order_ = static_cast<Order>(found - kOrderKeys);
}

bool Screen::press(int key)
{
	if (typing_)
		return type(key);
	switch (key) {
	case 'q':
		return false;
	case 'c':
		choose(View::connections);
		break;
	case 'p':
		choose(View::peers);
		break;
	case 'v':
		choose(View::devices);
		break;
	case '?':
		choose(view_ == View::help ? View::connections : View::help);
		break;
	case 'f':
		frozen_ = !frozen_;
		break;
	case '/':
		typing_ = true;
		typed_.clear();
		break;
	case key::kEscape:
		filter_.clear();
		break;
	default:
		sort_by(key);
		move(key);
	}
	return true;
}

// -- lines

std::vector<const Row *> Screen::chosen()
{
	std::string word = lower(typing_ ? typed_ : filter_);
	std::vector<const Row *> found;

	for (const Row &row : rows().rows)
		if (word.empty() || has_word(row, word))
			found.push_back(&row);
	std::stable_sort(found.begin(), found.end(),
			 [this](const Row *a, const Row *b) { return before(*a, *b, order_, turned_); });
	return found;
}

// The titles and rows, or the help.
std::vector<Line> Screen::body(std::size_t width, std::size_t height)
{
	std::vector<Line> lines;

	if (view_ == View::help) {
		page_ = height;
		first_ = std::min(first_, std::size(kHelp) - std::min(std::size(kHelp), page_));
		for (std::size_t i = first_; i < std::size(kHelp); i++)
			lines.push_back({Line::Look::plain, kHelp[i]});
		return lines;
	}
	std::vector<const Row *> all = chosen();
	page_ = std::max<std::size_t>(height, 2) - 1;
	first_ = std::min(first_, all.size() - std::min(all.size(), page_));
	std::vector<const Cells *> seen;
	for (std::size_t i = first_; i < all.size() && seen.size() < page_; i++)
		seen.push_back(&all[i]->cells);
	for (const std::string &text : fit(rows().columns, seen, width))
		lines.push_back({lines.empty() ? Line::Look::title : Line::Look::plain, text});
	return lines;
}

std::string Screen::footer() const
{
	if (typing_)
		return "/" + typed_ + "_  (Enter: keep, Escape: all)";
	std::string text = frozen_ ? "FROZEN (f goes on)  " : "";
	if (!filter_.empty())
		text += "only '" + filter_ + "' (Escape: all)  ";
	if (!notice_.empty() && !frozen_ && filter_.empty())
		return notice_;
	return text + "by " + kOrderNames[static_cast<int>(order_)] + (turned_ ? ", turned" : "") +
	       " (s)  c conns  p peers  v devices  / filter  f freeze  ? help  q quit";
}

std::vector<Line> Screen::lines(std::size_t width, std::size_t height)
{
	std::vector<Line> lines = {{Line::Look::loud, header_}};
	bool has_footer = height >= 3;

	if (view_ == View::connections && height >= kLinesForSummary)
		for (const std::string &text : summary_)
			lines.push_back({Line::Look::plain, text});
	std::size_t room = height - std::min(height, lines.size() + has_footer);
	for (const Line &line : room ? body(width, room) : std::vector<Line>())
		lines.push_back(line);
	lines.resize(height - std::min<std::size_t>(height, has_footer));
	if (has_footer)
		lines.push_back({Line::Look::title, footer()});
	for (Line &line : lines)
		line.text = cut_to(line.text, width);
	return lines;
}

}  // namespace turnpike
