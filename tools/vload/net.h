// SPDX-License-Identifier: GPL-2.0
//
// Sockets in the hosts' network namespaces. A socket belongs to the namespace it was made in, so
// the process enters one only to make sockets, and goes home when it is about to start a command.
#pragma once

#include "config.h"
#include "loop.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vload
{

// struct tcp_info grows with the kernel; these are the members of any kernel that we read.
struct TcpSnapshot {
	uint64_t bytes_received = 0;
	uint64_t bytes_acked = 0;
	uint64_t pacing_bps = 0;
	uint32_t retransmits = 0;
	std::optional<uint32_t> rtos; // Linux 6.7 and later
	uint32_t rtt_us = 0;	      // smoothed
	uint32_t min_rtt_us = 0;
	uint32_t cwnd = 0;
};

// Nothing when the socket is gone or not TCP
std::optional<TcpSnapshot> net_tcp_snapshot(int fd);
std::string net_congestion_control(int fd);

union SockAddr {
	sockaddr any;
	sockaddr_in v4;
	sockaddr_in6 v6;

	socklen_t size() const { return any.sa_family == AF_INET6 ? sizeof(v6) : sizeof(v4); }
	uint16_t port() const { return ntohs(any.sa_family == AF_INET6 ? v6.sin6_port : v4.sin_port); }
	void set_port(uint16_t port);
	bool operator<(const SockAddr &other) const;
};

class Network {
public:
	Network(const std::vector<HostConfig> &hosts, uint64_t seed);
	~Network();
	Network(const Network &) = delete;
	Network &operator=(const Network &) = delete;

	// Both return a non-blocking socket bound to the host's address and a port of our choice:
	// ports decide over ECMP paths, and the kernel's choice differs from run to run.
	int listen_tcp(HostIndex host, const SocketConfig &config, SockAddr &local);
	int bind_socket(HostIndex host, int type, const SocketConfig &config, SockAddr &local);

	void go_home();
	const std::string &host_name(HostIndex host) const { return hosts_[host].name; }
	size_t host_count() const { return hosts_.size(); }
	// A file of the host's namespace, e.g. /proc/thread-self/net/snmp; -1 when there is none
	int open_in_host(HostIndex host, const char *path);

private:
	struct Netns {
		int fd = -1; // -1: home
		uint16_t next_port = 0;
	};

	void enter(Netns &netns);
	SockAddr address(HostIndex host, int family) const;
	static uint16_t take_port(Netns &netns);

	std::vector<HostConfig> hosts_;
	std::map<std::string, std::unique_ptr<Netns>> netns_;
	std::vector<Netns *> netns_of_;
	int home_fd_ = -1;
	int inside_fd_ = -1; // -1: home
};

} // namespace vload
