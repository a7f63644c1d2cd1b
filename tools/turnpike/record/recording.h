// SPDX-License-Identifier: GPL-2.0
//
// The file of `turnpike record': gzip of a JSON object a line, of which turnpike-record(1) tells.
#ifndef TURNPIKE_TOOLS_RECORD_RECORDING_H
#define TURNPIKE_TOOLS_RECORD_RECORDING_H

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

struct gzFile_s;

namespace turnpike {

inline constexpr int kRecordingVersion = 1;

// Writes to a file beside it, which takes its name at the end; without an end nothing is left. Any thread may add.
class RecordingWriter {
public:
	// Throws Error where the file is there and is not to be replaced, or cannot be made.
	RecordingWriter(const std::string &path, bool replace);
	~RecordingWriter();
	RecordingWriter(const RecordingWriter &) = delete;
	RecordingWriter &operator=(const RecordingWriter &) = delete;

	// A name that is no UTF-8 is recorded with what stands for that.
	void add(const nlohmann::ordered_json &object);

	// Its size in bytes.
	std::uint64_t finish();

private:
	std::string path_, part_;
	bool replace_;
	std::mutex mutex_;
	gzFile_s *file_ = nullptr;
};

// Each object in the order of the file, the first of which is the header. Throws Error where it is no recording, was
// made by a later turnpike, or ends early.
void read_recording(const std::string &path, const std::function<void(const nlohmann::ordered_json &)> &each);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_RECORDING_H
