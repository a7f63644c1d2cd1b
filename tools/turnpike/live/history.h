// SPDX-License-Identifier: GPL-2.0
//
// The last minute of each device: delays for a bar of characters, and drops.
#ifndef TURNPIKE_TOOLS_LIVE_HISTORY_H
#define TURNPIKE_TOOLS_LIVE_HISTORY_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "change.h"

namespace turnpike {

// A cell of a bar is a character of this number, from 1 (least) to kBarLevels; a blank where nothing was measured. Who
// draws has characters of such heights.
constexpr int kBarLevels = 8;

class History {
public:
	void add(const Changes &changes);

	// Of the 99th percentile of delays; the newest at the right, the greatest of all has the highest level.
	std::string bar(const Device &device, unsigned cells) const;

	// None where no look told of any.
	Number drops(const Device &device) const;

private:
	struct Seen {
		std::int64_t at_ns;
		Number delay_ns, drops;
	};
	using Key = std::pair<std::uint64_t, std::string>;

	const std::deque<Seen> &seen_of(const Device &device) const;
	void forget();

	std::int64_t now_ns_ = 0;
	std::map<Key, std::deque<Seen>> seen_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_HISTORY_H
