// SPDX-License-Identifier: GPL-2.0
//
// Tables of the laws that this tree ships, by packets through the model of a rack.
#ifndef TURNPIKE_TOOLS_ADVISE_SIMULATED_H
#define TURNPIKE_TOOLS_ADVISE_SIMULATED_H

#include "advice.h"

struct timely_params;

namespace turnpike {

// law: timely, timely_patched or timely_pi, with the settings that the module has by default.
AdviceTable simulated_table(const std::string &law, const AdvisedPath &path, const std::vector<unsigned> &flows);

// The same of one number of flows, with any settings; seconds: of it, two fifths go by before it counts.
AdviceRow simulated_row(const timely_params &params, const AdvisedPath &path, unsigned flows, double seconds);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_SIMULATED_H
