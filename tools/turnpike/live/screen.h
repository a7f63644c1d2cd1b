// SPDX-License-Identifier: GPL-2.0
//
// The screen of turnpike top: what keys do to it, and its lines. Whoever has a terminal draws these.
#ifndef TURNPIKE_TOOLS_LIVE_SCREEN_H
#define TURNPIKE_TOOLS_LIVE_SCREEN_H

#include <string>
#include <vector>

#include "rows.h"

namespace turnpike {

// Keys that are no character; characters are themselves.
namespace key {
constexpr int kEscape = 27, kErase = 127, kEnter = '\n';
constexpr int kUp = 256, kDown = 257, kPageUp = 258, kPageDown = 259, kHome = 260, kEnd = 261;
}  // namespace key

struct Line {
	enum class Look { plain, title, loud } look = Look::plain;
	std::string text;	// printable ASCII, and levels of a bar
};

class Screen {
public:
	// clock: what stands in the first line. Frozen, it changes nothing.
	void show(const Changes &changes, const History &history, const std::string &clock);

	// false: it ends.
	bool press(int key);

	// As many as there are, none wider; what is below the last is empty.
	std::vector<Line> lines(std::size_t width, std::size_t height);

private:
	enum class View { connections, peers, devices, help };

	bool type(int key);
	void move(int key);
	void sort_by(int key);
	void choose(View view);
	Rows &rows() { return tables_[static_cast<int>(view_)]; }
	std::vector<const Row *> chosen();
	std::vector<Line> body(std::size_t width, std::size_t height);
	std::string footer() const;

	Rows tables_[3];
	std::vector<std::string> summary_;	// a line each device with onramp
	std::string header_ = "turnpike top";
	std::string notice_;
	View view_ = View::connections;
	Order order_ = Order::rate;
	bool turned_ = false, frozen_ = false, typing_ = false;
	std::string filter_, typed_;
	std::size_t first_ = 0, page_ = 1;	// the first row that is seen, and how many are
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_SCREEN_H
