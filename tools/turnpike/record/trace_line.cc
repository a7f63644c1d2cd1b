// SPDX-License-Identifier: GPL-2.0
#include "trace_line.h"

#include <charconv>

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// What is longer has no end: a line of the kernel's is at most a page.
constexpr std::size_t kLineMost = 1 << 16;

template <typename Number> std::optional<Number> number(std::string_view text)
{
	Number value = 0;
	auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	if (text.empty() || error != std::errc() || rest != text.data() + text.size())
		return std::nullopt;
	return value;
}

// "123.456789" in ns; the kernel prints six digits behind the point.
std::optional<std::uint64_t> time_ns(std::string_view text)
{
	constexpr std::uint64_t kMostS = 1ULL << 33;	// 272 years
	std::size_t point = text.find('.');

	if (point == text.npos || text.size() - point != 7)
		return std::nullopt;
	auto seconds = number<std::uint64_t>(text.substr(0, point)), us = number<std::uint64_t>(text.substr(point + 1));
	if (!seconds || !us || *seconds > kMostS)
		return std::nullopt;
	return *seconds * 1000000000 + *us * 1000;
}

Json value_of(std::string_view text)
{
	// IPv4, as IPv6 has it.
	constexpr std::string_view kMapped = "::ffff:";

	if (auto whole = number<std::uint64_t>(text))
		return *whole;
	if (auto whole = number<std::int64_t>(text))
		return *whole;
	if (text.starts_with(kMapped) && text.find('.') != text.npos)
		text.remove_prefix(kMapped.size());
	return std::string(text);
}

std::string_view cut_word(std::string_view &text)
{
	std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
	std::size_t end = std::min(text.find(' ', begin), text.size());
	std::string_view word = text.substr(begin, end - begin);

	text.remove_prefix(end);
	return word;
}

// "dst=10.1.0.2 sport=5001 capped"
void add_fields(Json &event, std::string_view text)
{
	for (std::string_view word = cut_word(text); !word.empty(); word = cut_word(text)) {
		std::size_t equals = word.find('=');

		if (equals == word.npos)
			event[std::string(word)] = true;
		else
			event[std::string(word.substr(0, equals))] = value_of(word.substr(equals + 1));
	}
}

}  // namespace

const std::vector<std::string> kTraceEvents = {"timely_decision", "onramp_sample", "onramp_send"};

std::optional<Json> trace_event(std::string_view line)
{
	for (const std::string &name : kTraceEvents) {
		std::string mark = ": " + name + ": ";
		// The last: before it stands the name of a process, which may be anything.
		std::size_t at = line.rfind(mark);

		if (at == line.npos)
			continue;
		std::string_view head = line.substr(0, at);
		auto when_ns = time_ns(head.substr(head.rfind(' ') + 1));
		if (!when_ns)
			return std::nullopt;
		Json event = {{"event", name}, {"t_ns", *when_ns}};
		add_fields(event, line.substr(at + mark.size()));
		return event;
	}
	return std::nullopt;
}

std::uint64_t lost_events(std::string_view stats)
{
	std::uint64_t lost = 0;

	for (std::string_view name : {"\noverrun: ", "\ncommit overrun: ", "\ndropped events: "}) {
		std::size_t at = stats.find(name);
		if (at == stats.npos)
			continue;
		std::string_view rest = stats.substr(at + name.size());
		lost += number<std::uint64_t>(rest.substr(0, rest.find('\n'))).value_or(0);
	}
	return lost;
}

std::optional<std::string_view> Lines::next()
{
	std::size_t end = text_.find('\n', begin_);

	if (end == text_.npos) {
		text_.erase(0, begin_);
		begin_ = 0;
		if (text_.size() > kLineMost)
			text_.clear();
		return std::nullopt;
	}
	std::string_view line = std::string_view(text_).substr(begin_, end - begin_);
	begin_ = end + 1;
	return line;
}

}  // namespace turnpike
