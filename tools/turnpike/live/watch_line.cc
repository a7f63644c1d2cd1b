// SPDX-License-Identifier: GPL-2.0
#include "watch_line.h"

#include <cmath>

#include "../units.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Wide enough for most names, so that lines stand below each other without knowing the next.
constexpr int kDevice = 12;

template <typename Choose> std::vector<Device> those(const Changes &changes, Choose choose)
{
	std::vector<Device> found;

	for (const Device &device : changes.devices)
		if (choose(device))
			found.push_back(device);
	return found;
}

std::string text_or_dash(Number value, std::string (*text)(double))
{
	return value ? text(*value) : "-";
}

std::string whole(double value)
{
	return number_text("%.0f", value);
}

std::string padded(const std::string &text, std::size_t width)
{
	return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string line_of(const std::string &clock, std::string device, const std::vector<std::string> &cells)
{
	static const std::size_t width[] = {11, 8, 8, 8, 6, 8, 8};
	std::size_t at = 0;

	device.resize(std::max<std::size_t>(device.size(), kDevice), ' ');
	std::string text = clock + "  " + device;
	for (const std::string &cell : cells)
		text += "  " + padded(cell, width[at++]);
	return text + "\n";
}

Json rounded(Number value)
{
	return value ? Json(std::llround(*value)) : Json(nullptr);
}

}  // namespace

std::vector<Device> watched(const Changes &changes, const std::string &name)
{
	if (!name.empty())
		return those(changes, [&](const Device &device) { return device.name == name; });
	std::vector<Device> found = those(changes, [](const Device &device) { return device.onramp; });
	if (found.empty())
		found = those(changes, [](const Device &device) { return !device.loopback; });
	return found.empty() ? changes.devices : found;
}

std::string watch_titles()
{
	return line_of("time    ", "device", {"rate", "held", "p50", "p99", "drops", "resent", "timeouts"});
}

std::string watch_line(const Device &device, const std::string &clock)
{
	std::string name = (device.netns.empty() ? "" : device.netns + ":") + device.name;

	return line_of(clock, printable(name),
		       {text_or_dash(device.sent_bps, rate_text), text_or_dash(device.held, percent_text),
			text_or_dash(device.delay_p50_ns, duration_text), text_or_dash(device.delay_p99_ns, duration_text),
			text_or_dash(device.drops, whole), text_or_dash(device.retransmits, whole),
			text_or_dash(device.timeouts, whole)});
}

Json watch_json(const Device &device, double time_s)
{
	return {{"time_s", time_s}, {"netns", device.netns}, {"device", device.name},
		{"sent_bps", rounded(device.sent_bps)}, {"received_bps", rounded(device.received_bps)},
		{"held_share", device.held ? Json(*device.held) : Json(nullptr)},
		{"delay_p50_ns", rounded(device.delay_p50_ns)}, {"delay_p99_ns", rounded(device.delay_p99_ns)},
		{"drops", rounded(device.drops)}, {"retransmits", rounded(device.retransmits)},
		{"timeouts", rounded(device.timeouts)}};
}

}  // namespace turnpike
