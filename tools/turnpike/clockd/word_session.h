// SPDX-License-Identifier: GPL-2.0
//
// What makes a datagram between a host and its coordinator one of now. Each says a run, a random number of its own
// since it began, and numbers its datagrams; each echoes what it heard of the other last.
//
// A datagram is believed that echoes our run, and a newer number of ours than any that was believed before, or the same
// one with a newer number of its own. What was recorded earlier has neither. So both may begin anew at any time: the
// first datagram after that is heard and not believed, and its echo is.
#ifndef TURNPIKE_TOOLS_CLOCKD_WORD_SESSION_H
#define TURNPIKE_TOOLS_CLOCKD_WORD_SESSION_H

#include <cstdint>

namespace turnpike {

// Windows for which what was said last counts, to a coordinator, to a host, and to the kernel.
constexpr unsigned kWordWindows = 3;

struct WordNumbers {
	std::uint64_t run = 0, peer_run = 0;		// 0: none was heard
	std::uint32_t number = 0, peer_number = 0;	// from 1; 0: none was heard

	bool operator==(const WordNumbers &) const = default;
};

class WordSession {
public:
	// run: random, above 0.
	explicit WordSession(std::uint64_t run) : run_(run) {}

	// Of the datagram to send now.
	WordNumbers next() { return {run_, heard_run_, ++number_, heard_number_}; }

	// False: it is not known to be of now.
	bool heard(const WordNumbers &word)
	{
		if (word.run != heard_run_ || word.number > heard_number_) {
			heard_run_ = word.run;
			heard_number_ = word.number;
		}
		bool newer = word.peer_number > echoed_ ||
			     (word.peer_number == echoed_ && word.run == believed_run_ &&
			      word.number > believed_number_);
		if (word.peer_run != run_ || word.peer_number > number_ || !newer)
			return false;
		echoed_ = word.peer_number;
		believed_run_ = word.run;
		believed_number_ = word.number;
		return true;
	}

private:
	std::uint64_t run_;
	std::uint32_t number_ = 0;
	// the newest, whether it is of now or not
	std::uint64_t heard_run_ = 0;
	std::uint32_t heard_number_ = 0;
	// the last that was believed
	std::uint64_t believed_run_ = 0;
	std::uint32_t believed_number_ = 0, echoed_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_WORD_SESSION_H
