// SPDX-License-Identifier: GPL-2.0
//
// Routes whose TCP timestamps count microseconds.
#ifndef TURNPIKE_TOOLS_USEC_TS_H
#define TURNPIKE_TOOLS_USEC_TS_H

#include <string>
#include <vector>

namespace turnpike {

// By its exact destination: those of the main table by a device, or all of all tables if that is empty.
struct UsecRoute {
	std::string destination, device;
	long metric = -1;		// -1: any
};

// Each of them counts microseconds, or no longer does. The kernel's routes are read once for each family, however many
// are meant. Throws Error, before anything is changed, where there is no such route.
void set_usec(const std::vector<UsecRoute> &routes, bool on);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_USEC_TS_H
