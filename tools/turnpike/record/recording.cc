// SPDX-License-Identifier: GPL-2.0
#include "recording.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../command.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// A look at a thousand connections has a megabyte.
constexpr std::size_t kLineMost = 64 << 20;
// Fast: the trace must not wait.
constexpr char kMode[] = "wb4";

std::string reason() { return std::strerror(errno); }

bool is_there(const std::string &path, bool *regular)
{
	struct stat found = {};

	if (lstat(path.c_str(), &found))
		return false;
	*regular = S_ISREG(found.st_mode);
	return true;
}

void check_free(const std::string &path, bool replace)
{
	bool regular = true;

	if (!is_there(path, &regular))
		return;
	if (!regular)
		throw Error(path + " is there, and is no regular file");
	if (!replace)
		throw Error(path + " is there already (--force replaces it)");
}

// Not all file systems can refuse what is there: those are asked before.
void rename_to(const std::string &part, const std::string &path, bool replace)
{
	if (!replace) {
		if (!renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE))
			return;
		if (errno != EINVAL && errno != ENOSYS)
			throw Error(path + ": " + reason());
		check_free(path, false);
	}
	if (std::rename(part.c_str(), path.c_str()))
		throw Error(path + ": " + reason());
}

// One line without its end; nothing at the end of the file.
std::optional<std::string> next_line(gzFile file, const std::string &path)
{
	std::string line;
	char room[1 << 16];

	while (gzgets(file, room, sizeof(room))) {
		line += room;
		if (line.size() > kLineMost)
			throw Error(path + ": a line has no end");
		if (line.ends_with('\n')) {
			line.pop_back();
			return line;
		}
	}
	int number = Z_OK;
	gzerror(file, &number);
	// gzgets() gives what is there before it says so.
	if (!line.empty() || (number != Z_OK && number != Z_STREAM_END))
		throw Error(path + (number == Z_DATA_ERROR ? ": is damaged" : ": ends early"));
	return std::nullopt;
}

void check_header(const Json &header, const std::string &path)
{
	auto version = header.find("turnpike_recording");

	if (version == header.end() || !version->is_number_unsigned())
		throw Error(path + ": is no recording of turnpike");
	if (*version > kRecordingVersion)
		throw Error(path + ": a later turnpike made it; this one reads version " + std::to_string(kRecordingVersion));
}

Json object_of(const std::string &line, const std::string &path, std::uint64_t number)
{
	Json object = Json::parse(line, nullptr, false);

	if (!object.is_object())
		throw Error(path + (number == 1 ? ": is no recording of turnpike" :
						  ": line " + std::to_string(number) + " is no JSON object"));
	return object;
}

}  // namespace

RecordingWriter::RecordingWriter(const std::string &path, bool replace)
	: path_(path), part_(path + "." + std::to_string(getpid()) + ".part"), replace_(replace)
{
	check_free(path, replace);
	int fd = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		throw Error(part_ + ": " + reason());
	file_ = gzdopen(fd, kMode);
	if (!file_) {
		close(fd);
		unlink(part_.c_str());
		throw Error(part_ + ": no memory to compress with");
	}
}

RecordingWriter::~RecordingWriter()
{
	if (file_)
		gzclose(file_);
	if (!part_.empty())
		unlink(part_.c_str());
}

void RecordingWriter::add(const Json &object)
{
	std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
	std::lock_guard lock(mutex_);

	if (gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) <= 0)
		throw Error(part_ + ": " + reason());
}

std::uint64_t RecordingWriter::finish()
{
	std::lock_guard lock(mutex_);
	gzFile file = file_;
	struct stat found = {};

	file_ = nullptr;
	if (gzclose(file) != Z_OK)
		throw Error(part_ + ": " + reason());
	rename_to(part_, path_, replace_);
	part_.clear();
	stat(path_.c_str(), &found);
	return static_cast<std::uint64_t>(found.st_size);
}

void read_recording(const std::string &path, const std::function<void(const Json &)> &each)
{
	std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rbe"), gzclose);
	std::uint64_t number = 0;

	if (!file)
		throw Error(path + ": " + reason());
	while (auto line = next_line(file.get(), path)) {
		Json object = object_of(*line, path, ++number);

		if (number == 1)
			check_header(object, path);
		each(object);
	}
	if (!number)
		throw Error(path + ": is empty");
}

}  // namespace turnpike
