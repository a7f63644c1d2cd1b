// SPDX-License-Identifier: GPL-2.0
#include "tlt_shown.h"

#include "shown.h"
#include "tlt.h"
#include "units.h"

namespace turnpike {
namespace {

std::string rule_text(const Json &rule)
{
	std::string text;

	for (const auto &[name, value] : rule.items())
		text += (text.empty() ? "" : ",") + name + '=' + value.get<std::string>();
	return text;
}

// "12 / 1.50 kB": packets and bytes that a flow sent; empty fields of a module of before it had them.
ShownColumn sent_column(const char *kind)
{
	return {kind, Align::right, When::verbose, [kind](const Json &flow) -> std::string {
		if (!flow.contains("sent"))
			return "-";
		const Json &sent = flow["sent"][kind];
		return sent["packets"].dump() + " / " + value_text("sent_bytes", sent["bytes"]);
	}};
}

std::vector<ShownColumn> flow_columns()
{
	std::vector<ShownColumn> columns = {
		end_column("local", "local", "local_port"),
		end_column("remote", "remote", "remote_port"),
		word_column("peer", "peer"),
		value_column("important", "important"),
		value_column("echoes", "echoes"),
		value_column("injected", "injected"),
		value_column("rtos", "rtos"),
		value_column("idle", "idle_ns"),
	};

	for (const char *kind : kTltKinds)
		columns.push_back(sent_column(kind));
	for (const char *name : kTltFlowStats)
		columns.push_back(value_column(name, name, When::verbose));
	return columns;
}

std::string kinds_text(const Json &stats)
{
	Json kinds = Json::array();

	for (const char *kind : kTltKinds)
		kinds.push_back({{"kind", kind}, {"sent", stats["sent"][kind]["packets"]},
				 {"sent_bytes", stats["sent"][kind]["bytes"]}, {"received", stats["received"][kind]}});
	return list_text(kinds, {
		word_column("kind", "kind"), value_column("sent", "sent"),
		value_column("sent_bytes", "sent_bytes"), value_column("received", "received"),
	}, true);
}

}  // namespace

std::string tlt_config_text(const Json &config)
{
	Json settings = {{"TLT", config["enabled"] ? "on" : "off"}};
	std::string rules;

	if (!config["enabled"])
		return settings_text(settings);
	for (const char *name : {"map", "clock", "sender", "period", "foreign"})
		settings[name] = config[name];
	settings["packets"] = config["rules"].empty() ? "all TCP of this namespace" : "TCP that one of these rules meets:";
	for (const Json &rule : config["rules"])
		rules += "  --rule " + printable(rule_text(rule)) + '\n';
	return settings_text(settings) + rules;
}

std::string tlt_stats_text(const Json &stats, bool all)
{
	Json others = stats;

	others.erase("sent");
	others.erase("received");
	return kinds_text(stats) + '\n' + counters_text(others, all);
}

std::string tlt_flows_text(const Json &flows, bool all)
{
	return list_text(flows, flow_columns(), all);
}

}  // namespace turnpike
