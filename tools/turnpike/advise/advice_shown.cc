// SPDX-License-Identifier: GPL-2.0
#include "advice_shown.h"

#include <algorithm>
#include <cmath>

#include "../units.h"
#include "svg_plot.h"

namespace turnpike {
namespace {

Json number_or_null(const std::optional<double> &value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const AdviceRow &row)
{
	return {
		{"flows", row.flows},
		{"queue_bytes", std::round(row.queue)},
		{"queue_sd_bytes", std::round(row.deviation)},
		{"delay_ns", std::round(row.delay_s * 1e9)},
		{"margin_degrees", number_or_null(row.margin)},
		{"oscillates", row.oscillates},
		{"buffer_bytes", std::round(row.longest)},
		{"utilization", number_or_null(row.utilization)},
	};
}

Json table_json(const AdviceTable &table, const std::optional<double> &buffer)
{
	Json json = {{"law", table.law}, {"label", table.simulated ? "simulated" : "model"}, {"source", table.source},
		     {"seconds", table.seconds}, {"rows", Json::array()}, {"remarks", table.remarks}};
	unsigned beyond = buffer ? first_beyond(table, *buffer) : 0;

	for (const AdviceRow &row : table.rows)
		json["rows"].push_back(row_json(row));
	json["flows_beyond_buffer"] = beyond ? Json(beyond) : Json(nullptr);
	return json;
}

Json onramp_json(const Advice &advice)
{
	AdvisedThreshold t = onramp_threshold(advice.path.rtt_s, advice.clock_error_s);

	return {
		{"threshold_ns", std::round(t.owd_s * 1e9)},
		{"clock_error_ns", std::round(advice.clock_error_s * 1e9)},
		{"queue_threshold_ns", std::round(t.queue_s * 1e9)},
	};
}

// Of the law that comes first, at the most flows.
Json tlt_json(const Advice &advice)
{
	const AdviceRow &row = advice.tables.front().rows.back();
	TltSwitch sw = tlt_switch(advice.path.rate_bps, advice.path.rtt_s, row.longest, advice.path.buffer.value_or(1));
	Json json;

	sw.ports = advice.ports;
	sw.alpha = advice.alpha;
	TltThreshold t = tlt_threshold(sw);
	json = {{"k_bytes", std::round(t.k_bytes)},
		{"least_buffer_bytes", std::round(tlt_least_buffer(sw, t.k_bytes, row.flows))},
		{"ports", advice.ports}, {"alpha", advice.alpha}, {"flows_per_port", nullptr}};
	if (advice.path.buffer)
		json["flows_per_port"] = t.flows_per_port;
	return json;
}

Json host_json(const Advice &advice)
{
	Json json = {{"dev", advice.device}, {"peer", advice.peer}, {"differ", Json::array()}};

	for (const SettingDiffers &setting : advice.differ)
		json["differ"].push_back(
			{{"setting", setting.setting}, {"now", setting.now}, {"advised", setting.advised}});
	return json;
}

// -- text

std::string margin_text(const Json &row)
{
	const Json &margin = row.at("margin_degrees");

	return margin.is_null() ? "-" : number_text("%.0f deg", margin.get<double>());
}

std::string table_text(const Json &table)
{
	bool simulated = table.at("label") == "simulated";
	std::string text = table.at("law").get<std::string>() + ": " + table.at("label").get<std::string>() + ", " +
			   table.at("source").get<std::string>() + "; " +
			   duration_text(table.at("seconds").get<double>() * 1e9) + " of flows that go on\n";
	std::vector<Column> columns = {{"flows"}, {"queue"}, {"sd"}, {"RTT"}, {"margin"}, {"oscillates"}, {"buffer"}};

	if (simulated)
		columns.push_back({"used"});
	Table rows(columns);
	for (const Json &row : table.at("rows"))
		rows.add({std::to_string(row.at("flows").get<unsigned>()), value_text("_bytes", row.at("queue_bytes")),
			  value_text("_bytes", row.at("queue_sd_bytes")), value_text("_ns", row.at("delay_ns")),
			  margin_text(row), row.at("oscillates").get<bool>() ? "yes" : "no",
			  value_text("_bytes", row.at("buffer_bytes")),
			  simulated ? percent_text(row.at("utilization").get<double>()) : ""});
	text += rows.text();
	if (!table.at("flows_beyond_buffer").is_null())
		text += "  from " + std::to_string(table.at("flows_beyond_buffer").get<unsigned>()) +
			" flows on the queue is longer than the buffer\n";
	for (const Json &remark : table.at("remarks"))
		text += "  " + remark.get<std::string>() + "\n";
	return text + "\n";
}

std::string rules_text(const Json &json)
{
	const Json &onramp = json.at("onramp"), &tlt = json.at("tlt");
	std::string text = "On-Ramp: T is " + value_text("_ns", onramp.at("threshold_ns")) +
			   " of one-way delay (2 sigma_clk + min OWD, ONRAMP21 section 7.1, sigma_clk " +
			   value_text("_ns", onramp.at("clock_error_ns")) + ")\n" +
			   "  tc's threshold, of the queue alone, is at least " +
			   value_text("_ns", onramp.at("queue_threshold_ns")) + "\n";

	text += "TLT: K is " + value_text("_bytes", tlt.at("k_bytes")) +
		" (above steady queues and BDP, TLT21 section 4.2)\n" +
		"  with a packet of each flow that takes a buffer of " +
		value_text("_bytes", tlt.at("least_buffer_bytes")) + "\n";
	if (!tlt.at("flows_per_port").is_null())
		text += "  the buffer has room for important packets of " +
			std::to_string(tlt.at("flows_per_port").get<std::uint64_t>()) + " flows a port\n";
	return text;
}

std::string host_text(const Json &host)
{
	const Json &differ = host.at("differ");
	std::string text = differ.empty() ? "this host's settings are those that this is of\n"
					  : "this host's settings are others:\n";

	for (const Json &setting : differ)
		text += "  " + setting.at("setting").get<std::string>() + ": " + setting.at("now").get<std::string>() +
			", here " + setting.at("advised").get<std::string>() + "\n";
	return text;
}

}  // namespace

Json advice_json(const Advice &advice)
{
	Json json = {
		{"rate_bps", advice.path.rate_bps},
		{"rtt_ns", std::round(advice.path.rtt_s * 1e9)},
		{"switch_buffer_bytes", number_or_null(advice.path.buffer)},
		{"tables", Json::array()},
	};

	for (const AdviceTable &table : advice.tables)
		json["tables"].push_back(table_json(table, advice.path.buffer));
	json["onramp"] = onramp_json(advice);
	json["tlt"] = tlt_json(advice);
	json["host"] = advice.device.empty() && advice.peer.empty() ? Json(nullptr) : host_json(advice);
	return json;
}

std::string advice_text(const Json &json)
{
	std::string text = rate_text(json.at("rate_bps").get<double>()) + ", RTT " +
			   value_text("_ns", json.at("rtt_ns")) + " without a queue\n\n";

	for (const Json &table : json.at("tables"))
		text += table_text(table);
	text += rules_text(json);
	return text + (json.at("host").is_null() ? "" : host_text(json.at("host")));
}

std::string advice_plot(const Advice &advice)
{
	PlotPanel queue = {"mean queue, kB (dashed: simulated)", {}, true}, margin = {"phase margin, degrees", {}, true};
	std::vector<double> xs;

	for (const AdviceRow &row : advice.tables.front().rows)
		xs.push_back(row.flows);
	for (const AdviceTable &table : advice.tables) {
		PlotLine queues = {table.law, {}, table.simulated}, margins = queues;

		for (const AdviceRow &row : table.rows) {
			queues.points.push_back({row.flows, row.queue / 1e3});
			if (row.margin)
				margins.points.push_back({row.flows, *row.margin});
		}
		queue.lines.push_back(queues);
		margin.lines.push_back(margins);
	}
	std::string title = rate_text(advice.path.rate_bps) + ", RTT " + duration_text(advice.path.rtt_s * 1e9);
	return svg_plot(title, "flows", xs, {queue, margin});
}

}  // namespace turnpike
