// SPDX-License-Identifier: GPL-2.0
#include "onramp.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

namespace turnpike {
namespace {

int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

constexpr unsigned kKeysMax = 2;

OnrampNumberedKey numbered_key(const std::string &line)
{
	std::istringstream words(line);
	std::string first, second, more;

	words >> first >> second >> more;
	if (!more.empty())
		throw Error("a line of a key file has a number and a key, or a key");
	if (second.empty())
		return {1, onramp_key(first)};
	unsigned id = 0;
	auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), id);
	if (error != std::errc() || end != first.data() + first.size() || id < 1 || id > 255)
		throw Error("the number of a key is 1 to 255");
	return {id, onramp_key(second)};
}

[[noreturn]] void fail(const std::string &what)
{
	throw Error(what + ": " + std::strerror(errno));
}

void refuse_if_shown(const std::string &path)
{
	struct stat st {};

	if (stat(path.c_str(), &st))
		fail(path);
	if (st.st_mode & 077)
		throw Error(path + " can be read by others: chmod 600 " + path);
}

}  // namespace

OnrampKey onramp_key(const std::string &text)
{
	std::size_t first = text.find_first_not_of(" \t\r\n");
	std::size_t last = text.find_last_not_of(" \t\r\n");
	OnrampKey key{};

	if (first == std::string::npos || last - first + 1 != 2 * key.size())
		throw Error("a key has 32 hexadecimal digits");
	for (std::size_t i = 0; i < 2 * key.size(); i++) {
		int value = digit(text[first + i]);
		if (value < 0)
			throw Error("a key has 32 hexadecimal digits and nothing else");
		key[i / 2] = static_cast<std::uint8_t>(key[i / 2] << 4 | value);
	}
	return key;
}

std::string onramp_new_key()
{
	static const char digits[] = "0123456789abcdef";
	OnrampKey key;
	std::string text;

	if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
		fail("no random numbers");
	for (std::uint8_t byte : key) {
		text += digits[byte >> 4];
		text += digits[byte & 15];
	}
	return text;
}

std::vector<OnrampNumberedKey> onramp_key_file(const std::string &path)
{
	std::vector<OnrampNumberedKey> keys;
	std::string line;

	refuse_if_shown(path);
	std::ifstream file(path);
	while (std::getline(file, line)) {
		std::size_t first = line.find_first_not_of(" \t\r");
		if (first != std::string::npos && line[first] != '#')
			keys.push_back(numbered_key(line));
	}
	if (!file.eof())
		throw Error("cannot read keys from " + path);
	if (keys.empty() || keys.size() > kKeysMax)
		throw Error(path + " has to have one key, or two");
	if (keys.size() == kKeysMax && keys[0].id == keys[1].id)
		throw Error(path + " has two keys of one number");
	return keys;
}

void onramp_write_new_key(const std::string &path)
{
	std::string text = onramp_new_key() + '\n';
	std::error_code ignored;

	// If it cannot be made, neither can the file, which says why.
	std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
	int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		fail(path);
	bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
		       !fsync(fd);
	if (close(fd) || !written) {
		int error = errno;
		unlink(path.c_str());
		errno = error;
		fail(path);
	}
}

std::string onramp_address_text(const void *address)
{
	auto *six = static_cast<const in6_addr *>(address);
	char text[INET6_ADDRSTRLEN] = "?";

	if (IN6_IS_ADDR_V4MAPPED(six))
		inet_ntop(AF_INET, six->s6_addr + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, six, text, sizeof(text));
	return text;
}

OnrampAddress onramp_address(const std::string &text)
{
	OnrampAddress address{};

	if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1)
		return address;
	if (inet_pton(AF_INET, text.c_str(), address.data() + 12) != 1)
		throw Error("'" + text + "' is no IPv4 or IPv6 address");
	std::fill(address.begin() + 10, address.begin() + 12, 0xff);
	return address;
}

onramp_ask onramp_prefix(const std::string &text)
{
	std::size_t slash = text.find('/');
	OnrampAddress address = onramp_address(text.substr(0, slash));
	unsigned mapped = IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr *>(address.data())) ? 96 : 0;
	unsigned bits = 128 - mapped;
	onramp_ask prefix{};

	if (slash != std::string::npos) {
		const char *first = text.data() + slash + 1, *last = text.data() + text.size();
		auto [end, error] = std::from_chars(first, last, bits);
		if (first == last || end != last || error != std::errc() || bits > 128 - mapped)
			throw Error("'" + text + "' is no prefix, as 10.0.0.0/8 is");
	}
	prefix.bits = mapped + bits;
	std::copy(address.begin(), address.end(), prefix.address);
	for (unsigned i = prefix.bits; i < 128; i++) {
		if (prefix.address[i / 8] & 0x80 >> i % 8)
			throw Error("'" + text + "' has bits beyond the prefix");
	}
	return prefix;
}

std::string onramp_prefix_text(const onramp_ask &prefix)
{
	bool mapped = IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr *>(prefix.address)) &&
		      prefix.bits >= 96;

	return onramp_address_text(prefix.address) + '/' + std::to_string(prefix.bits - (mapped ? 96 : 0));
}

std::int64_t onramp_time_ns(const std::string &text)
{
	static const std::map<std::string, std::int64_t> units = {
		{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	std::int64_t value = 0, ns = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	auto unit = units.find(std::string(end, text.data() + text.size()));

	if (error != std::errc() || unit == units.end())
		throw Error("'" + text + "' is no time: a whole number, and ns, us, ms or s if it is "
			    "not nanoseconds");
	if (__builtin_mul_overflow(value, unit->second, &ns))
		throw Error("'" + text + "' is too long a time");
	return ns;
}

}  // namespace turnpike
