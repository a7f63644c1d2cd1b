// SPDX-License-Identifier: GPL-2.0
//
// Errors of turnpike clockd's mesh in the model of clock_mesh.h, as a table:
//
//   clock-mesh [hosts=16] [seed=1] [ROW ...]
//
// A ROW selects those whose name contains it. "victim" are pairs with the host that something is wrong with.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "clock_mesh.h"

namespace {

using clock_mesh::Mesh;
using clock_mesh::Options;
using clock_mesh::percentile;
using clock_mesh::Result;

const std::vector<double> kTwoBusy = {.8, .8}, kFourCalm = {.4, .4, .4, .4}, kFourBusy = {.8, .8, .8, .8};
// Between leaves whose hosts send 80 % of their links, of which half leaves the rack; the host's port last.
const std::vector<double> kLeafSpine = {.43, .43, .8};

Options path(bool hardware, const std::vector<double> &loads)
{
	Options options;

	options.hardware = hardware;
	options.loads = loads;
	return options;
}

template <typename Change> Options with(Options options, const Change &change)
{
	change(options);
	return options;
}

std::vector<std::pair<std::string, Options>> rows()
{
	std::vector<std::pair<std::string, Options>> rows;

	for (bool hardware : {true, false}) {
		std::string stamps = hardware ? "hw" : "sw";
		Options base = path(hardware, kTwoBusy);
		rows.push_back({stamps + " 2 queues at .4", path(hardware, {.4, .4})});
		rows.push_back({stamps + " 2 queues at .8", base});
		rows.push_back({stamps + " 4 queues at .4", path(hardware, kFourCalm)});
		rows.push_back({stamps + " 4 queues at .8", path(hardware, kFourBusy)});
		rows.push_back({stamps + " leaf-spine", path(hardware, kLeafSpine)});
		rows.push_back({stamps + " dead host", with(base, [](Options &o) { o.dead = 3; })});
		rows.push_back(
			{stamps + " host 10 us asymmetric", with(base, [](Options &o) { o.asymmetric_host = 3; })});
		rows.push_back({stamps + " 5 % of edges 10 us asymmetric",
				with(base, [](Options &o) { o.asymmetric_links = .05; })});
		rows.push_back({stamps + " liar", with(base, [](Options &o) { o.liar = 3; })});
		rows.push_back({stamps + " step of 1 ms", with(base, [](Options &o) { o.stepping = 3; })});
		rows.push_back({stamps + " drift of 300 us/s", with(base, [](Options &o) { o.drift = 1.5e-4; })});
	}
	return rows;
}

void print(const std::string &name, const Result &r)
{
	std::printf("%-34s %8.0f %8.0f %8.0f %8.0f %8.0f %8.0f %7.4f %6.2f %5u %8.1f\n", name.c_str(),
		    percentile(r.edge_ns, .5), percentile(r.edge_ns, .99), percentile(r.pair_ns, .5),
		    percentile(r.pair_ns, .99), percentile(r.pair_ns, 1), percentile(r.victim_ns, .5), r.covered,
		    r.scale, r.left_out, r.solve_ms);
	for (std::size_t i = 8; i < std::min<std::size_t>(r.step_ns.size(), 13); i++)
		std::printf("    window %zu: %s %.0f ns\n", i, r.step_known[i] ? "off by" : "not known,", r.step_ns[i]);
}

bool wanted(const std::string &name, const std::vector<std::string> &words)
{
	return words.empty() || std::any_of(words.begin(), words.end(), [&name](const std::string &word) {
		return name.find(word) != std::string::npos;
	});
}

}  // namespace

int main(int argc, char **argv)
{
	std::vector<std::string> words;
	unsigned long hosts = 16, seed = 1;

	for (int i = 1; i < argc; i++) {
		if (!std::strncmp(argv[i], "hosts=", 6))
			hosts = std::strtoul(argv[i] + 6, nullptr, 10);
		else if (!std::strncmp(argv[i], "seed=", 5))
			seed = std::strtoul(argv[i] + 5, nullptr, 10);
		else
			words.push_back(argv[i]);
	}
	if (hosts < 5 || hosts > 10000) {
		std::fprintf(stderr, "clock-mesh: 5 to 10000 hosts\n");
		return 2;
	}
	std::printf("%-34s %8s %8s %8s %8s %8s %8s %7s %6s %5s %8s\n", "ns", "edge p50", "p99", "pair p50", "p99",
		    "max", "victim", "covered", "scale", "out", "solve ms");
	for (auto &[name, options] : rows()) {
		if (!wanted(name, words))
			continue;
		options.hosts = hosts;
		options.seed = seed;
		print(name, Mesh(options).run());
	}
	return 0;
}
