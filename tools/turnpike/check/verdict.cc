// SPDX-License-Identifier: GPL-2.0
#include "verdict.h"

#include <algorithm>
#include <limits>

#include "../command.h"
#include "../percentile.h"
#include "../table.h"
#include "../units.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Below it the 99th percentile of a turn is its worst request, or nearly.
constexpr std::size_t kFewestRequests = 50;
// What nobody notices is not worth a setting: CONTRIBUTING.md has the same 5 %.
constexpr double kWorthwhile = 0.95;
// A p99 that is nearly the shortest request at all has no queue in it.
constexpr double kNoQueue = 1.5;

constexpr char kMore[] = "; a longer --for and more --rounds tell more";

std::vector<double> sorted(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values;
}

// One number of each turn of a setting.
template <typename Number> std::vector<double> each(const std::vector<Turn> &turns, bool with_profile, Number number)
{
	std::vector<double> numbers;

	for (const Turn &turn : turns)
		if (turn.with_profile == with_profile)
			numbers.push_back(number(turn));
	return numbers;
}

double p50(const Turn &turn)
{
	return percentile(sorted(turn.request_ns), 50);
}

double p99(const Turn &turn)
{
	return percentile(sorted(turn.request_ns), 99);
}

double throughput(const Turn &turn)
{
	return static_cast<double>(turn.acked_bytes) * 8 / turn.seconds;
}

Figures figures(const std::vector<Turn> &turns, bool with_profile)
{
	return {geometric_mean(each(turns, with_profile, p50)), geometric_mean(each(turns, with_profile, p99)),
		geometric_mean(each(turns, with_profile, throughput))};
}

void refuse_few(const std::vector<Turn> &turns)
{
	for (const Turn &turn : turns) {
		if (turn.request_ns.size() < kFewestRequests)
			throw Error("only " + count_text(turn.request_ns.size(), "request") +
				    " in a turn: a p99 needs more; a longer --for has them");
		if (!turn.acked_bytes)
			throw Error("long flows carried nothing in a turn; a longer --for may do");
	}
}

double shortest_request(const std::vector<Turn> &turns)
{
	double shortest = std::numeric_limits<double>::max();

	for (const Turn &turn : turns)
		for (double ns : turn.request_ns)
			shortest = std::min(shortest, ns);
	return shortest;
}

// One unit for both ends where they have the same.
std::string range_text(const Estimate &estimate, std::string (*text)(double))
{
	std::string low = text(estimate.low), high = text(estimate.high);
	std::size_t low_unit = low.find(' '), high_unit = high.find(' ');

	if (low_unit != std::string::npos && high_unit != std::string::npos &&
	    low.substr(low_unit) == high.substr(high_unit))
		low.erase(low_unit);
	return low + " to " + high;
}

// Certain losses first, then what is not certain, then gains that are none.
void decide(Verdict &verdict, double shortest_ns)
{
	const Estimate &p99 = verdict.p99_ratio, &rate = verdict.throughput_ratio;
	bool no_queue = verdict.as_is.p99_ns.value < kNoQueue * shortest_ns;

	verdict.worth = Worth::no;
	if (rate.high < kWorthwhile)
		verdict.why = "throughput falls to " + percent_text(rate.value) + " of before";
	else if (p99.low > 1)
		verdict.why = "the p99 of requests gets longer: " + percent_text(p99.value) + " of before";
	else if (p99.high >= 1 && no_queue)
		verdict.why = "there is no queue to take away: the shortest request took " + duration_text(shortest_ns);
	else if (p99.high >= 1)
		verdict.why = std::string("no difference is certain: the p99 of requests is ") +
			      range_text(p99, percent_text) + " of before" + kMore;
	else if (p99.value > kWorthwhile)
		verdict.why = "the p99 of requests is " + percent_text(p99.value) + " of before, which nobody notices";
	else if (rate.value < kWorthwhile) {
		verdict.worth = Worth::unclear;
		verdict.why = "throughput is " + range_text(rate, percent_text) + " of before" + kMore;
	} else
		verdict.worth = Worth::yes;
	// Not certain, and not for want of a queue.
	if (verdict.worth == Worth::no && p99.low <= 1 && p99.high >= 1 && rate.high >= kWorthwhile && !no_queue)
		verdict.worth = Worth::unclear;
}

Json estimate_json(const Estimate &estimate)
{
	return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

Json figures_json(const Figures &figures)
{
	return {{"p50_ns", estimate_json(figures.p50_ns)}, {"p99_ns", estimate_json(figures.p99_ns)},
		{"throughput_bps", estimate_json(figures.throughput_bps)}};
}

Json turn_json(const Turn &turn)
{
	return {{"setting", turn.with_profile ? "with_profile" : "as_is"}, {"congestion", turn.congestion},
		{"qdisc", turn.qdisc}, {"tlt", turn.tlt}, {"requests", turn.request_ns.size()}, {"p50_ns", p50(turn)},
		{"p99_ns", p99(turn)}, {"throughput_bps", throughput(turn)}, {"retransmits", turn.retransmits}};
}

std::vector<std::string> row(const std::string &name, const Figures &figures)
{
	return {name, duration_text(figures.p50_ns.value), duration_text(figures.p99_ns.value),
		range_text(figures.p99_ns, duration_text), rate_text(figures.throughput_bps.value),
		range_text(figures.throughput_bps, rate_text)};
}

}  // namespace

Verdict judge(const std::vector<Turn> &turns)
{
	Verdict verdict;

	refuse_few(turns);
	verdict.as_is = figures(turns, false);
	verdict.with_profile = figures(turns, true);
	verdict.p99_ratio = paired_ratio(each(turns, true, p99), each(turns, false, p99));
	verdict.throughput_ratio = paired_ratio(each(turns, true, throughput), each(turns, false, throughput));
	decide(verdict, shortest_request(turns));
	return verdict;
}

std::string sentence(const Verdict &verdict)
{
	std::string numbers = "p99 of requests " + duration_text(verdict.as_is.p99_ns.value) + " -> " +
			      duration_text(verdict.with_profile.p99_ns.value) + ", throughput " +
			      percent_text(verdict.throughput_ratio.value) + " of before";

	if (verdict.worth == Worth::yes)
		return numbers;
	return (verdict.worth == Worth::no ? "not worth it here, because " : "unclear, because ") + verdict.why + " (" + numbers +
	       ")";
}

std::string report_table(const Verdict &verdict, const std::string &profile)
{
	Table table({{"SETTING", Align::left}, {"P50"}, {"P99"}, {"95 %"}, {"THROUGHPUT"}, {"95 %"}});

	table.add(row("as it is", verdict.as_is));
	table.add(row("with " + profile, verdict.with_profile));
	return table.text();
}

std::string report_sentences(const Verdict &verdict, const std::string &profile)
{
	return "p99 with " + profile + ": " + percent_text(verdict.p99_ratio.value) + " of before (95 %: " +
	       range_text(verdict.p99_ratio, percent_text) + "), throughput " + percent_text(verdict.throughput_ratio.value) +
	       " (" + range_text(verdict.throughput_ratio, percent_text) + ")\n" + sentence(verdict) + "\n";
}

Json report_json(const Verdict &verdict, const std::vector<Turn> &turns)
{
	static const char *const kWords[] = {"yes", "no", "unclear"};
	Json json = {{"worth_it", kWords[static_cast<int>(verdict.worth)]}, {"verdict", sentence(verdict)},
		     {"as_is", figures_json(verdict.as_is)}, {"with_profile", figures_json(verdict.with_profile)},
		     {"p99_ratio", estimate_json(verdict.p99_ratio)},
		     {"throughput_ratio", estimate_json(verdict.throughput_ratio)}, {"turns", Json::array()}};

	for (const Turn &turn : turns)
		json["turns"].push_back(turn_json(turn));
	return json;
}

}  // namespace turnpike
