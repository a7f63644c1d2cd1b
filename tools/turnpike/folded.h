// SPDX-License-Identifier: GPL-2.0
//
// Long lines for the terminal that people look at.
#ifndef TURNPIKE_TOOLS_FOLDED_H
#define TURNPIKE_TOOLS_FOLDED_H

#include <string>

namespace turnpike {

// Columns of the terminal that standard output is; 0: it is none, and what reads it wants whole lines.
unsigned screen_columns();

// Lines of more than columns characters go on in the next one, at a space, with so many spaces before
// them. 0 columns: text as it is. A word that is longer than a line stays whole.
std::string folded(const std::string &text, unsigned columns, unsigned indent);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_FOLDED_H
