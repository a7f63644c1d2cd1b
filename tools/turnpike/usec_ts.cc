// SPDX-License-Identifier: GPL-2.0
//
// turnpike usec-ts: TCP timestamps of a route count microseconds, or no longer do.
//
// A route is found by its exact destination in the table of a namespace, and given
// the feature (RTAX_FEATURES) while all else about it stays as it is: the kernel's own
// message about it is sent back with that one attribute changed.
#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command.h"
#include "netlink.h"
#include "release.h"
#include "usec_ts.h"

namespace turnpike {
namespace {

// RTAX_FEATURE_TCP_USEC_TS; headers before 6.7 do not have it.
constexpr uint32_t kUsecTs = 1 << 4;

struct Destination {
	int family = AF_INET;
	unsigned char address[16] = {};
	unsigned bits = 0;
	std::string text;
	// Those of the main table by this device and of this metric; 0 and -1: all of all tables.
	unsigned ifindex = 0;
	long metric = -1;
};

Destination parse_destination(const std::string &text)
{
	std::size_t slash = text.find('/');
	std::string address = text.substr(0, slash);
	Destination d;

	d.text = text;
	if (text == "default")
		return d;
	if (inet_pton(AF_INET, address.c_str(), d.address) == 1)
		d.family = AF_INET;
	else if (inet_pton(AF_INET6, address.c_str(), d.address) == 1)
		d.family = AF_INET6;
	else
		throw Error("no address or prefix: " + text);

	unsigned most = d.family == AF_INET ? 32 : 128;

	d.bits = most;
	if (slash == std::string::npos)
		return d;

	std::string bits = text.substr(slash + 1);

	if (bits.empty() || bits.size() > 3 ||
	    bits.find_first_not_of("0123456789") != std::string::npos ||
	    std::stoul(bits) > most)
		throw Error("no prefix length: " + text);
	d.bits = static_cast<unsigned>(std::stoul(bits));
	return d;
}

// What the kernel does not say is 0.
std::uint32_t number_of(const nlmsghdr *route, unsigned type)
{
	for (const nlattr *attr : attributes(route, sizeof(rtmsg)))
		if (mnl_attr_get_type(attr) == type)
			return mnl_attr_get_u32(attr);
	return 0;
}

bool is_one_of(const nlmsghdr *route, const Destination &d)
{
	const auto *rtm = static_cast<const rtmsg *>(mnl_nlmsg_get_payload(route));

	if (d.ifindex && (rtm->rtm_table != RT_TABLE_MAIN || number_of(route, RTA_OIF) != d.ifindex))
		return false;
	return d.metric < 0 || number_of(route, RTA_PRIORITY) == static_cast<std::uint32_t>(d.metric);
}

// Two of the same family with the same have the same destination.
using Key = std::pair<unsigned, std::string>;

Key key_of(const Destination &d)
{
	std::size_t bytes = d.family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);

	return {d.bits, d.bits ? std::string(reinterpret_cast<const char *>(d.address), bytes) : ""};
}

Key key_of(const nlmsghdr *route)
{
	Key key = {static_cast<const rtmsg *>(mnl_nlmsg_get_payload(route))->rtm_dst_len, ""};

	for (const nlattr *attr : attributes(route, sizeof(rtmsg)))
		if (mnl_attr_get_type(attr) == RTA_DST && key.first)
			key.second.assign(static_cast<const char *>(mnl_attr_get_payload(attr)), mnl_attr_get_payload_len(attr));
	return key;
}

bool is_unicast(const nlmsghdr *route)
{
	const auto *rtm = static_cast<const rtmsg *>(mnl_nlmsg_get_payload(route));

	return route->nlmsg_type == RTM_NEWROUTE && rtm->rtm_type == RTN_UNICAST && !(rtm->rtm_flags & RTM_F_CLONED);
}

// RTA_METRICS with the feature set or cleared and the rest as it was.
void put_metrics(nlmsghdr *message, const nlattr *before, bool on)
{
	nlattr *nest = mnl_attr_nest_start(message, RTA_METRICS);
	uint32_t features = 0;

	for (const nlattr *attr : before ? nested(before) : std::vector<const nlattr *>()) {
		if (mnl_attr_get_type(attr) == RTAX_FEATURES)
			features = mnl_attr_get_u32(attr);
		else
			mnl_attr_put(message, mnl_attr_get_type(attr),
				     mnl_attr_get_payload_len(attr), mnl_attr_get_payload(attr));
	}
	features = on ? features | kUsecTs : features & ~kUsecTs;
	mnl_attr_put_u32(message, RTAX_FEATURES, features);
	mnl_attr_nest_end(message, nest);
}

// The end of a route's life, as IPv6's may have one: told in ticks, and taken in seconds.
void put_expiry(nlmsghdr *message, const nlattr *info)
{
	rta_cacheinfo cache = {};
	long ticks = sysconf(_SC_CLK_TCK);

	std::memcpy(&cache, mnl_attr_get_payload(info),
		    std::min<std::size_t>(sizeof(cache), mnl_attr_get_payload_len(info)));
	if (cache.rta_expires > 0)
		mnl_attr_put_u32(message, RTA_EXPIRES,
				 static_cast<uint32_t>((cache.rta_expires + ticks - 1) / ticks));
}

// The request that replaces a route by itself with the feature changed.
std::vector<char> changed(const nlmsghdr *route, bool on)
{
	std::vector<char> buffer(route->nlmsg_len + 256);
	nlmsghdr *message = mnl_nlmsg_put_header(buffer.data());
	const nlattr *metrics = nullptr;

	message->nlmsg_type = RTM_NEWROUTE;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_REPLACE;

	auto *rtm = static_cast<rtmsg *>(mnl_nlmsg_put_extra_header(message, sizeof(rtmsg)));

	std::memcpy(rtm, mnl_nlmsg_get_payload(route), sizeof(*rtm));
	rtm->rtm_flags = 0;
	for (const nlattr *attr : attributes(route, sizeof(rtmsg))) {
		unsigned type = mnl_attr_get_type(attr);

		if (type == RTA_METRICS)
			metrics = attr;
		else if (type == RTA_CACHEINFO)
			put_expiry(message, attr);
		else
			mnl_attr_put(message, static_cast<uint16_t>(attr->nla_type),
				     mnl_attr_get_payload_len(attr), mnl_attr_get_payload(attr));
	}
	put_metrics(message, metrics, on);
	return buffer;
}

Destination destination_of(const UsecRoute &route)
{
	Destination d = parse_destination(route.destination);

	d.metric = route.metric;
	d.ifindex = route.device.empty() ? 0 : if_nametoindex(route.device.c_str());
	if (!d.ifindex && !route.device.empty())
		throw Error("there is no device " + route.device);
	return d;
}

// The requests for all of one family; those that were found are taken out.
std::vector<std::vector<char>> find_routes(Netlink &routes, int family, std::multimap<Key, Destination> &wanted, bool on)
{
	std::vector<std::vector<char>> found;
	std::set<const Destination *> known;
	rtmsg all = {};

	all.rtm_family = static_cast<unsigned char>(family);
	routes.dump(RTM_GETROUTE, all, [&](const nlmsghdr *route) {
		if (!is_unicast(route))
			return;
		bool meant = false;
		auto [first, last] = wanted.equal_range(key_of(route));
		for (auto one = first; one != last; ++one) {
			if (!is_one_of(route, one->second))
				continue;
			known.insert(&one->second);
			meant = true;
		}
		if (meant)
			found.push_back(changed(route, on));
	});
	std::erase_if(wanted, [&](const auto &one) { return known.count(&one.second) > 0; });
	return found;
}

void send(Netlink &routes, std::vector<std::vector<char>> &found, bool on)
{
	try {
		for (std::vector<char> &route : found)
			routes.talk(reinterpret_cast<nlmsghdr *>(route.data()), [](const nlmsghdr *) {});
	} catch (const Error &) {
		// Older kernels refuse it as any other nonsense.
		if (on && !is_release_from(kernel_release(), 6, 7))
			throw Error("microsecond timestamps need Linux 6.7; this is " + kernel_release());
		throw;
	}
}

}  // namespace

void set_usec(const std::vector<UsecRoute> &routes, bool on)
{
	std::map<int, std::multimap<Key, Destination>> wanted;
	std::vector<std::vector<char>> found;
	Netlink kernel(NETLINK_ROUTE);

	for (const UsecRoute &route : routes) {
		Destination d = destination_of(route);
		wanted[d.family].emplace(key_of(d), d);
	}
	for (auto &[family, of_family] : wanted) {
		for (std::vector<char> &request : find_routes(kernel, family, of_family, on))
			found.push_back(std::move(request));
		if (!of_family.empty())
			throw Error("no unicast route to exactly " + of_family.begin()->second.text + " (ip route show lists them)");
	}
	send(kernel, found, on);
}

void add_usec_ts_command(CLI::App &app, Action &action)
{
	struct Options {
		std::string state;
		UsecRoute route;
	};
	auto options = std::make_shared<Options>();
	CLI::App *command = app.add_subcommand(
		"usec-ts", "let TCP timestamps of a route count microseconds "
			   "(route feature tcp_usec_ts, Linux 6.7), or no longer");

	command->add_option("STATE", options->state, "on or off")
		->required()
		->check(CLI::IsMember({"on", "off"}));
	command->add_option("DEST", options->route.destination,
			    "destination of a route: prefix, address or default")
		->required();
	command->add_option("--dev", options->route.device, "those of the main table by this device alone");
	command->add_option("--metric", options->route.metric, "those of this metric alone")->check(CLI::Range(0l, 4294967295l));
	command->callback([&action, options] {
		action = [options] { set_usec({options->route}, options->state == "on"); };
	});
}

}  // namespace turnpike
