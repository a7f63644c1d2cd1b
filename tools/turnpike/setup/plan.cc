// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#include <algorithm>

#include <linux/pkt_sched.h>

#include "../command.h"
#include "../onramp_flows.h"
#include "../tlt.h"

namespace turnpike {
namespace {

// What has no classes, so that onramp may take its place. noqueue is that of devices without a queue.
const std::set<std::string> kClassless = {"noqueue", "pfifo_fast", "pfifo", "bfifo", "fq", "fq_codel", "codel",
					  "pie", "fq_pie", "cake", "sfq"};
// mq's handle where the kernel's own has none: classes need one.
constexpr std::uint32_t kMqHandle = 0x10000;

Command words(Words list)
{
	return {.words = std::move(list)};
}

template <typename List> void append(List &list, const List &more)
{
	list.insert(list.end(), more.begin(), more.end());
}

std::string name_of(const std::string &congctl)
{
	return congctl.empty() ? "the host's default" : congctl;
}

// -- modules

// Something that is there or not, by one command.
void add_whole(Plan &plan, Kind kind, const std::string &name, bool holds, const char *wanted, const char *other, Words command)
{
	Step step = {{.kind = kind, .name = name}, wanted, holds ? wanted : other, holds, {}};

	step.commands.push_back(words(std::move(command)));
	plan.steps.push_back(step);
}

void add_module(Plan &plan, const Host &host, const std::string &name)
{
	add_whole(plan, Kind::module, name, host.modules.count(name) > 0, "loaded", "not loaded", {"modprobe", name});
}

// -- queueing disciplines

const Qdisc *at(const Host &host, const std::string &device, std::uint32_t parent)
{
	for (const Qdisc &qdisc : host.qdiscs)
		if (qdisc.device == device && qdisc.parent == parent)
			return &qdisc;
	return nullptr;
}

// The qdiscs of mq's classes; those of the kernel's own mq have a parent of number 0.
std::vector<Qdisc> below(const Host &host, const Qdisc &mq)
{
	std::vector<Qdisc> children;

	for (const Qdisc &qdisc : host.qdiscs)
		if (qdisc.device == mq.device && qdisc.parent != TC_H_ROOT && TC_H_MAJ(qdisc.parent) == mq.handle &&
		    TC_H_MIN(qdisc.parent))
			children.push_back(qdisc);
	return children;
}

// The qdisc and its options that are not its own.
Words onramp_words(const WantedDevice &device)
{
	Words list = {"onramp"};

	if (!device.threshold.empty())
		append(list, Words{"threshold", device.threshold});
	if (!device.line_rate.empty())
		append(list, Words{"line_rate", device.line_rate});
	return list;
}

// Changes the options where there is an onramp.
Words replace_words(const WantedDevice &device, std::uint32_t parent)
{
	Words list = {"tc", "qdisc", "replace", "dev", device.name};

	append(list, place_words(parent));
	append(list, onramp_words(device));
	return list;
}

// What is wanted of it, as it is; options of which nothing is wanted are not looked at.
WantedDevice options_of(const Qdisc &onramp, const WantedDevice &wanted)
{
	OnrampOptions now = onramp_options(onramp);
	WantedDevice device = wanted;

	if (!wanted.threshold.empty())
		device.threshold = onramp_threshold_text(now.threshold_ns);
	if (!wanted.line_rate.empty() && onramp_line_rate_bps(wanted.line_rate) != now.line_rate_bps)
		device.line_rate = now.line_rate_bps ? std::to_string(now.line_rate_bps / 1000000) + "mbit" : "auto";
	return device;
}

std::string kind_text(const Qdisc &qdisc, const WantedDevice &wanted)
{
	return qdisc.kind == "onramp" ? shell_text(onramp_words(options_of(qdisc, wanted))) : qdisc.kind;
}

// Throws Error where an administrator has classes, or what would go with the qdisc and not come back with it: filters,
// and a table of sizes, of which the kernel tells a part.
void refuse_what_would_be_lost(const Qdisc &qdisc, const Host &host)
{
	std::string which = qdisc.device + " has " + qdisc.kind + " (" + onramp_handle_text(qdisc.handle) + ")", list;
	auto found = host.filters.find({qdisc.device, qdisc.parent});

	if (!kClassless.count(qdisc.kind))
		throw Error(which + ", which somebody put there: put onramp below its classes, as tc-onramp(8) shows, or remove it");
	if (found != host.filters.end()) {
		for (const std::string &filter : found->second)
			list += (list.empty() ? "" : ", ") + filter;
		throw Error(which + " with filters (" + list + "), which would go with it and not come back: remove them first");
	}
	if (qdisc.stab)
		throw Error(which + " with a size table (stab), which would go with it and not come back: remove it first");
}

Step root_step(const Qdisc &root, const Host &host, const WantedDevice &device)
{
	Step step = {{.kind = Kind::qdisc, .name = root.device, .qdiscs = {root}}, shell_text(onramp_words(device)),
		     kind_text(root, device), false, {}};

	step.holds = step.now == step.wanted;
	if (root.kind != "onramp")
		refuse_what_would_be_lost(root, host);
	step.commands.push_back(words(replace_words(device, TC_H_ROOT)));
	return step;
}

// The kernel's own mq is put again, with a handle. Of an administrator's the classes get onramp.
Step mq_step(const Qdisc &mq, const std::vector<Qdisc> &children, const Host &host, const WantedDevice &device)
{
	std::string wanted = shell_text(onramp_words(device));
	Step step = {{.kind = Kind::qdisc, .name = mq.device}, "mq with " + wanted, "mq", true, {}};
	std::uint32_t handle = mq.handle ? mq.handle : kMqHandle;

	if (!mq.handle) {
		step.change.qdiscs = {mq};
		append(step.change.qdiscs, children);
		step.commands.push_back(words({"tc", "qdisc", "replace", "dev", mq.device, "root", "handle",
					       onramp_handle_text(handle), "mq"}));
	}
	for (const Qdisc &child : children) {
		std::string now = kind_text(child, device);
		if (now == wanted)
			continue;
		step.holds = false;
		step.now = "mq with " + now;
		if (child.kind != "onramp")
			refuse_what_would_be_lost(child, host);
		if (mq.handle)
			step.change.qdiscs.push_back(child);
		step.commands.push_back(words(replace_words(device, handle | TC_H_MIN(child.parent))));
	}
	if (step.holds)
		step.now = step.wanted;
	return step;
}

void add_onramp(Plan &plan, const Host &host, const WantedDevice &device)
{
	const Qdisc *root = at(host, device.name, TC_H_ROOT);

	if (!root || root->kind == "noop")
		throw Error(device.name + " has no queueing discipline: is it up?");
	if (root->kind != "mq") {
		plan.steps.push_back(root_step(*root, host, device));
		return;
	}
	std::vector<Qdisc> children = below(host, *root);
	if (children.empty())
		throw Error(device.name + " has mq without a queue: is it up?");
	plan.steps.push_back(mq_step(*root, children, host, device));
}

// -- routes

Words route_words(const char *verb, bool v6, const Words &route)
{
	Words list = {"ip"};

	if (v6)
		list.push_back("-6");
	append(list, Words{"route", verb});
	append(list, route);
	return list;
}

Command usec_command(const Change &change)
{
	Command command = {.words = {"turnpike", "usec-ts", "on", change.name, "--dev", change.device},
			   .usec = UsecRoute{change.name, change.device}};

	if (!change.metric.empty()) {
		append(command.words, Words{"--metric", change.metric});
		command.usec->metric = std::stol(change.metric);
	}
	return command;
}

Step route_step(const RouteFor &found, const std::string &congestion, bool usec)
{
	const Route &route = found.route;
	std::string congctl = congestion.empty() ? route.congctl : congestion;
	Step step;

	step.change = {.kind = Kind::route, .name = route.destination(), .device = route.device(),
		       .metric = route.value("metric"), .v6 = route.v6, .made = found.made, .congctl = route.congctl,
		       .set = congctl, .usec = route.usec};
	if (found.made) {
		step.change.via = route.value("via");
		step.change.src = route.value("src");
	}
	step.wanted = name_of(congctl) + (usec ? ", microsecond timestamps" : "");
	step.now = name_of(route.congctl) + (route.usec ? ", microsecond timestamps" : "");
	step.holds = !found.made && route.congctl == congctl && (!usec || route.usec);
	step.commands.push_back(words(route_words(found.made ? "add" : "change", route.v6,
						  with_congctl(route.words, congctl))));
	// A change of the route by words would lose it.
	if (usec || route.usec)
		step.commands.push_back(usec_command(step.change));
	return step;
}

void add_routes(Plan &plan, const Wanted &wanted, const Host &host, const WantedDevice &device)
{
	bool usec = device.usec && host.has_usec, any = false;
	std::set<std::string> known;

	for (const std::string &prefix : wanted.prefixes) {
		for (const RouteFor &found : routes_for(host.routes, onramp_prefix(prefix), device.name)) {
			any = true;
			if (!found.route.special.empty()) {
				plan.remarks.push_back("route " + found.route.destination() + " of " + device.name +
						       (found.made ? " is not added: the one that leads there " : " stays as it is: it ") +
						       found.route.special);
				continue;
			}
			// Prefixes may overlap.
			Step step = route_step(found, wanted.congestion, usec);
			if (known.insert(step.change.key()).second)
				plan.steps.push_back(step);
		}
	}
	if (!any)
		throw Error("no route of " + device.name + " leads to " + wanted.prefixes.front() +
			    (wanted.prefixes.size() > 1 ? " or the others" : ""));
}

// -- TLT, keys

void add_tlt(Plan &plan, const Wanted &wanted, const Host &host)
{
	Step step = {{.kind = Kind::tlt, .name = "tlt"}, "on", host.tlt_on ? "on" : "off", host.tlt_on, {}};
	Words set = {"turnpike", "tlt", "set"};

	if (host.tlt_on && !tlt_same_rules(host.tlt_rules, wanted.tlt_rules))
		throw Error("TLT is on with other rules (turnpike tlt show): 'turnpike tlt off' first");
	for (const std::string &rule : wanted.tlt_rules)
		append(set, Words{"--rule", rule});
	if (wanted.tlt_rules.empty())
		set.push_back("--all");
	step.commands.push_back(words(set));
	plan.steps.push_back(step);
}

void add_key(Plan &plan, const Wanted &wanted, const Host &host)
{
	Step step = {{.kind = Kind::key, .name = wanted.key}, "keys of " + wanted.key,
		     host.keys.empty() ? "no key" : "keys", !host.keys.empty(), {}};

	step.commands.push_back(words({"turnpike", "onramp", "key", "load", wanted.key}));
	plan.steps.push_back(step);
}

void add_unit(Plan &plan, const Host &host, const std::string &name)
{
	add_whole(plan, Kind::unit, name, host.units.count(name) > 0, "on", "off", {"systemctl", "start", name});
}

bool wants_metrics(const Wanted &wanted)
{
	return !wanted.metrics.textfile.empty() || !wanted.metrics.listen.empty();
}

// -- back

Command delete_root(const std::string &device)
{
	return words({"tc", "qdisc", "del", "dev", device, "root"});
}

std::vector<Command> undo_qdisc(const Qdisc &before, const Host &host)
{
	const Qdisc *now = at(host, before.device, before.parent);

	// Somebody else's by now.
	if (!now || now->kind != "onramp")
		return {};
	if (!before.handle && before.parent == TC_H_ROOT)
		return {delete_root(before.device)};
	return {{.qdisc = before}};
}

// What comes in the place of an onramp below the mq that up made: somebody's that stood there, or else one as the kernel
// had for its queues.
std::optional<Qdisc> before_onramp(const Change &change, const Qdisc &onramp)
{
	std::optional<Qdisc> kernels;

	for (const Qdisc &before : change.qdiscs) {
		if (before.parent == onramp.parent && before.handle)
			return before;
		if (before.kind != "mq" && !before.handle)
			kernels = before;
	}
	if (kernels)
		kernels->parent = onramp.parent;
	return kernels;
}

// The kernel makes its own again, unless somebody has a qdisc below it: that one stays.
std::vector<Command> undo_mq(const Change &change, const Qdisc &mq, const Host &host)
{
	std::vector<Command> commands;
	bool somebodys = false;

	for (const Qdisc &child : below(host, mq)) {
		if (child.kind != "onramp") {
			somebodys = somebodys || child.handle;
			continue;
		}
		std::optional<Qdisc> before = before_onramp(change, child);
		somebodys = somebodys || (before && before->handle);
		if (before)
			commands.push_back({.qdisc = before});
	}
	return somebodys ? commands : std::vector{delete_root(mq.device)};
}

std::vector<Command> undo_qdiscs(const Change &change, const Host &host)
{
	std::vector<Command> commands;
	const Qdisc *root = at(host, change.name, TC_H_ROOT);
	bool made = std::any_of(change.qdiscs.begin(), change.qdiscs.end(),
				[](const Qdisc &before) { return before.kind == "mq"; });

	if (made)
		return root && root->kind == "mq" && root->handle == kMqHandle ? undo_mq(change, *root, host) : commands;
	for (const Qdisc &before : change.qdiscs)
		append(commands, undo_qdisc(before, host));
	return commands;
}

const Route *same_route(const Change &change, const Host &host)
{
	for (const Route &route : host.routes)
		if (route.v6 == change.v6 && route.destination() == change.name && route.device() == change.device &&
		    route.value("metric") == change.metric && route.special.empty())
			return &route;
	return nullptr;
}

// The route as it is by now: its gateway may be another than it was. What is not as it was set is another's.
std::vector<Command> undo_route(const Change &change, const Host &host)
{
	const Route *now = same_route(change, host);
	std::vector<Command> commands;

	if (!now || now->congctl != change.set || (now->congctl == change.congctl && now->usec == change.usec && !change.made))
		return {};
	if (change.made) {
		bool same = now->value("via") == change.via && now->value("src") == change.src &&
			    now->value("proto") == "static";
		return same ? std::vector{words(route_words("del", now->v6, with_congctl(now->words, "")))}
			    : std::vector<Command>();
	}
	commands.push_back(words(route_words("change", now->v6, with_congctl(now->words, change.congctl))));
	if (change.usec)
		commands.push_back(usec_command(change));
	return commands;
}

}  // namespace

std::string command_text(const Command &command)
{
	if (!command.qdisc)
		return shell_text(command.words);
	const Qdisc &qdisc = *command.qdisc;
	Words list = {"tc", "qdisc", "replace", "dev", qdisc.device};
	append(list, place_words(qdisc.parent));
	if (qdisc.handle)
		append(list, Words{"handle", onramp_handle_text(qdisc.handle)});
	list.push_back(qdisc.kind);
	return shell_text(list) + "  # with the options that it had";
}

std::string Change::key() const
{
	switch (kind) {
	case Kind::module:
		return "module " + name;
	case Kind::key:
		return "keys";
	case Kind::tlt:
		return "tlt";
	case Kind::qdisc:
		return "qdisc of " + name;
	case Kind::unit:
		return "unit " + name;
	case Kind::route:
		return "route " + name + " dev " + device + (metric.empty() ? "" : " metric " + metric);
	case Kind::device:
		return "device " + name;
	}
	return name;
}

bool Change::is_of_the_same(const Change &other) const
{
	// There is one of each.
	if (kind != other.kind || kind == Kind::key || kind == Kind::tlt)
		return kind == other.kind;
	return name == other.name && device == other.device && metric == other.metric;
}

namespace {

// A container's end is no way to other hosts: no gateway is behind it.
bool is_of_a_container(const std::string &veth, const Wanted &wanted, const Host &host)
{
	return std::none_of(wanted.devices.begin(), wanted.devices.end(),
			    [&](const WantedDevice &device) { return device.name == veth; }) &&
	       std::none_of(host.routes.begin(), host.routes.end(),
			    [&](const Route &route) { return route.device() == veth && !route.value("via").empty(); });
}

// What goes through another namespace's sockets is neither held nor has another congestion control.
void tell_containers(Plan &plan, const Wanted &wanted, const Host &host)
{
	constexpr std::size_t kNamed = 3;
	std::vector<std::string> left;
	std::string names;

	for (const std::string &veth : host.veths)
		if (is_of_a_container(veth, wanted, host))
			left.push_back(veth);
	if (wanted.devices.empty() || left.empty())
		return;
	for (std::size_t i = 0; i < std::min(left.size(), kNamed); i++)
		names += (i ? ", " : "") + left[i];
	if (left.size() > kNamed)
		names += " and " + std::to_string(left.size() - kNamed) + " more";
	plan.remarks.push_back(names + (left.size() > 1 ? " lead to containers" : " leads to a container") +
			       ", whose connections this does not touch or hold: call it in each, as in "
			       "'nsenter -t PID -n turnpike up DEV', with the other words as here");
}

// How a device is added: add_device(), or told_device() where an error is told and not thrown.
using AddDevice = void (*)(Plan &plan, const Wanted &wanted, const Host &host, const WantedDevice &device);

void add_device(Plan &plan, const Wanted &wanted, const Host &host, const WantedDevice &device)
{
	if (!host.devices.count(device.name))
		throw Error("there is no device " + device.name);
	if (device.onramp)
		add_onramp(plan, host, device);
	if (device.usec && !host.has_usec)
		plan.remarks.push_back("microsecond timestamps of TCP need Linux 6.7: On-Ramp has receipts alone");
	if (!wanted.congestion.empty() || (device.usec && host.has_usec && !wanted.prefixes.empty()))
		add_routes(plan, wanted, host, device);
}

void told_device(Plan &plan, const Wanted &wanted, const Host &host, const WantedDevice &device)
{
	try {
		add_device(plan, wanted, host, device);
	} catch (const Error &error) {
		plan.steps.push_back({{.kind = Kind::device, .name = device.name}, "set up", error.what(), false, {}});
	}
}

Plan plan_by(AddDevice add, const Wanted &wanted, const Host &host)
{
	bool onramp = std::any_of(wanted.devices.begin(), wanted.devices.end(),
				  [](const WantedDevice &device) { return device.onramp; });
	Plan plan;

	if (wanted.devices.empty() && !wanted.tlt && !wants_metrics(wanted))
		throw Error("nothing is wanted: no device, no rule of TLT, and no metrics");
	if (!wanted.congestion.empty())
		add_module(plan, host, "tcp_timely");
	if (onramp)
		add_module(plan, host, "sch_onramp");
	if (wanted.tlt)
		add_module(plan, host, "tlt");
	if (!wanted.key.empty())
		add_key(plan, wanted, host);
	for (const WantedDevice &device : wanted.devices)
		add(plan, wanted, host, device);
	if (wanted.tlt)
		add_tlt(plan, wanted, host);
	if (!wanted.metrics.textfile.empty())
		add_unit(plan, host, kTextfileUnit);
	if (!wanted.metrics.listen.empty())
		add_unit(plan, host, kListenUnit);
	return plan;
}

}  // namespace

Plan plan(const Wanted &wanted, const Host &host)
{
	Plan made = plan_by(add_device, wanted, host);

	tell_containers(made, wanted, host);
	return made;
}

Plan compare(const Wanted &wanted, const Host &host)
{
	return plan_by(told_device, wanted, host);
}

std::set<std::string> modules_of(const Wanted &wanted)
{
	std::set<std::string> names;

	if (!wanted.congestion.empty())
		names.insert("tcp_timely");
	if (wanted.tlt)
		names.insert("tlt");
	for (const WantedDevice &device : wanted.devices)
		if (device.onramp)
			names.insert("sch_onramp");
	return names;
}

std::vector<Command> undo(const Change &change, const Host &host)
{
	switch (change.kind) {
	case Kind::module:
		if (host.modules.count(change.name))
			// modprobe unloads nothing whose file is gone, as after apt remove.
			return {words({"rmmod", change.name})};
		return {};
	case Kind::key: {
		std::vector<Command> commands;
		// Others were loaded by hand since.
		for (unsigned id : host.keys)
			if (std::find(change.keys.begin(), change.keys.end(), id) != change.keys.end())
				commands.push_back(words({"turnpike", "onramp", "key", "del", std::to_string(id)}));
		return commands;
	}
	case Kind::qdisc:
		return undo_qdiscs(change, host);
	case Kind::route:
		return undo_route(change, host);
	case Kind::tlt:
		if (host.tlt_on)
			return {words({"turnpike", "tlt", "off"})};
		return {};
	case Kind::unit:
		// One that did not start cannot be stopped where there is no systemd.
		if (host.units.count(change.name))
			return {words({"systemctl", "stop", change.name})};
		return {};
	case Kind::device:
		return {};
	}
	return {};
}

}  // namespace turnpike
