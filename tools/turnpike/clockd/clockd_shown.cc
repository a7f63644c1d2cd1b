// SPDX-License-Identifier: GPL-2.0
#include "clockd_shown.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "word_session.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Of the largest mesh, 640 peers.
constexpr std::uintmax_t kMostStateBytes = 1 << 20;

// Of those numbers of peers that are there, in their order.
std::vector<std::int64_t> numbers_of(const Json &peers, const char *name)
{
	std::vector<std::int64_t> numbers;

	for (const Json &peer : peers) {
		if (peer.at(name).is_number_integer())
			numbers.push_back(std::abs(peer.at(name).get<std::int64_t>()));
	}
	std::sort(numbers.begin(), numbers.end());
	return numbers;
}

Json at_share(const std::vector<std::int64_t> &sorted, double share)
{
	return sorted.empty() ? Json() : Json(sorted[static_cast<std::size_t>(share * (sorted.size() - 1))]);
}

}  // namespace

Json read_clockd_state(const std::string &path, std::int64_t now_ns)
{
	std::error_code error;
	std::uintmax_t bytes = std::filesystem::file_size(path, error);
	std::ifstream file(path);

	if (error || !file || bytes > kMostStateBytes)
		return nullptr;
	Json json = Json::parse(file, nullptr, false);
	try {
		double age_s = static_cast<double>(now_ns - json.at("at_ns").get<std::int64_t>()) * 1e-9;
		// of before the boot
		if (age_s < 0 || !json.at("peers").is_array())
			return nullptr;
		json["age_s"] = age_s;
		json["running"] = age_s < kWordWindows * json.at("window_s").get<double>();
		clockd_summary(json);
		return json;
	} catch (const Json::exception &) {
		return nullptr;
	}
}

Json clockd_summary(const Json &state)
{
	if (state.is_null())
		return nullptr;
	const Json &peers = state.at("peers"), &coordinator = state.at("coordinator");
	Json summary = {{"running", state.at("running")}, {"age_s", state.at("age_s")}, {"told", 0},
			{"silent", Json::array()}, {"troubled", 0}, {"left_out", Json::array()}};
	unsigned told = 0, troubled = 0;

	for (const Json &peer : peers) {
		bool silent = peer.at("trouble") == "does not answer";
		told += peer.at("told").get<bool>();
		troubled += !peer.at("trouble").is_null() && !silent;
		if (silent)
			summary["silent"].push_back(peer.at("peer"));
		if (peer.at("left_out").get<bool>())
			summary["left_out"].push_back({{"peer", peer.at("peer")}, {"surplus_ns", peer.at("surplus_ns")}});
	}
	std::vector<std::int64_t> errors = numbers_of(peers, "error_ns"), surpluses = numbers_of(peers, "surplus_ns");
	summary["told"] = told;
	summary["troubled"] = troubled;
	summary["error_p50_ns"] = at_share(errors, .5);
	summary["error_max_ns"] = at_share(errors, 1);
	summary["surplus_p50_ns"] = at_share(surpluses, .5);
	summary["surplus_max_ns"] = at_share(surpluses, 1);
	summary["refused"] = state.at("refused");
	summary["kernel"] = state.at("kernel");
	summary["coordinator"] = coordinator.is_null() ? Json() : coordinator;
	summary["answered"] = coordinator.is_null() ? Json() : Json(coordinator.at("trouble").is_null());
	return summary;
}

std::string clockd_text(const Json &state)
{
	if (state.is_null())
		return "";
	std::string ago = std::to_string(std::llround(state.at("age_s").get<double>())) + " s ago",
		    text = state.at("running").get<bool>() ? "clockd: by " + state.at("stamps").get<std::string>() + " stamps, " + ago :
			   "clockd: does not run; what it said last, " + ago;
	const Json &coordinator = state.at("coordinator");

	if (coordinator.is_null())
		return text + "; no coordinator: each pair by itself\n";
	text += "\ncoordinator " + coordinator.at("address").get<std::string>() + ": ";
	if (!coordinator.at("trouble").is_null())
		return text + coordinator.at("trouble").get<std::string>() + "; each pair by itself\n";
	auto number = [&coordinator](const char *name) { return std::to_string(coordinator.at(name).get<unsigned>()); };
	return text + "knows " + number("hosts_known") + " hosts of " + number("hosts_reporting") + " that report; of " +
	       number("edges") + " edges " + number("edges_left_out") + " are left out\n";
}

Json clock_rows(const Json &shown)
{
	Json rows = Json::array(), of_clockd = Json::object();
	const Json &state = shown.at("clockd");

	for (const Json &peer : state.is_null() || !state.at("running").get<bool>() ? Json::array() : state.at("peers"))
		of_clockd[peer.at("peer").get<std::string>()] = peer;
	for (const Json &told : shown.at("peers")) {
		Json row = told;
		auto more = of_clockd.find(told.at("peer").get<std::string>());
		if (more != of_clockd.end()) {
			for (const char *name : {"source", "surplus_ns", "round_trip_ns", "trouble"})
				row[name] = more->at(name);
			of_clockd.erase(more);
		}
		rows.push_back(row);
	}
	for (const auto &[name, peer] : of_clockd.items())
		rows.push_back(peer);
	return rows;
}

}  // namespace turnpike
