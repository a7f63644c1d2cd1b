// SPDX-License-Identifier: GPL-2.0
#include "host.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "../command.h"
#include "../netlink.h"
#include "../release.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

std::set<std::string> device_names()
{
	std::set<std::string> names;
	struct if_nameindex *all = if_nameindex();

	for (struct if_nameindex *one = all; one && one->if_index; one++)
		names.insert(one->if_name);
	if_freenameindex(all);
	return names;
}

bool is_veth(const nlattr *link_info)
{
	for (const nlattr *attribute : nested(link_info))
		if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
			return std::string(mnl_attr_get_str(attribute)) == "veth";
	return false;
}

// The kernel names the other end's namespace where that is another one.
std::vector<std::string> veths_of_others()
{
	std::vector<std::string> names;

	Netlink(NETLINK_ROUTE).dump(RTM_GETLINK, ifinfomsg{}, [&](const nlmsghdr *answer) {
		bool veth = false, elsewhere = false;
		std::string name;

		if (answer->nlmsg_type != RTM_NEWLINK)
			return;
		for (const nlattr *attribute : attributes(answer, sizeof(ifinfomsg))) {
			if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
				name = mnl_attr_get_str(attribute);
			if (mnl_attr_get_type(attribute) == IFLA_LINK_NETNSID)
				elsewhere = true;
			if (mnl_attr_get_type(attribute) == IFLA_LINKINFO)
				veth = is_veth(attribute);
		}
		if (veth && elsewhere)
			names.push_back(name);
	});
	return names;
}

std::vector<Route> routes_of(bool v6)
{
	Words ask = {"ip", "-o", "route", "show", "table", "main"};

	if (v6)
		ask.insert(ask.begin() + 1, "-6");
	// Without IPv6 there is no such table.
	if (v6 && access("/proc/net/if_inet6", F_OK))
		return {};
	return parse_routes(output_of(ask), v6);
}

void look_at_tlt(Host &host)
{
	Json tlt = host.modules.count("tlt") ? answer_of({"tlt", "show"}) : Json();

	if (!tlt.is_object() || !tlt.value("enabled", false))
		return;
	host.tlt_on = true;
	for (const Json &rule : tlt.value("rules", Json::array())) {
		std::string text;
		for (const auto &[name, value] : rule.items())
			text += (text.empty() ? "" : ",") + name + "=" +
				(value.is_string() ? value.get<std::string>() : value.dump());
		host.tlt_rules.push_back(text);
	}
}

// Of those that take filters and that onramp may take the place of.
void look_at_filters(Host &host)
{
	static const std::set<std::string> kTake = {"fq_codel", "sfq", "cake", "fq_pie"};

	for (const Qdisc &qdisc : host.qdiscs) {
		std::vector<std::string> filters;

		if (kTake.count(qdisc.kind))
			filters = filters_of(qdisc);
		if (!filters.empty())
			host.filters[{qdisc.device, qdisc.parent}] = filters;
	}
}

// Without systemd none is on.
void look_at_units(Host &host)
{
	for (const char *name : {kTextfileUnit, kListenUnit})
		if (!run({"systemctl", "is-active", "--quiet", name}).status)
			host.units.insert(name);
}

}  // namespace

std::string first_word(const std::string &path)
{
	std::ifstream file(path);
	std::string word;

	file >> word;
	return word;
}

std::set<std::string> loaded_modules()
{
	std::set<std::string> names;

	for (const char *name : {"tcp_timely", "sch_onramp", "tlt", "nicstamp"})
		if (!access((std::string("/sys/module/") + name).c_str(), F_OK))
			names.insert(name);
	return names;
}

Host look_at_host(const Wanted &wanted)
{
	Host host;

	host.modules = loaded_modules();
	host.devices = device_names();
	host.veths = veths_of_others();
	host.routes = routes_of(false);
	for (Route &route : routes_of(true))
		host.routes.push_back(route);
	host.qdiscs = qdiscs();
	look_at_filters(host);
	host.has_usec = is_release_from(kernel_release(), 6, 7);
	look_at_tlt(host);
	if (host.modules.count("sch_onramp"))
		host.keys = answer_of({"onramp", "show"}).value("keys", std::vector<unsigned>());
	if (wanted.metrics != WantedMetrics())
		look_at_units(host);
	return host;
}

std::string caller()
{
	if (const char *user = std::getenv("SUDO_USER"))
		return user;
	if (std::getenv("INVOCATION_ID"))
		return "systemd";
	return getuid() ? "user " + std::to_string(getuid()) : "root";
}

void carry_out(const Command &command)
{
	if (command.qdisc) {
		restore_qdisc(*command.qdisc);
		return;
	}
	if (command.usec)
		set_usec({*command.usec}, true);
	else
		output_of(command.words);
}

namespace {

// `ip -batch' reads words apart by blanks, with marks of its own in them.
bool is_plain(const std::string &word)
{
	return !word.empty() && word.find_first_of(" \t\n\"'\\#") == std::string::npos;
}

bool is_of_a_route(const Command &command, bool v6)
{
	const Words &words = command.words;
	const Words begin = v6 ? Words{"ip", "-6", "route"} : Words{"ip", "route"};

	return words.size() > begin.size() && std::equal(begin.begin(), begin.end(), words.begin()) &&
	       std::all_of(words.begin(), words.end(), is_plain);
}

// Which of the commands `ip -batch' stopped at, by "Command failed -:7"; the last if it does not say.
const Command &failed_of(const std::vector<Command> &batch, const std::string &said)
{
	static const std::string kMark = "Command failed -:";
	std::size_t at = said.rfind(kMark);
	unsigned long number = at == std::string::npos ? 0 : std::strtoul(said.c_str() + at + kMark.size(), nullptr, 10);

	return number && number <= batch.size() ? batch[number - 1] : batch.back();
}

void carry_out_batch(const std::vector<Command> &batch, bool v6)
{
	std::string input;

	for (const Command &command : batch) {
		for (auto word = command.words.begin() + (v6 ? 2 : 1); word != command.words.end(); ++word)
			input += *word + ' ';
		input += '\n';
	}
	Ended ended = run(v6 ? Words{"ip", "-6", "-batch", "-"} : Words{"ip", "-batch", "-"}, input);
	if (ended.status)
		throw Error(command_text(failed_of(batch, ended.said())) + ": " + ended.said());
}

}  // namespace

void carry_out(const std::vector<Command> &commands)
{
	std::vector<Command> of_routes[2];
	std::vector<UsecRoute> usec;

	for (const Command &command : commands) {
		if (command.usec)
			usec.push_back(*command.usec);
		else if (is_of_a_route(command, false))
			of_routes[0].push_back(command);
		else if (is_of_a_route(command, true))
			of_routes[1].push_back(command);
		else
			carry_out(command);
	}
	for (bool v6 : {false, true})
		if (!of_routes[v6].empty())
			carry_out_batch(of_routes[v6], v6);
	if (!usec.empty())
		set_usec(usec, true);
}

}  // namespace turnpike
