// SPDX-License-Identifier: GPL-2.0
#include "proc_counter.h"

#include <sstream>

namespace turnpike {

std::optional<std::uint64_t> proc_counter(const std::string &text, const std::string &group, const std::string &name)
{
	std::istringstream lines(text);
	std::string titles, numbers, title, word;

	while (std::getline(lines, titles) && std::getline(lines, numbers)) {
		std::istringstream names(titles), values(numbers);

		names >> title;
		values >> word;
		if (title != group)
			continue;
		while (names >> title && values >> word)
			if (title == name)
				return std::stoull(word);
	}
	return std::nullopt;
}

}  // namespace turnpike
