// SPDX-License-Identifier: GPL-2.0
//
// Takes the trace's events into the recording all the time, also while a look goes on.
#ifndef TURNPIKE_TOOLS_RECORD_EVENT_READER_H
#define TURNPIKE_TOOLS_RECORD_EVENT_READER_H

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "summary.h"
#include "trace_line.h"

namespace turnpike {

// Events of text that comes in pieces, up to a limit; beyond it they are counted alone.
class EventTaker {
public:
	using Take = std::function<void(const nlohmann::ordered_json &)>;

	EventTaker(std::uint64_t most, Take take) : most_(most), take_(std::move(take)) {}

	void add(const std::string &text);

	std::uint64_t taken() const { return taken_; }
	std::uint64_t beyond() const { return beyond_; }

private:
	std::uint64_t most_, taken_ = 0, beyond_ = 0;
	Take take_;
	Lines lines_;
};

class Tracing;

// A thread of its own from here to end().
class EventReader {
public:
	EventReader(Tracing &tracing, std::uint64_t most, EventTaker::Take take);
	~EventReader();

	// It could not go on: end() throws the reason.
	bool failed() const { return failed_; }

	// Turns the events off, and takes what is there.
	void end(Summary &summary);

private:
	void run();
	void join();

	Tracing &tracing_;
	EventTaker taker_;
	std::atomic<bool> ending_ = false, failed_ = false;
	std::exception_ptr reason_;
	std::thread thread_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_EVENT_READER_H
