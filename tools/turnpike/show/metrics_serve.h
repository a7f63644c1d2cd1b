// SPDX-License-Identifier: GPL-2.0
//
// Metrics by HTTP: looks at the host when somebody asks.
#ifndef TURNPIKE_TOOLS_SHOW_METRICS_SERVE_H
#define TURNPIKE_TOOLS_SHOW_METRICS_SERVE_H

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

namespace turnpike {

// A look costs some programs for each namespace. Whoever asks within a second of the last one gets that.
constexpr std::int64_t kLookHoldsNs = 1000000000;

class SharedLook : public prometheus::Collectable {
public:
	using Look = std::function<std::vector<prometheus::MetricFamily>()>;
	using Clock = std::function<std::int64_t()>;

	// clock_ns: one that does not step; time_s: seconds since 1970
	SharedLook(Look look, Clock clock_ns, Clock time_s);

	// If a look fails, the time of the last good one alone.
	std::vector<prometheus::MetricFamily> Collect() const override;

private:
	const Look look_;
	const Clock clock_ns_, time_s_;
	mutable std::mutex lock_;
	// guarded by lock_
	mutable std::vector<prometheus::MetricFamily> seen_;
	mutable std::int64_t looked_ns_ = 0, good_s_ = 0;
	mutable bool looked_ = false;
};

// Until SIGINT or SIGTERM. Throws Error.
void serve_metrics(const std::string &address);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_METRICS_SERVE_H
