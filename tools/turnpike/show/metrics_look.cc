// SPDX-License-Identifier: GPL-2.0
#include "metrics_look.h"

#include <ctime>
#include <map>
#include <string>

#include "../clockd/clockd_shown.h"
#include "../modules.h"
#include "../monotonic.h"
#include "../process.h"
#include "../setup/host.h"
#include "namespaces.h"
#include "status.h"
#include "timely_counters.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
// Names by the number that the kernel gives a namespace.
using Numbers = std::map<ino_t, std::string>;

void add_counters(Json &one, bool onramp)
{
	one["timely_counters"] = timely_counters();
	one["receipts"] = onramp ? answer_if_any({"onramp", "stats"}) : Json();
	// They begin anew when TLT does.
	one["tlt_counters"] = one["tlt"].is_null() ? Json() : answer_if_any({"tlt", "stats"});
}

Json modules_json()
{
	Json list = Json::array();

	for (const ModuleState &module : module_states())
		list.push_back({{"name", module.name}, {"loaded", module.loaded.has_value()}, {"stale", module.stale()}});
	return list;
}

// The kernel tells a device's namespace by number; the name stays where it has one.
Json stamps_json(const Numbers &names)
{
	Json ports = answer_if_any({"stamps", "devices"});

	if (!ports.is_array())
		return Json::array();
	for (Json &port : ports) {
		auto number = port.at("netns").get<ino_t>();
		auto found = names.find(number);

		port["netns_name"] = found == names.end() ? "number " + std::to_string(number) : found->second;
	}
	return ports;
}

}  // namespace

Json look_at_metrics()
{
	std::set<std::string> modules = loaded_modules();
	Numbers names;

	Json seen = look_at_status([&](Json &one) {
		names[number_of_namespace()] = one["netns"];
		add_counters(one, modules.count("sch_onramp"));
	});
	seen["modules"] = modules_json();
	seen["stamps"] = modules.count("nicstamp") ? stamps_json(names) : Json::array();
	seen["clockd"] = clockd_summary(read_clockd_state(kClockdState, monotonic_ns()));
	seen["time_s"] = std::time(nullptr);
	return seen;
}

}  // namespace turnpike
