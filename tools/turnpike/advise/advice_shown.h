// SPDX-License-Identifier: GPL-2.0
//
// An advice as JSON, as text made of that, and as a plot.
#ifndef TURNPIKE_TOOLS_ADVISE_ADVICE_SHOWN_H
#define TURNPIKE_TOOLS_ADVISE_ADVICE_SHOWN_H

#include "../shown.h"
#include "advice.h"
#include "rules.h"
#include "this_host.h"

namespace turnpike {

struct Advice {
	AdvisedPath path = {};
	std::vector<AdviceTable> tables = {};
	double clock_error_s = 0;
	unsigned ports = 1;
	double alpha = 1;
	std::string device = {}, peer = {};	// empty: no host was looked at
	std::vector<SettingDiffers> differ = {};
};

Json advice_json(const Advice &advice);
std::string advice_text(const Json &json);
std::string advice_plot(const Advice &advice);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_ADVICE_SHOWN_H
