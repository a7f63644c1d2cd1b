// SPDX-License-Identifier: GPL-2.0
//
// Rates and numbers of flows as people write them.
#ifndef TURNPIKE_TOOLS_ADVISE_ASKED_PATH_H
#define TURNPIKE_TOOLS_ADVISE_ASKED_PATH_H

#include <string>
#include <vector>

namespace turnpike {

// "25G", "2.5Gbit", "100M", "1000000000": bits a second, 10 Mbit/s to 1.6 Tbit/s. Throws Error.
double asked_rate_bps(const std::string &text);

// "4..200" as five numbers with equal factors between them; "2,10,40"; "8". 1 to 1000. Throws Error.
std::vector<unsigned> asked_flows(const std::string &text);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_ASKED_PATH_H
