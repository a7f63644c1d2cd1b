// SPDX-License-Identifier: GPL-2.0
#include "history.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace turnpike {
namespace {

constexpr std::int64_t kMinuteNs = 60 * std::int64_t(1000000000);

char level(double value, double greatest)
{
	return static_cast<char>(std::clamp(std::ceil(kBarLevels * value / greatest), 1.0, double(kBarLevels)));
}

}  // namespace

void History::add(const Changes &changes)
{
	now_ns_ = changes.at_ns;
	for (const Device &device : changes.devices)
		seen_[{device.space, device.name}].push_back({now_ns_, device.delay_p99_ns, device.drops});
	forget();
}

void History::forget()
{
	for (auto &[key, all] : seen_)
		while (!all.empty() && all.front().at_ns <= now_ns_ - kMinuteNs)
			all.pop_front();
	std::erase_if(seen_, [](const auto &one) { return one.second.empty(); });
}

const std::deque<History::Seen> &History::seen_of(const Device &device) const
{
	static const std::deque<Seen> nothing;
	auto found = seen_.find({device.space, device.name});

	return found == seen_.end() ? nothing : found->second;
}

std::string History::bar(const Device &device, unsigned cells) const
{
	std::vector<Number> most(cells);
	double greatest = 1;
	std::string text;

	if (!cells)
		return text;
	// Cells begin at whole multiples, or what is in one would move between looks.
	std::int64_t width_ns = kMinuteNs / cells, newest = now_ns_ / width_ns;
	for (const Seen &seen : seen_of(device)) {
		std::int64_t age = newest - seen.at_ns / width_ns;

		if (!seen.delay_ns || age >= cells)
			continue;
		Number &cell = most[cells - 1 - static_cast<std::size_t>(age)];
		cell = std::max(cell.value_or(0), *seen.delay_ns);
		greatest = std::max(greatest, *cell);
	}
	for (const Number &cell : most)
		text += cell ? level(*cell, greatest) : ' ';
	return text;
}

Number History::drops(const Device &device) const
{
	Number sum;

	for (const Seen &seen : seen_of(device))
		if (seen.drops)
			sum = sum.value_or(0) + *seen.drops;
	return sum;
}

}  // namespace turnpike
