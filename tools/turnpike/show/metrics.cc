// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

#include <algorithm>
#include <span>

#include <prometheus/text_serializer.h>

#include "../units.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr MetricType kGauge = MetricType::Gauge, kCounter = MetricType::Counter;

// A series of an object: where its value stands. Lines of one name stand together, and are a family.
struct Series {
	const char *name;
	MetricType type;
	const char *help;
	const char *where;		// a JSON pointer; what is not there or null has no series
	double unit = 1;
	const char *label = nullptr;	// besides those of the object
	const char *value = nullptr;
};

constexpr Series kOfHost[] = {
	{"turnpike_metrics_time_seconds", kGauge, "When these were read, in seconds since 1970.", "/time_s"},
	{"turnpike_metrics_left_out", kGauge, "Devices and network namespaces without series, as there are too many.", "/left_out"},
};

constexpr Series kOfModule[] = {
	{"turnpike_module_loaded", kGauge, "Is the module loaded?", "/loaded"},
	{"turnpike_module_mismatch", kGauge, "Is the module loaded in another version than the one on disk?", "/stale"},
};

constexpr Series kOfNamespace[] = {
	{"turnpike_setup_differs", kGauge, "Settings that are not any more as turnpike up made them.", "/setup/differs"},
	{"turnpike_tcp_other_flows", kGauge, "Open connections of other congestion controls.", "/timely/other_flows"},
	{"turnpike_timely_flows", kGauge, "Open connections of timely, timely_patched and timely_pi.", "/timely/flows"},
	{"turnpike_flows_at_floor", kGauge, "Those of timely's that are at the least rate.", "/timely/at_floor"},
	{"turnpike_timely_rtt_seconds", kGauge, "Smoothed round-trip times of timely's open connections.",
	 "/timely/rtt_p50_ns", 1e-9, "percentile", "50"},
	{"turnpike_timely_rtt_seconds", kGauge, nullptr, "/timely/rtt_p99_ns", 1e-9, "percentile", "99"},
	{"turnpike_timely_retransmits", kGauge, "Segments that timely's open connections sent again.", "/timely/retransmits"},
	{"turnpike_timely_samples_total", kCounter, "Round-trip times that timely decided by.", "/timely_counters/samples"},
	{"turnpike_timely_samples_high_total", kCounter, "Those above T_high.", "/timely_counters/events_high"},
	{"turnpike_timely_timeouts_total", kCounter, "Retransmission timeouts of timely's connections.", "/timely_counters/rtos"},
	{"turnpike_peers", kGauge, "Hosts that data went to: answering ones send receipts, silent ones never did.",
	 "/peers/answering", 1, "state", "answering"},
	{"turnpike_peers", kGauge, nullptr, "/peers/silent", 1, "state", "silent"},
	{"turnpike_receipts_sent_total", kCounter, "Datagrams with receipts that were sent.", "/receipts/receipts_sent"},
	{"turnpike_receipts_taken_total", kCounter, "Datagrams with receipts that were taken.", "/receipts/receipts_taken"},
	{"turnpike_receipts_refused_total", kCounter, "Refused for a wrong signature (mac) or an unknown key.",
	 "/receipts/refused_mac", 1, "reason", "mac"},
	{"turnpike_receipts_refused_total", kCounter, nullptr, "/receipts/refused_key", 1, "reason", "key"},
	{"turnpike_tlt_flows", kGauge, "Connections of TLT.", "/tlt/flows"},
	{"turnpike_tlt_deaf_flows", kGauge, "Those whose peer answers no mark.", "/tlt/deaf"},
	{"turnpike_tlt_timeouts_total", kCounter, "Retransmission timeouts of TLT's connections.", "/tlt_counters/rtos"},
	{"turnpike_tlt_important_packets_total", kCounter, "Packets with data that were sent as important.",
	 "/tlt_counters/sent/data/packets"},
	{"turnpike_tlt_injected_total", kCounter, "Clock data sent: a byte, or a segment.", "/tlt_counters/injected_byte", 1, "size", "byte"},
	{"turnpike_tlt_injected_total", kCounter, nullptr, "/tlt_counters/injected_segment", 1, "size", "segment"},
	{"turnpike_tlt_flows_refused_total", kCounter, "Connections that TLT had no room for.", "/tlt_counters/flows_refused"},
};

constexpr Series kOfDevice[] = {
	{"turnpike_onramp_queues", kGauge, "Queues of the device with onramp.", "/queues"},
	{"turnpike_onramp_flows", kGauge, "Flows with feedback.", "/flows"},
	{"turnpike_onramp_delay_seconds", kGauge, "Queueing delays of the recent past, by feedback.", "/delay_p50_ns", 1e-9,
	 "percentile", "50"},
	{"turnpike_onramp_delay_seconds", kGauge, nullptr, "/delay_p99_ns", 1e-9, "percentile", "99"},
	{"turnpike_onramp_packets_total", kCounter, "Packets that left.", "/packets"},
	{"turnpike_onramp_held_packets_total", kCounter, "Packets that a pause kept from leaving.", "/held_packets"},
	{"turnpike_onramp_held_seconds_total", kCounter, "Sum of the times that pauses kept packets.", "/held_ns", 1e-9},
	{"turnpike_onramp_drops_total", kCounter, "Packets that were dropped.", "/drops"},
	{"turnpike_onramp_samples_total", kCounter, "Delays that feedback told.", "/samples"},
	{"turnpike_onramp_pauses_total", kCounter, "Samples that asked for a pause.", "/pauses"},
	{"turnpike_onramp_feedback_timeouts_total", kCounter, "Pauses that ended as feedback stopped.", "/timeouts"},
	{"turnpike_onramp_coarse_total", kCounter, "Connections whose peer's timestamps count milliseconds.", "/coarse"},
};

constexpr Series kOfStamps[] = {
	{"turnpike_stamps_error_seconds", kGauge, "Error of the NIC's clock against the host's.", "/error_ns", 1e-9},
	{"turnpike_stamps_wanted_total", kCounter, "Transmit stamps that were asked for.", "/stats/wanted"},
	{"turnpike_stamps_taken_total", kCounter, "Transmit stamps that came.", "/stats/tx"},
	{"turnpike_stamps_acks_total", kCounter, "ACKs that made a round-trip time of one.", "/stats/rx"},
	{"turnpike_stamps_clock_steps_total", kCounter, "Steps of the NIC's or the host's clock.", "/stats/steps"},
};

// Of clockd, which tells of this host's peers; those of a daemon that does not run are left out but for the first.
constexpr Series kOfClockd[] = {
	{"turnpike_clockd_running", kGauge, "Has clockd said something within three windows?", "/running"},
	{"turnpike_clockd_peers", kGauge, "Hosts whose clocks clockd told On-Ramp (told), that do not answer it (silent), or that are "
	 "in other trouble (troubled).", "/told", 1, "state", "told"},
	{"turnpike_clockd_peers", kGauge, nullptr, "/silent", 1, "state", "silent"},
	{"turnpike_clockd_peers", kGauge, nullptr, "/troubled", 1, "state", "troubled"},
	{"turnpike_clockd_error_seconds", kGauge, "Errors that clockd tells of peers' clocks.", "/error_p50_ns", 1e-9, "percentile", "50"},
	{"turnpike_clockd_error_seconds", kGauge, nullptr, "/error_max_ns", 1e-9, "percentile", "100"},
	{"turnpike_clockd_surplus_seconds", kGauge, "What loops of the mesh have over, of edges of this host.", "/surplus_p50_ns", 1e-9,
	 "percentile", "50"},
	{"turnpike_clockd_surplus_seconds", kGauge, nullptr, "/surplus_max_ns", 1e-9, "percentile", "100"},
	{"turnpike_clockd_coordinator_answers", kGauge, "Does clockd's coordinator answer, and know this host's clock?", "/answered"},
	{"turnpike_clockd_mesh_hosts", kGauge, "Hosts of the mesh that report, and whose clocks are known.",
	 "/coordinator/hosts_reporting", 1, "state", "reporting"},
	{"turnpike_clockd_mesh_hosts", kGauge, nullptr, "/coordinator/hosts_known", 1, "state", "known"},
	{"turnpike_clockd_mesh_edges", kGauge, "Pairs of hosts of the mesh that probe each other.", "/coordinator/edges"},
	{"turnpike_clockd_mesh_edges_left_out", kGauge, "Those that do not fit the others.", "/coordinator/edges_left_out"},
	{"turnpike_clockd_refused_total", kCounter, "Datagrams that clockd refused: strangers', of another key, broken, or old.",
	 "/refused"},
};

double number_of(const Json &value)
{
	if (value.is_array())
		return value.size();
	if (value.is_boolean())
		return value.get<bool>();
	return value.get<double>();
}

// Null where there is none.
Json value_at(const Json &object, const char *where)
{
	Json::json_pointer pointer(where);

	return object.contains(pointer) ? object.at(pointer) : Json();
}

// Prometheus takes nothing of a host that tells one series twice; names that were made printable may be the same.
bool has(const MetricFamily &family, const Labels &labels)
{
	return std::any_of(family.metric.begin(), family.metric.end(),
			   [&](const ClientMetric &metric) { return metric.label == labels; });
}

class Families {
public:
	// An object's series by a table; those of all objects of a table stand together by family.
	void add(std::span<const Series> table, const Json &object, const Labels &labels)
	{
		for (const Series &series : table) {
			MetricFamily &family = family_of(series);
			Json value = value_at(object, series.where);

			if (value.is_null())
				continue;
			Labels all = labels;
			if (series.label)
				all.push_back({series.label, series.value});
			add(family, all, number_of(value) * series.unit);
		}
	}

	void add(const Series &series, const Labels &labels, double value) { add(family_of(series), labels, value); }

	std::vector<MetricFamily> take()
	{
		std::erase_if(families_, [](const MetricFamily &family) { return family.metric.empty(); });
		return std::move(families_);
	}

private:
	MetricFamily &family_of(const Series &series)
	{
		auto found = std::find_if(families_.begin(), families_.end(),
					  [&](const MetricFamily &family) { return family.name == series.name; });

		if (found == families_.end())
			found = families_.insert(found, MetricFamily{series.name, series.help, series.type, {}});
		return *found;
	}

	static void add(MetricFamily &family, const Labels &labels, double value)
	{
		ClientMetric metric;

		if (has(family, labels))
			return;
		metric.label = labels;
		// One of them is what the type takes.
		metric.gauge.value = metric.counter.value = value;
		family.metric.push_back(metric);
	}

	std::vector<MetricFamily> families_;
};

std::string text_at(const Json &object, const char *name)
{
	return printable(object.at(name).get<std::string>());
}

void add_namespace(Families &families, const Json &one, unsigned &devices)
{
	std::string netns = text_at(one, "netns");

	families.add(kOfNamespace, one, {{"netns", netns}});
	for (const Json &device : one.at("devices"))
		if (devices++ < kMostDevices)
			families.add(kOfDevice, device, {{"dev", text_at(device, "name")}, {"netns", netns}});
}

unsigned beyond(unsigned count, unsigned most)
{
	return count > most ? count - most : 0;
}

// The own namespace comes first: those of containers are left out before it is.
unsigned add_namespaces(Families &families, const Json &seen)
{
	unsigned spaces = 0, devices = 0, ports = 0;

	for (const Json &one : seen.at("namespaces"))
		if (spaces++ < kMostNamespaces)
			add_namespace(families, one, devices);
	for (const Json &port : seen.at("stamps"))
		if (ports++ < kMostDevices)
			families.add(kOfStamps, port, {{"dev", text_at(port, "dev")}, {"netns", text_at(port, "netns_name")}});
	return beyond(spaces, kMostNamespaces) + beyond(devices, kMostDevices) + beyond(ports, kMostDevices);
}

}  // namespace

std::vector<MetricFamily> metric_families(const Json &seen)
{
	static constexpr Series info = {"turnpike_up_info", kGauge, "Versions, as labels; the value is 1.", ""};
	Families families;

	families.add(info, {{"version", text_at(seen, "version")}, {"kernel", text_at(seen, "kernel")}}, 1);
	for (const Json &module : seen.at("modules"))
		families.add(kOfModule, module, {{"module", text_at(module, "name")}});
	if (!seen.at("clockd").is_null())
		families.add(kOfClockd, seen.at("clockd").at("running").get<bool>() ? seen.at("clockd") : Json{{"running", false}}, {});
	Json host = {{"time_s", seen.at("time_s")}, {"left_out", add_namespaces(families, seen)}};
	families.add(kOfHost, host, {});
	return families.take();
}

std::string metrics_text(const Json &seen)
{
	return prometheus::TextSerializer().Serialize(metric_families(seen));
}

std::vector<MetricFamily> last_look_families(double time_s)
{
	Json host = Json::object();
	Families families;

	host["time_s"] = time_s;
	families.add(kOfHost, host, {});
	return families.take();
}

}  // namespace turnpike
