// SPDX-License-Identifier: GPL-2.0
//
// A discrete-event model of one congested link, around the real rate engine.
//
//   hosts                          switch
//   flow -+                       +--------------+
//   flow -+-> NIC (FIFO, rate) -->| FIFO, rate   |--> receiver --+
//   flow -+                       +--------------+               |
//     ^------------------- ACK, base RTT ------------------------+
//
// A flow hands bursts to its NIC, spaced by its rate; a NIC sends them as MTU
// frames at line rate. What the receiver acknowledges returns after the base
// RTT of the flow, and the completion of a burst is one RTT sample. Receivers
// and senders may coalesce what they receive, as NICs do with interrupts.
// Nothing is lost: the switch's buffer is unlimited. Times are picoseconds, so
// 100 Gbit/s frames have exact lengths.
#ifndef TURNPIKE_TOOLS_ADVISE_RACK_SIM_H
#define TURNPIKE_TOOLS_ADVISE_RACK_SIM_H

#include <cstdint>
#include <vector>

#include "tcp_timely/timely_rate.h"

namespace rack_sim {

// A flow is on the air in [start_s, stop_s).
struct FlowPlan {
	int host = 0;
	double start_s = 0;
	double stop_s = 1e9;
	double rate_bps = 0;  // first rate; 0: line rate / (flows of the host + 1)
	double base_rtt_us = 0;  // 0: that of the configuration
	double cap_bps = 0;      // SO_MAX_PACING_RATE; 0: none
	int request_frames = 0;  // an RPC client sends so many at a time; 0: bulk
	double think_us = 0;     // mean time between two requests
};

// Frames that arrive wait for an interrupt: when the first has waited time_us,
// or when there are so many. The receiver answers each flow once, as GRO does.
struct Coalescing {
	int frames = 64;
	double time_us = 0;  // 0: none
};

struct Config {
	timely_params params{};
	double nic_bps = 10e9;
	double link_bps = 20e9;
	double base_rtt_us = 20;
	int mtu = 1500;
	double step_s = 1e9;         // from then on all base RTTs are longer
	double step_us = 0;          // by this
	Coalescing coalescing;
	double noise_us = 0;         // uniform [0, noise_us] added to samples
	double warmup_s = 0.1;
	double duration_s = 0.3;
	double series_us = 0;        // interval of the recorded series; 0: none
	bool packet_pacing = false;  // frames spread over the burst's time
	std::uint64_t seed = 1;
	std::vector<FlowPlan> flows;
};

// flows_per_host flows on each host, started at random within spread_us.
void add_flows(Config &config, int hosts, int flows_per_host,
	       double spread_us = 100);

struct SeriesPoint {
	double time_s;
	double queue_us;
	std::vector<double> rate_bps;
};

struct Result {
	double utilization = 0;  // of the link, wire bytes
	double jain = 0;         // of the bulk flows' bytes in the window
	double sample_mean_us = 0;
	double sample_p50_us = 0;
	double sample_p99_us = 0;
	double frame_mean_us = 0;  // base RTT + queueing of every frame
	double frame_p50_us = 0;
	double frame_p99_us = 0;
	double max_queue_us = 0;   // in the window
	double drained_s = 0;      // when the first overload's queue had gone
	double min_share = 0;      // slowest bulk flow over the fair share
	double bursts_per_s = 0;
	double burst_bytes = 0;    // mean
	double request_mean_us = 0;  // of RPCs
	double request_p99_us = 0;
	std::vector<double> goodput_bps;
	std::vector<SeriesPoint> series;
};

Result run(const Config &config);

}  // namespace rack_sim

#endif  // TURNPIKE_TOOLS_ADVISE_RACK_SIM_H
