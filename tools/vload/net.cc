// SPDX-License-Identifier: GPL-2.0
#include "net.h"

#include "rng.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace vload
{

// Below the ports the kernel hands out by itself only partly; bind() tells when one is taken.
constexpr uint16_t FIRST_PORT = 10000;
constexpr uint16_t LAST_PORT = 60000;
constexpr int LISTEN_BACKLOG = 65535;

// What Linux 6.7 appended to struct tcp_info; the headers we are built with may be older.
struct TcpInfoRto {
	uint32_t rcv_wnd;
	uint32_t rehash;
	uint16_t total_rto;
	uint16_t total_rto_recoveries;
	uint32_t total_rto_time_ms;
};

constexpr size_t TCP_INFO_6_1_BYTES = offsetof(tcp_info, tcpi_snd_wnd) + sizeof(uint32_t);

std::optional<TcpSnapshot> net_tcp_snapshot(int fd)
{
	alignas(tcp_info) std::array<unsigned char, TCP_INFO_6_1_BYTES + sizeof(TcpInfoRto)> raw{};
	socklen_t size = raw.size();
	tcp_info info{};
	TcpSnapshot snapshot;

	if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, raw.data(), &size) < 0)
		return std::nullopt;
	std::memcpy(&info, raw.data(), TCP_INFO_6_1_BYTES);
	snapshot.bytes_received = info.tcpi_bytes_received;
	snapshot.bytes_acked = info.tcpi_bytes_acked;
	// All ones: not paced yet
	if (info.tcpi_pacing_rate != UINT64_MAX)
		snapshot.pacing_bps = info.tcpi_pacing_rate * 8;
	snapshot.retransmits = info.tcpi_total_retrans;
	snapshot.rtt_us = info.tcpi_rtt;
	// All ones: no sample yet
	if (info.tcpi_min_rtt != UINT32_MAX)
		snapshot.min_rtt_us = info.tcpi_min_rtt;
	snapshot.cwnd = info.tcpi_snd_cwnd;
	if (size >= TCP_INFO_6_1_BYTES + sizeof(TcpInfoRto)) {
		TcpInfoRto rto;
		std::memcpy(&rto, raw.data() + TCP_INFO_6_1_BYTES, sizeof(rto));
		snapshot.rtos = rto.total_rto;
	}
	return snapshot;
}

std::string net_congestion_control(int fd)
{
	std::array<char, 16> name{};
	socklen_t size = name.size();

	if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) < 0)
		return "";
	return std::string(name.data(), strnlen(name.data(), name.size()));
}

void SockAddr::set_port(uint16_t port)
{
	if (any.sa_family == AF_INET6)
		v6.sin6_port = htons(port);
	else
		v4.sin_port = htons(port);
}

bool SockAddr::operator<(const SockAddr &other) const
{
	if (any.sa_family != other.any.sa_family)
		return any.sa_family < other.any.sa_family;
	if (port() != other.port())
		return port() < other.port();
	if (any.sa_family == AF_INET6)
		return std::memcmp(&v6.sin6_addr, &other.v6.sin6_addr, sizeof(v6.sin6_addr)) < 0;
	return v4.sin_addr.s_addr < other.v4.sin_addr.s_addr;
}

static int open_netns(const std::string &name)
{
	for (const char *dir : {"/run/netns/", "/var/run/netns/"}) {
		int fd = open((dir + name).c_str(), O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

Network::Network(const std::vector<HostConfig> &hosts, uint64_t seed) : hosts_(hosts)
{
	Rng rng(seed, UINT64_MAX);

	home_fd_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home_fd_ < 0)
		throw RuntimeError::from_errno("/proc/thread-self/ns/net");
	for (const HostConfig &host : hosts_) {
		auto &netns = netns_[host.netns];
		if (!netns) {
			netns = std::make_unique<Netns>();
			// Another seed takes other paths.
			netns->next_port = static_cast<uint16_t>(FIRST_PORT + rng.below(LAST_PORT - FIRST_PORT));
			if (!host.netns.empty()) {
				netns->fd = open_netns(host.netns);
				if (netns->fd < 0)
					throw RuntimeError::from_errno("hosts." + host.name + ".netns: `" +
								       host.netns + "'");
			}
		}
		netns_of_.push_back(netns.get());
	}
}

Network::~Network()
{
	for (auto &entry : netns_)
		if (entry.second->fd >= 0)
			close(entry.second->fd);
	close(home_fd_);
}

void Network::enter(Netns &netns)
{
	if (netns.fd == inside_fd_)
		return;
	if (setns(netns.fd < 0 ? home_fd_ : netns.fd, CLONE_NEWNET) < 0)
		throw RuntimeError::from_errno("setns");
	inside_fd_ = netns.fd;
}

void Network::go_home()
{
	Netns home;

	enter(home);
}

uint16_t Network::take_port(Netns &netns)
{
	uint16_t port = netns.next_port++;

	if (netns.next_port >= LAST_PORT)
		netns.next_port = FIRST_PORT;
	return port;
}

SockAddr Network::address(HostIndex host, int family) const
{
	SockAddr addr;

	std::memset(&addr, 0, sizeof(addr));
	if (family == 6) {
		addr.v6.sin6_family = AF_INET6;
		inet_pton(AF_INET6, hosts_[host].addr6.c_str(), &addr.v6.sin6_addr);
	} else {
		addr.v4.sin_family = AF_INET;
		inet_pton(AF_INET, hosts_[host].addr.c_str(), &addr.v4.sin_addr);
	}
	return addr;
}

template <typename T>
static void set_option(int fd, int level, int option, const T &value, const std::string &what)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)) < 0)
		throw RuntimeError::from_errno(what);
}

static void set_tcp_options(int fd, const SocketConfig &config)
{
	// Messages must not wait for the acknowledgment of the one before.
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	if (!config.cc.empty() &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, config.cc.c_str(),
		       static_cast<socklen_t>(config.cc.size())) < 0)
		throw RuntimeError::from_errno("congestion control `" + config.cc + "'");
	if (config.notsent_lowat_bytes)
		set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, *config.notsent_lowat_bytes, "TCP_NOTSENT_LOWAT");
	if (config.max_pacing_bps)
		set_option(fd, SOL_SOCKET, SO_MAX_PACING_RATE, *config.max_pacing_bps / 8, "SO_MAX_PACING_RATE");
}

static void set_options(int fd, int type, const SocketConfig &config)
{
	if (config.dscp && config.family == 6)
		set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, *config.dscp << 2, "IPV6_TCLASS");
	else if (config.dscp)
		set_option(fd, IPPROTO_IP, IP_TOS, *config.dscp << 2, "IP_TOS");
	if (config.sndbuf_bytes)
		set_option(fd, SOL_SOCKET, SO_SNDBUF, *config.sndbuf_bytes, "SO_SNDBUF");
	if (config.rcvbuf_bytes)
		set_option(fd, SOL_SOCKET, SO_RCVBUF, *config.rcvbuf_bytes, "SO_RCVBUF");
	if (type == SOCK_STREAM)
		set_tcp_options(fd, config);
}

static void bind_somewhere(int fd, SockAddr &local, const std::string &host, auto &&next_port)
{
	for (int tries = LAST_PORT - FIRST_PORT; tries > 0; tries--) {
		local.set_port(next_port());
		if (bind(fd, &local.any, local.size()) == 0)
			return;
		if (errno != EADDRINUSE)
			break;
	}
	throw RuntimeError::from_errno("host `" + host + "': bind");
}

int Network::bind_socket(HostIndex host, int type, const SocketConfig &config, SockAddr &local)
{
	Netns &netns = *netns_of_[host];

	enter(netns);
	local = address(host, config.family);
	int fd = socket(local.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		throw RuntimeError::from_errno("socket");
	try {
		set_options(fd, type, config);
		bind_somewhere(fd, local, hosts_[host].name, [&] { return take_port(netns); });
	} catch (...) {
		close(fd);
		throw;
	}
	return fd;
}

int Network::listen_tcp(HostIndex host, const SocketConfig &config, SockAddr &local)
{
	// Accepted sockets inherit the options.
	int fd = bind_socket(host, SOCK_STREAM, config, local);

	if (listen(fd, LISTEN_BACKLOG) < 0) {
		close(fd);
		throw RuntimeError::from_errno("listen");
	}
	return fd;
}

int Network::open_in_host(HostIndex host, const char *path)
{
	enter(*netns_of_[host]);
	return open(path, O_RDONLY | O_CLOEXEC);
}

} // namespace vload
