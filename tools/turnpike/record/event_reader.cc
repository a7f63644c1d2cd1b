// SPDX-License-Identifier: GPL-2.0
#include "event_reader.h"

#include "tracing.h"

namespace turnpike {
namespace {

// The kernel wakes nobody before its buffer is half full, and a recording that ends waits for this.
constexpr int kWaitMs = 50;

}  // namespace

void EventTaker::add(const std::string &text)
{
	lines_.add(text);
	while (auto line = lines_.next()) {
		auto event = trace_event(*line);

		if (event && taken_ < most_) {
			take_(*event);
			taken_++;
		} else if (event) {
			beyond_++;
		}
	}
}

EventReader::EventReader(Tracing &tracing, std::uint64_t most, EventTaker::Take take)
	: tracing_(tracing), taker_(most, std::move(take)), thread_([this] { run(); })
{
}

EventReader::~EventReader()
{
	join();
}

void EventReader::run()
{
	try {
		while (!ending_)
			taker_.add(tracing_.read(kWaitMs));
	} catch (...) {
		reason_ = std::current_exception();
		failed_ = true;
	}
}

void EventReader::join()
{
	ending_ = true;
	if (thread_.joinable())
		thread_.join();
}

void EventReader::end(Summary &summary)
{
	join();
	if (failed_)
		std::rethrow_exception(reason_);
	tracing_.stop();
	for (std::string text = tracing_.read(0); !text.empty(); text = tracing_.read(0))
		taker_.add(text);
	summary.events = taker_.taken();
	summary.lost_limit = taker_.beyond();
	summary.lost_buffer = tracing_.lost();
}

}  // namespace turnpike
