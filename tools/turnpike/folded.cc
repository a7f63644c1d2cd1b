// SPDX-License-Identifier: GPL-2.0
#include "folded.h"

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

namespace turnpike {
namespace {

// Where a line that is too long ends; npos: nowhere before its end. @head: spaces that it begins with.
std::size_t fold_of(const std::string &line, unsigned columns, std::size_t head)
{
	std::size_t at = line.rfind(' ', columns);

	if (at == std::string::npos || at < head)
		at = line.find(' ', head);
	return at;
}

std::string folded_line(std::string line, unsigned columns, unsigned indent)
{
	std::size_t head = line.find_first_not_of(' ');
	std::string text;

	while (line.size() > columns && head != std::string::npos) {
		std::size_t at = fold_of(line, columns, head);

		if (at == std::string::npos)
			break;
		text += line.substr(0, at) + '\n';
		line = std::string(indent, ' ') + line.substr(at + 1);
		head = indent;
	}
	return text + line;
}

}  // namespace

unsigned screen_columns()
{
	winsize size = {};

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

std::string folded(const std::string &text, unsigned columns, unsigned indent)
{
	std::string all;

	if (columns <= indent)
		return text;
	for (std::size_t begin = 0; begin < text.size();) {
		std::size_t end = std::min(text.find('\n', begin), text.size());

		all += folded_line(text.substr(begin, end - begin), columns, indent);
		if (end < text.size())
			all += '\n';
		begin = end + 1;
	}
	return all;
}

}  // namespace turnpike
