// SPDX-License-Identifier: GPL-2.0
#include "metrics_serve.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <iostream>
#include <memory>

#include <semaphore.h>

#include <prometheus/exposer.h>

#include "../command.h"
#include "../monotonic.h"
#include "metrics.h"
#include "metrics_look.h"

namespace turnpike {
namespace {

sem_t asked_to_end;

void end(int)
{
	sem_post(&asked_to_end);
}

void wait_for_the_end()
{
	while (sem_wait(&asked_to_end) && errno == EINTR)
		;
}

std::unique_ptr<prometheus::Exposer> listen_on(const std::string &address)
{
	try {
		// Who sends half a request is not waited for long.
		return std::make_unique<prometheus::Exposer>(std::vector<std::string>{
			"listening_ports", address, "num_threads", "2", "request_timeout_ms", "5000"});
	} catch (const std::exception &) {
		throw Error("cannot listen on " + address + ": the port is taken, or the address is not this host's" +
			    (address[0] == '[' ? "; Debian 12's civetweb has no IPv6" : ""));
	}
}

}  // namespace

SharedLook::SharedLook(Look look, Clock clock_ns, Clock time_s)
	: look_(std::move(look)), clock_ns_(std::move(clock_ns)), time_s_(std::move(time_s))
{
}

std::vector<prometheus::MetricFamily> SharedLook::Collect() const
{
	std::lock_guard<std::mutex> hold(lock_);

	if (looked_ && clock_ns_() - looked_ns_ < kLookHoldsNs)
		return seen_;
	try {
		seen_ = look_();
		good_s_ = time_s_();
	} catch (const std::exception &error) {
		std::cerr << "turnpike: " << error.what() << std::endl;
		seen_ = last_look_families(good_s_);
	}
	looked_ = true;
	looked_ns_ = clock_ns_();
	return seen_;
}

void serve_metrics(const std::string &address)
{
	auto look = std::make_shared<SharedLook>([] { return metric_families(look_at_metrics()); }, monotonic_ns,
						 [] { return std::int64_t(std::time(nullptr)); });

	sem_init(&asked_to_end, 0, 0);
	std::signal(SIGINT, end);
	std::signal(SIGTERM, end);
	auto exposer = listen_on(address);
	exposer->RegisterCollectable(look);
	for (int port : exposer->GetListeningPorts())
		std::cout << "http://" << address.substr(0, address.rfind(':')) << ':' << port << "/metrics" << std::endl;
	wait_for_the_end();
}

}  // namespace turnpike
