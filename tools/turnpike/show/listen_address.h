// SPDX-License-Identifier: GPL-2.0
//
// Where metrics are served: an address of this host alone, unless somebody says otherwise.
#ifndef TURNPIKE_TOOLS_SHOW_LISTEN_ADDRESS_H
#define TURNPIKE_TOOLS_SHOW_LISTEN_ADDRESS_H

#include <string>

namespace turnpike {

// "127.0.0.1:9733" or "[::1]:9733", as it is listened on. Throws Error for what is none, and for an address that others
// reach unless anywhere.
std::string listen_address(const std::string &text, bool anywhere);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_LISTEN_ADDRESS_H
