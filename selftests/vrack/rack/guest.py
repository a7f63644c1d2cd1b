# SPDX-License-Identifier: GPL-2.0
"""The run directory: everything the guest reads, written before it boots.

The guest's root is the machine's own file system; the run directory, in which
it leaves its results, is mounted in it (places).
"""
import json
import os
import shlex

from . import tools as tool_paths
from . import vrackcmd
from .places import INSIDE, Places

CTL = "/sys/kernel/debug/vrack/ctl"
STATS = "/sys/kernel/debug/vrack/stats"
SERIES = "/sys/kernel/debug/vrack/series"
PAIRS = "/sys/kernel/debug/vrack/pairs"

# of tcp_timely, which vrack_hops.ko tells the queues of hops, if vrack_int.ko does not
HOP_SIGNALS = ("sum", "sum_squ", "max")

# vload does not wait for this command, so the file appears only when whole.
SNAPSHOT = f"cat {STATS} > stats.part && mv stats.part stats.json"

# perl-base is on every Debian; kmod and a poweroff that needs no init are not
LOAD_MODULE = ('perl -e \'open F, "<", $ARGV[0] or die "$ARGV[0]: $!\\n"; '
               'syscall(313, fileno F, $ARGV[1] // "", 0) == 0 or die "$ARGV[0]: $!\\n"\'')
POWER_OFF = "perl -e 'syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0)'"

INIT = """#!/bin/sh
# The first process of the guest; written by the scenario runner.
export PATH={build}:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/ TC_LIB_DIR={build}/tc TURNPIKE_TREE={tree}
# a newer mount would use fsconfig(), in which hostfs cannot be told its directory
export LIBMOUNT_FORCE_MOUNT2=always
finish() {{
	echo "$1" > status
	dmesg > dmesg.txt
	{power_off}
}}
try() {{
	"$@" || finish "failed: $*"
}}
load_module() {{
	{load_module} "$@"
}}
# Until there is a place for a word of it, a guest that fails just ends.
system() {{
	mount -t $1 $1 $2 || {power_off}
}}
place() {{
	mkdir -p {inside}/$1
	mount -t hostfs -o "$2" $1 {inside}/$1 || {power_off}
}}
system proc /proc
system sysfs /sys
system tmpfs /run
system debugfs /sys/kernel/debug
system tracefs /sys/kernel/tracing
{places}
cd {inside}/run || {power_off}
mkdir -p /run/netns
{devices}
ip link set lo up
{modules}
for module in /sys/module/*/srcversion; do
	[ -e "$module" ] && echo "${{module%/srcversion}} $(cat $module)"
done > srcversions.txt
uname -r > release.txt
{cc}
while read -r line; do
	echo "$line" > {ctl} || finish "failed: the rack refused: $line"
done < vrack.cmd
try ip -batch netns.batch
while read -r name script address address6; do
	try ip netns exec $name sh $script $address $address6
done < hosts.list
echo "guest: load begins"
{vload} > vload.result.json || finish "failed: vload exited with $?"
tries=0
while [ ! -s stats.json ] && [ $tries -lt 100 ]; do
	sleep 0.01
	tries=$((tries + 1))
done
{series}
{pairs}
{tlt}
{onramp}
{leaks}
finish ok
"""

HOST = """# Settings of one host's namespace: $1 IPv4, $2 IPv6 or -
fail() {{
	echo "$1 ($(ip netns identify))" >&2
	exit 1
}}
{before}
ip -batch - <<END || fail "link or address"
link set lo up
addr add $1/8 dev eth0
{address6}
link set dev eth0 mtu {mtu} {link} up
END
{after}
"""

# kmemleak wants a second look at what it suspects
LEAKS = """if [ -e /sys/kernel/debug/kmemleak ]; then
	echo scan > /sys/kernel/debug/kmemleak; sleep 6
	echo scan > /sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak > kmemleak.txt
fi"""


def write(directory, plan, seed, tools):
    """All files of one run; tools has the paths of vload and the modules."""
    places = Places(run=directory, programs=tools.modules, tree=tool_paths.REPO)
    inside = tool_paths.GuestTools(tools, places)
    os.makedirs(directory, exist_ok=True)
    for stale in ("status", "stats.json", "vload.result.json", "series.txt", "pairs.txt", "dmesg.txt",
                  "tlt.txt", "onramp.txt"):
        if os.path.exists(os.path.join(directory, stale)):
            os.unlink(os.path.join(directory, stale))
    _put(directory, "vrack.cmd", vrackcmd.commands(plan, seed))
    _put(directory, "netns.batch", _netns_batch(plan))
    _put(directory, "hosts.list", _host_scripts(directory, plan, inside))
    _put(directory, "vload.json", [json.dumps(vload_config(plan, seed, places), indent=1)])
    _put(directory, "init.sh", [_init(plan, inside, places)], mode=0o755)


def _put(directory, name, lines, mode=0o644):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in lines)
    os.chmod(path, mode)


def _init(plan, tools, places):
    modules = [f"try load_module {shlex.quote(tools.module(name))} {shlex.quote(_params(params))}"
               for name, params in needed_modules(plan).items()]
    allowed = " ".join(["reno"] + [cc for cc in plan.congestion_controls() if cc != "reno"])
    return INIT.format(
        inside=INSIDE, places="\n".join(f"place {line}" for line in places.lines()),
        # the machine's own /dev knows nothing of the guest's clocks
        devices="system devtmpfs /dev" if _has_clocks(plan) else "",
        build=shlex.quote(tools.build), tree=shlex.quote(places.inside(tool_paths.REPO)),
        power_off=POWER_OFF, load_module=LOAD_MODULE,
        modules="\n".join(modules), ctl=CTL, leaks=LEAKS,
        # only what stands here may be chosen in a namespace other than the first
        cc=f"try sh -c 'echo {allowed} > /proc/sys/net/ipv4/tcp_allowed_congestion_control'",
        vload=f"{shlex.quote(tools.vload)} --progress vload.json",
        series=f"cat {SERIES} > series.txt" if plan.series_ports else "",
        pairs=f"[ ! -e {PAIRS} ] || cat {PAIRS} > pairs.txt",
        tlt=_counters(tools, "tlt", [n for n, host in plan.hosts.items() if host["tlt"]]),
        onramp=_counters(tools, "onramp", [n for n, host in plan.hosts.items()
                                           if _uses_qdisc(host, "onramp")]))


def _counters(tools, part, hosts):
    """Leaves the counters of each of the hosts, one JSON object after the other."""
    if not hosts:
        return ""
    return (f"for name in {' '.join(hosts)}; do\n\ttry ip netns exec $name "
            f"{shlex.quote(tools.turnpike)} {part} stats --json\ndone > {part}.txt")


def needed_modules(plan):
    """Module name -> parameters: the rack, and those the scenario uses."""
    settings = plan.settings
    modules = {"nicstamp": {}, "vrack": {}, "vrack_phc": {}} if _has_clocks(plan) else {"vrack": {}}
    if any(cc.startswith("timely") for cc in plan.congestion_controls()):
        modules["tcp_timely"] = {}
        if "vrack_int" not in settings["modules"] and any(_has_hop_signal(host) for host in plan.hosts.values()):
            modules["vrack_hops"] = {}
    if any(_uses_qdisc(host, "onramp") for host in plan.hosts.values()):
        modules["sch_onramp"] = {}
    if any(host["tlt"] for host in plan.hosts.values()):
        modules["tlt"] = {}
    if "tcp_hpcc" in settings["modules"]:
        modules["vrack_telemetry"] = {}
    for name, params in settings["modules"].items():
        modules[name] = params
    return modules


def _has_clocks(plan):
    settings = plan.settings
    return any(nic["phc"] for nic in [settings["nic"], *settings["nics"].values()])


def _has_hop_signal(host):
    return any(name.startswith("net.ipv4.tcp_timely") and name.endswith(".signal") and str(value) in HOP_SIGNALS
               for name, value in host["sysctls"].items())


def _uses_qdisc(host, name):
    return any(name in text.split() for text in [host["qdisc"] or "", *(host["tc"] or ())])


def _params(params):
    return " ".join(f"{key}={value}" for key, value in params.items())


def _netns_batch(plan):
    for name in plan.graph.hosts:
        yield f"netns add {name}"
    for name in plan.graph.hosts:
        yield f"link set dev {name} netns {name} name eth0"


def _uses_ipv6(plan):
    return any(load.get("family") == 6 for load in plan.loads)


def _host_scripts(directory, plan, tools):
    """One script for all hosts of equal settings; lines 'NAME SCRIPT ADDR ADDR6'."""
    scripts = {}
    for name in plan.graph.hosts:
        text = _host_script(plan, plan.hosts[name], tools)
        if text not in scripts:
            scripts[text] = f"host.{len(scripts)}.sh"
            _put(directory, scripts[text], [text])
        yield f"{name} {scripts[text]} {plan.address(name)} {plan.address(name, 6)}"


def _host_script(plan, host, tools):
    after = [f"ethtool -K eth0 {host['ethtool']} || fail ethtool"] if host["ethtool"] else []
    if host["qdisc"]:
        after.append(f"tc qdisc replace dev eth0 root {host['qdisc']} || fail qdisc")
    after += [f"{line.replace('DEV', 'eth0')} || fail tc" for line in host["tc"] or ()]
    if host["tlt"]:
        which = "" if "--rule" in host["tlt"] else "--all "
        after.append(f"{shlex.quote(tools.turnpike)} tlt set {which}{host['tlt']} > /dev/null || fail tlt")
    after += [f"{{ {line}\n}} || fail run" for line in host["run"] or ()]
    return HOST.format(
        before="\n".join(_sysctl_lines(plan, host)), mtu=plan.mtu_bytes,
        link=host["link"] or "", after="\n".join(after),
        address6="addr add $2/64 dev eth0 nodad" if _uses_ipv6(plan) else "")


def _sysctl_lines(plan, host):
    sysctls = dict(host["sysctls"])
    # a namespace without IPv6 load stays quiet: no router or listener messages
    if not _uses_ipv6(plan):
        sysctls.setdefault("net.ipv6.conf.all.disable_ipv6", "1")
    if host["cc"]:
        sysctls.setdefault("net.ipv4.tcp_congestion_control", host["cc"])
    for name, value in sysctls.items():
        path = "/proc/sys/" + (name if "/" in name else name.replace(".", "/"))
        yield f"echo {shlex.quote(str(value))} > {shlex.quote(path)} || fail {shlex.quote(name)}"


def vload_config(plan, seed, places):
    settings = plan.settings
    hosts = {name: {"netns": name, "addr": plan.address(name), "addr6": plan.address(name, 6)}
             for name in plan.graph.hosts}
    config = {"seed": seed, "duration_s": settings["duration_s"],
              "warmup_s": settings["warmup_s"], "hosts": hosts,
              "actions": _actions(plan), "loads": _loads(plan, places)}
    if settings["drain_s"]:
        config["drain_s"] = settings["drain_s"]
    if settings["sample_interval_us"]:
        config["sample_interval_us"] = settings["sample_interval_us"]
    return config


def _loads(plan, places):
    """As vload wants them: size distributions by full path."""
    return [{**load, "sizes": _sizes(plan, load["sizes"], places)} if "sizes" in load else load
            for load in plan.loads]


def _sizes(plan, sizes, places):
    return int(sizes) if sizes.isdigit() else places.inside(tool_paths.sizes_file(sizes, plan.scenario_path))


def _actions(plan):
    settings = plan.settings
    actions = [{"time_s": settings["warmup_s"], "write": CTL, "text": "stats reset\n"},
               {"time_s": settings["duration_s"], "run": SNAPSHOT}]
    if plan.series_ports:
        interval_ns = round(settings["series"]["interval_us"] * 1000)
        ports = " ".join(f"port={port}" for port in plan.series_ports)
        actions.append({"time_s": 0, "write": CTL,
                        "text": f"series start interval_ns={interval_ns} {ports}\n"})
    actions += [_action(action) for action in settings["actions"]]
    return sorted(actions, key=lambda action: action["time_s"])


def _action(action):
    if action["vrack"]:
        return {"time_s": action["time_s"], "write": CTL, "text": action["vrack"] + "\n"}
    if action["write"]:
        return {"time_s": action["time_s"], "write": action["write"], "text": action["text"] or ""}
    command = action["run"] or "true"
    if action["host"]:
        command = f"ip netns exec {action['host']} sh -c {shlex.quote(command)}"
    return {"time_s": action["time_s"], "run": command}
