// SPDX-License-Identifier: GPL-2.0
//
// Reads one JSON object member by member. Every complaint carries the path of the value, and
// done() complains about members nobody asked for: a misspelt option must not be ignored.
#pragma once

#include "config.h"

#include <cmath>
#include <set>

namespace vload
{

class ConfigReader {
public:
	using json = nlohmann::json;

	ConfigReader(const json &object, std::string path) : object_(object), path_(std::move(path))
	{
		if (!object_.is_object())
			fail_here("expected an object");
	}

	[[noreturn]] static void fail(const std::string &path, const std::string &reason)
	{
		throw ConfigError((path.empty() ? "(top level)" : path) + ": " + reason);
	}

	[[noreturn]] void fail_here(const std::string &reason) const { fail(path_, reason); }
	[[noreturn]] void fail_at(const std::string &key, const std::string &reason) const
	{
		fail(path_of(key), reason);
	}

	std::string path_of(const std::string &key) const { return path_.empty() ? key : path_ + "." + key; }

	// null counts as absent, so that a generator may write every member
	const json *find(const std::string &key)
	{
		seen_.insert(key);
		auto it = object_.find(key);
		return it == object_.end() || it->is_null() ? nullptr : &*it;
	}

	const json &need(const std::string &key)
	{
		const json *value = find(key);

		if (!value)
			fail_at(key, "missing");
		return *value;
	}

	const json &need_array(const std::string &key)
	{
		const json &value = need(key);

		if (!value.is_array())
			fail_at(key, "expected a list");
		return value;
	}

	bool has(const std::string &key) { return find(key) != nullptr; }

	double number(const std::string &key, double min, double max)
	{
		const json &value = need(key);

		if (!value.is_number())
			fail_at(key, "expected a number");
		double number = value.get<double>();
		if (!(number >= min && number <= max))
			fail_at(key, "out of range (" + format(min) + " to " + format(max) + ")");
		return number;
	}

	double number(const std::string &key, double min, double max, double fallback)
	{
		return has(key) ? number(key, min, max) : fallback;
	}

	// 1e9 is a whole number too: YAML and Python write rates so
	uint64_t integer(const std::string &key, uint64_t min, uint64_t max)
	{
		const json &value = need(key);
		double limit = static_cast<double>(max);

		if (value.is_number_unsigned()) {
			auto whole = value.get<uint64_t>();
			if (whole >= min && whole <= max)
				return whole;
		} else if (value.is_number_float()) {
			double real = value.get<double>();
			if (real != std::floor(real))
				fail_at(key, "expected a whole number");
			if (real >= static_cast<double>(min) && real <= std::min(limit, 0x1p53))
				return static_cast<uint64_t>(real);
		} else if (!value.is_number()) {
			fail_at(key, "expected a whole number");
		}
		fail_at(key, "out of range (" + std::to_string(min) + " to " + std::to_string(max) + ")");
	}

	uint64_t integer(const std::string &key, uint64_t min, uint64_t max, uint64_t fallback)
	{
		return has(key) ? integer(key, min, max) : fallback;
	}

	bool boolean(const std::string &key, bool fallback)
	{
		const json *value = find(key);

		if (!value)
			return fallback;
		if (!value->is_boolean())
			fail_at(key, "expected true or false");
		return value->get<bool>();
	}

	std::string text(const std::string &key)
	{
		const json &value = need(key);

		if (!value.is_string())
			fail_at(key, "expected a string");
		return value.get<std::string>();
	}

	std::string text(const std::string &key, const std::string &fallback)
	{
		return has(key) ? text(key) : fallback;
	}

	// A time of up to 1e6 s (11 days) in units of unit_ns
	int64_t time_ns(const std::string &key, int64_t unit_ns)
	{
		double max = 1e15 / static_cast<double>(unit_ns);

		return std::llround(number(key, 0, max) * static_cast<double>(unit_ns));
	}

	int64_t time_ns(const std::string &key, int64_t unit_ns, int64_t fallback)
	{
		return has(key) ? time_ns(key, unit_ns) : fallback;
	}

	void done() const
	{
		for (const auto &item : object_.items())
			if (!seen_.contains(item.key()))
				fail_at(item.key(), "unknown member");
	}

private:
	static std::string format(double value)
	{
		return json(value == std::floor(value) && std::fabs(value) < 1e15 ?
				    json(static_cast<int64_t>(value)) :
				    json(value))
			.dump();
	}

	const json &object_;
	std::string path_;
	std::set<std::string> seen_;
};

} // namespace vload
