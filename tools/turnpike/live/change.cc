// SPDX-License-Identifier: GPL-2.0
#include "change.h"

#include <algorithm>
#include <unordered_map>

#include "../onramp.h"
#include "../percentile.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

Number grown(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now)
{
	if (!before || !now || *now < *before)
		return std::nullopt;
	return static_cast<double>(*now - *before);
}

// Of JSON; a number that is missing or null is none.
std::optional<std::uint64_t> counter(const Json &object, const char *name)
{
	auto found = object.find(name);

	if (found == object.end() || !found->is_number())
		return std::nullopt;
	return found->get<std::uint64_t>();
}

Number bits_a_second(Number bytes, std::int64_t elapsed_ns)
{
	if (!bytes || elapsed_ns <= 0)
		return std::nullopt;
	return 8e9 * *bytes / static_cast<double>(elapsed_ns);
}

Number share(Number part, Number whole)
{
	if (!part || !whole || *whole <= 0)
		return std::nullopt;
	return std::min(*part / *whole, 1.0);
}

template <typename Key, typename Value> const Value *find_in(const std::map<Key, Value> &all, const Key &key)
{
	auto found = all.find(key);

	return found == all.end() ? nullptr : &found->second;
}

// With ! where the peer's timestamps do not serve, and ~ where hosts delay its samples, as turnpike onramp flows has it.
std::string feedback_text(const Json &flow)
{
	std::string source = flow.at("source").get<std::string>();

	if (source == "none")
		return "none!";
	return source + (flow.at("grade").is_null() ? "" : "-" + flow.at("grade").get<std::string>()) +
	       (flow.at("coarse").get<bool>() ? "!" : "") + (flow.at("noisy").get<bool>() ? "~" : "");
}

// A sample came since; before: NULL where there was no such flow, whose samples are all new then.
bool has_new_sample(const Json *before, const Json &now)
{
	return counter(now, "samples").value_or(0) > (before ? counter(*before, "samples").value_or(0) : 0);
}

Number number_of(std::optional<std::uint64_t> value)
{
	return value ? Number(static_cast<double>(*value)) : std::nullopt;
}

// -- one connection

void add_onramp(Connection &connection, const Json *before, const Json &now, std::int64_t elapsed_ns)
{
	connection.feedback = feedback_text(now);
	if (has_new_sample(before, now)) {
		connection.delay_ns = number_of(counter(now, "delay_ns"));
		connection.delay_p99_ns = number_of(counter(now, "delay_p99_ns"));
	}
	if (before)
		connection.held = share(grown(counter(*before, "paused_ns"), counter(now, "paused_ns")),
					static_cast<double>(elapsed_ns));
}

void add_rates(Connection &connection, const Socket &before, const Socket &now, std::int64_t elapsed_ns)
{
	connection.acked_bps = bits_a_second(grown(before.bytes_acked, now.bytes_acked), elapsed_ns);
	connection.sent_bps = bits_a_second(grown(before.bytes_sent, now.bytes_sent), elapsed_ns);
	connection.received_bps = bits_a_second(grown(before.bytes_received, now.bytes_received), elapsed_ns);
	connection.retransmits = elapsed_ns > 0 ? grown(before.retransmits, now.retransmits) : std::nullopt;
}

// What is known of a namespace at both times; before is NULL where it was not there.
struct Pair {
	const Space *before;
	const Space &now;
	std::int64_t elapsed_ns;
};

Connection connection_of(const Pair &spaces, const Socket *before, const Socket &now)
{
	Connection connection;

	connection.netns = spaces.now.name;
	connection.ends = now.ends;
	connection.congctl = now.congctl;
	connection.rtt_ns = 1e3 * now.rtt_us;
	if (before)
		add_rates(connection, *before, now, spaces.elapsed_ns);
	if (const Json *flow = find_in(spaces.now.onramp_flows, now.ends))
		add_onramp(connection, before ? find_in(spaces.before->onramp_flows, now.ends) : nullptr, *flow,
			   spaces.elapsed_ns);
	else if (spaces.now.silent.count(now.ends.remote))
		connection.feedback = "none!";
	if (const std::string *peer = find_in(spaces.now.tlt_peers, now.ends))
		connection.tlt = *peer;
	return connection;
}

void add_connections(Changes &changes, const Pair &spaces)
{
	std::unordered_map<std::uint64_t, const Socket *> known;

	if (spaces.before)
		for (const Socket &socket : spaces.before->sockets)
			known[socket.cookie] = &socket;
	for (const Socket &socket : spaces.now.sockets) {
		auto found = known.find(socket.cookie);

		// Another connection may have its number, after the kernel ran out of them.
		bool same = found != known.end() && found->second->ends == socket.ends;
		changes.connections.push_back(connection_of(spaces, same ? found->second : nullptr, socket));
	}
}

// -- one device

const Json *onramp_on(const Space &space, const std::string &device)
{
	auto found = std::find_if(space.onramp.begin(), space.onramp.end(),
				  [&](const Json &one) { return one.at("name") == device; });

	return found == space.onramp.end() ? nullptr : &*found;
}

void add_delays(Device &device, const Pair &spaces)
{
	std::vector<double> medians, worst;

	for (const auto &[ends, flow] : spaces.now.onramp_flows) {
		const Json *before = spaces.before ? find_in(spaces.before->onramp_flows, ends) : nullptr;

		if (flow.at("dev") != device.name || !has_new_sample(before, flow))
			continue;
		if (auto ns = counter(flow, "delay_p50_ns"))
			medians.push_back(static_cast<double>(*ns));
		if (auto ns = counter(flow, "delay_p99_ns"))
			worst.push_back(static_cast<double>(*ns));
	}
	std::sort(medians.begin(), medians.end());
	if (!medians.empty())
		device.delay_p50_ns = percentile(medians, 50);
	if (!worst.empty())
		device.delay_p99_ns = *std::max_element(worst.begin(), worst.end());
}

void add_qdisc(Device &device, const Pair &spaces)
{
	const RootQdisc *before = find_in(spaces.before->roots, device.name);
	const RootQdisc *now = find_in(spaces.now.roots, device.name);
	const Json *was = onramp_on(*spaces.before, device.name), *is = onramp_on(spaces.now, device.name);

	// Another one counts from 0.
	if (!before || !now || before->kind != now->kind || before->handle != now->handle)
		return;
	device.drops = grown(before->drops, now->drops);
	if (was && is)
		device.held = share(grown(counter(*was, "held_packets"), counter(*is, "held_packets")),
				    grown(counter(*was, "packets"), counter(*is, "packets")));
}

void add_growth(Device &device, const Pair &spaces, const Link &now)
{
	auto before = std::find_if(spaces.before->links.begin(), spaces.before->links.end(),
				   [&](const Link &link) { return link.index == now.index && link.name == now.name; });

	device.retransmits = grown(spaces.before->retransmits, spaces.now.retransmits);
	device.timeouts = grown(spaces.before->timeouts, spaces.now.timeouts);
	if (before == spaces.before->links.end())
		return;
	device.sent_bps = bits_a_second(grown(before->sent_bytes, now.sent_bytes), spaces.elapsed_ns);
	device.received_bps = bits_a_second(grown(before->received_bytes, now.received_bytes), spaces.elapsed_ns);
	add_qdisc(device, spaces);
}

void add_devices(Changes &changes, const Pair &spaces)
{
	for (const Link &link : spaces.now.links) {
		Device device;

		device.netns = spaces.now.name;
		device.space = spaces.now.id;
		device.name = link.name;
		device.loopback = link.loopback;
		device.onramp = onramp_on(spaces.now, link.name);
		add_delays(device, spaces);
		if (spaces.before && spaces.elapsed_ns > 0)
			add_growth(device, spaces, link);
		changes.devices.push_back(device);
	}
}

}  // namespace

Changes changes_between(const Look &before, const Look &now)
{
	Changes changes;

	changes.at_ns = now.at_ns;
	for (const Space &space : now.spaces) {
		auto found = std::find_if(before.spaces.begin(), before.spaces.end(),
					  [&](const Space &one) { return one.id == space.id; });
		const Space *was = found == before.spaces.end() ? nullptr : &*found;
		Pair spaces = {was, space, was ? space.at_ns - was->at_ns : 0};

		add_connections(changes, spaces);
		add_devices(changes, spaces);
		changes.refused = changes.refused || space.refused;
	}
	return changes;
}

}  // namespace turnpike
