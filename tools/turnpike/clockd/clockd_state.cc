// SPDX-License-Identifier: GPL-2.0
#include "clockd_state.h"

#include <cmath>
#include <filesystem>

#include "../show/metrics_file.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string &text)
{
	return text.empty() ? Json() : Json(text);
}

Json json_of(const PeerSeen &seen)
{
	Json json = {{"peer", onramp_address_text(seen.peer.data())},
		     {"offset_ns", nullptr},
		     {"error_ns", nullptr},
		     {"drift_ppb", nullptr},
		     {"source", nullptr},
		     {"told", seen.told},
		     {"probed", seen.probed},
		     {"pairs_there", seen.there},
		     {"pairs_back", seen.back},
		     {"round_trip_ns", nullptr},
		     {"surplus_ns", nullptr},
		     {"left_out", seen.left_out},
		     {"trouble", text_or_null(seen.trouble)}};

	if (seen.offset) {
		json["offset_ns"] = seen.offset->offset_ns;
		json["error_ns"] = seen.offset->error_ns;
		json["drift_ppb"] = std::llround(seen.offset->drift * 1e9);
		json["source"] = seen.by_mesh ? "mesh" : "pair";
	}
	if (seen.width_ns > 0)
		json["round_trip_ns"] = std::llround(seen.width_ns);
	if (seen.surplus_ns)
		json["surplus_ns"] = *seen.surplus_ns;
	return json;
}

Json addresses(const std::vector<OnrampAddress> &hosts)
{
	Json json = Json::array();

	for (const OnrampAddress &host : hosts)
		json.push_back(onramp_address_text(host.data()));
	return json;
}

Json json_of(const LinkSeen &seen)
{
	return {{"address", onramp_address_text(seen.coordinator.data())},
		{"own", seen.own},
		{"trouble", text_or_null(seen.trouble)},
		{"hosts_known", seen.summary.known},
		{"hosts_reporting", seen.summary.reporting},
		{"edges", seen.summary.edges},
		{"edges_left_out", seen.summary.left_out},
		{"surplus_scale", seen.summary.scale_milli / 1e3},
		{"misfits", addresses(seen.misfits)},
		{"strangers", addresses(seen.strangers)}};
}

}  // namespace

Json clockd_json(const Clockd &clockd, const std::vector<PeerSeen> &peers)
{
	std::optional<LinkSeen> link = clockd.link();
	Json json = {{"stamps", clockd.clock().name()},
		     {"refused", clockd.refused()},
		     {"kernel", text_or_null(clockd.refusal())},
		     {"coordinator", link ? json_of(*link) : Json()},
		     {"peers", Json::array()}};

	for (const PeerSeen &seen : peers)
		json["peers"].push_back(json_of(seen));
	return json;
}

void write_clockd_state(const std::string &path, Json json, std::int64_t at_ns, unsigned window_s)
{
	std::error_code error;

	json["at_ns"] = at_ns;
	json["window_s"] = window_s;
	std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
	replace_file(path, json.dump() + "\n");
}

}  // namespace turnpike
