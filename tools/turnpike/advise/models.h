// SPDX-License-Identifier: GPL-2.0
//
// Tables of the papers' laws, by their fluid models.
#ifndef TURNPIKE_TOOLS_ADVISE_MODELS_H
#define TURNPIKE_TOOLS_ADVISE_MODELS_H

#include "advice.h"

namespace turnpike {

// dcqcn, timely_paper, timely_patched_paper, timely_pi_paper
std::vector<std::string> model_names();

// law: one of these. Constants are those that ECNDELAY16 prints, whatever the rate.
AdviceTable model_table(const std::string &law, const AdvisedPath &path, const std::vector<unsigned> &flows);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_MODELS_H
