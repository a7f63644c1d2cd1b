// SPDX-License-Identifier: GPL-2.0
#include "metrics_serve.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <iostream>
#include <memory>

#include <arpa/inet.h>
#include <semaphore.h>

#include <prometheus/exposer.h>

#include "../command.h"
#include "../monotonic.h"
#include "metrics.h"
#include "metrics_look.h"

namespace turnpike {
namespace {

constexpr char kWanted[] = " is no address and port, as 127.0.0.1:9733 or [::1]:9733";

bool is_port(const std::string &text)
{
	return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos &&
	       std::stoul(text) <= 65535;
}

bool is_loopback(const in_addr &v4)
{
	return ntohl(v4.s_addr) >> 24 == 127;
}

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

std::string listen_address(const std::string &text, bool anywhere)
{
	std::size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
	bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']', loopback;
	in6_addr v6;
	in_addr v4;

	if (!host.size() || !is_port(text.substr(colon + 1)))
		throw Error("'" + text + "'" + kWanted);
	if (brackets && inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1)
		loopback = IN6_IS_ADDR_LOOPBACK(&v6);
	else if (!brackets && inet_pton(AF_INET, host.c_str(), &v4) == 1)
		loopback = is_loopback(v4);
	else
		throw Error("'" + text + "'" + kWanted);
	if (!loopback && !anywhere)
		throw Error(text + " is no address of this host's own loopback: whoever reaches it reads names of devices and "
			    "namespaces, and has this host work; --anywhere if that is meant");
	return text;
}

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
