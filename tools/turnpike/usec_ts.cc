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
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command.h"
#include "netlink.h"
#include "release.h"

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

bool is_destination(const nlmsghdr *route, const Destination &d)
{
	const auto *rtm = static_cast<const rtmsg *>(mnl_nlmsg_get_payload(route));
	bool named = false, same = false;

	if (route->nlmsg_type != RTM_NEWROUTE || rtm->rtm_family != d.family ||
	    rtm->rtm_dst_len != d.bits || rtm->rtm_type != RTN_UNICAST ||
	    (rtm->rtm_flags & RTM_F_CLONED))
		return false;
	for (const nlattr *attr : attributes(route, sizeof(rtmsg))) {
		if (mnl_attr_get_type(attr) != RTA_DST)
			continue;
		named = true;
		same = std::memcmp(mnl_attr_get_payload(attr), d.address,
				   mnl_attr_get_payload_len(attr)) == 0;
	}
	return named ? same : d.bits == 0;
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

std::vector<std::vector<char>> find_routes(Netlink &routes, const Destination &d, bool on)
{
	std::vector<std::vector<char>> found;
	rtmsg all = {};

	all.rtm_family = static_cast<unsigned char>(d.family);
	routes.dump(RTM_GETROUTE, all, [&](const nlmsghdr *route) {
		if (is_destination(route, d) && is_one_of(route, d))
			found.push_back(changed(route, on));
	});
	return found;
}

void change(const Destination &d, bool on)
{
	Netlink routes(NETLINK_ROUTE);
	std::vector<std::vector<char>> found = find_routes(routes, d, on);

	if (found.empty())
		throw Error("no unicast route to exactly " + d.text +
			    " (ip route show lists them)");
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

void add_usec_ts_command(CLI::App &app, Action &action)
{
	struct Options {
		std::string state, destination, device;
		long metric = -1;
	};
	auto options = std::make_shared<Options>();
	CLI::App *command = app.add_subcommand(
		"usec-ts", "let TCP timestamps of a route count microseconds "
			   "(route feature tcp_usec_ts, Linux 6.7), or no longer");

	command->add_option("STATE", options->state, "on or off")
		->required()
		->check(CLI::IsMember({"on", "off"}));
	command->add_option("DEST", options->destination,
			    "destination of a route: prefix, address or default")
		->required();
	command->add_option("--dev", options->device, "those of the main table by this device alone");
	command->add_option("--metric", options->metric, "those of this metric alone")->check(CLI::Range(0l, 4294967295l));
	command->callback([&action, options] {
		action = [options] {
			Destination d = parse_destination(options->destination);

			d.metric = options->metric;
			d.ifindex = options->device.empty() ? 0 : if_nametoindex(options->device.c_str());
			if (!d.ifindex && !options->device.empty())
				throw Error("there is no device " + options->device);
			change(d, options->state == "on");
		};
	});
}

}  // namespace turnpike
