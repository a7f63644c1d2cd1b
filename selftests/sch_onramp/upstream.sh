#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own tests of fq, as they come with its source, with onramp in fq's place. They
# call tc, and find one that puts the one name for the other.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tests=${TURNPIKE_KERNEL_TESTS:-}
[ -n "$tests" ] || skip_all "needs the kernel's tests: selftests/kernel/build --print-tests"
tests=$tests/tools/testing/selftests
for command in cc tc ip; do
	command -v $command > /dev/null || skip_all "needs $command"
done

# What the kernel's scripts find beside them, and tc before all others.
place=$(mktemp -d) || exit 1
calls=$place/bin/calls

prepare_place() {
	mkdir "$place/bin" "$place/net" && ln -s "$tests"/net/* "$place/net/" || return 1
	for program in cmsg_sender so_txtime; do
		[ -e "$tests/net/$program.c" ] || continue
		# "kselftest.h" is beside them or above
		cc -O1 -I "$tests" -o "$place/net/$program" "$tests/net/$program.c" || return 1
	done
	cat > "$place/bin/tc" <<-END
	#!/bin/bash
	set -o pipefail
	words=()
	for word; do
		[ "\$word" != fq ] || word=onramp
		words+=("\$word")
	done
	case " \${words[*]} " in *" onramp "*) echo "\${words[*]}" >> "$calls" ;; esac
	$(command -v tc) "\${words[@]}" | sed 's/^qdisc onramp /qdisc fq /'
	END
	chmod +x "$place/bin/tc"
}

# as_fq COMMAND...: and it did use the qdisc
as_fq() {
	: > "$calls"
	(cd "$place/net" && PATH=$place/bin:$PATH "$@")
	status=$?
	[ $status = 4 ] || [ -s "$calls" ] || { echo "nothing asked for fq"; return 1; }
	return $status
}

has() { [ -e "$tests/net/$1" ] || { echo "this kernel has no $1"; return 4; }; }

# It counts packets of a namespace that it makes, and takes those for its own by which IPv6
# looks for routers and tells of groups at times that chance chooses. There are none where what
# is new has the settings of here.
bands__each_has_a_limit() {
	has fq_band_pktlimit.sh || return
	sysctl -q -w net.ipv6.conf.default.router_solicitations=0 \
		net.ipv6.conf.default.mldv1_unsolicited_report_interval=3600000 \
		net.ipv6.conf.default.mldv2_unsolicited_report_interval=3600000 \
		net.core.devconf_inherit_init_net=1 || return 1
	as_fq ./fq_band_pktlimit.sh
	status=$?
	sysctl -q -w net.core.devconf_inherit_init_net=0
	return $status
}

# What follows fq's part is of another qdisc, which the test kernel does not have.
on_time() {
	out=$(as_fq ./so_txtime.sh 2>&1)
	status=$?
	echo "$out"
	[ $status = 0 ] || { [ $status = 4 ] && [[ $out == *"support qdisc etf. skipping"* ]]; }
}

# It wants each packet within 4 ms by the clock on the wall, which a busy machine misses now and
# then. A qdisc that keeps another time misses it always.
txtime__packets_leave_on_time() { has so_txtime.sh && { on_time || on_time || on_time; }; }

# Said to be slow, it waits 8 ms where 1 ms would do.
txtime__told_by_control_messages() {
	has cmsg_time.sh && KSFT_MACHINE_SLOW=yes as_fq ./cmsg_time.sh
}

in_netns() {
	ip netns add upstream && ip -netns upstream link add dummy1 type dummy || return 1
	as_fq ip netns exec upstream "$@"
	status=$?
	ip netns del upstream
	return $status
}

tdc() { in_netns "$here/tdc.py" run "$tests/tc-testing/tc-tests/qdiscs/fq.json" "$1"; }

ktap_start
need_module
trap 'rm -rf "$place"; unload_module' EXIT
ktap_case "upstream__programs_are_built" prepare_place
run_cases "$@"
while read -r id name; do
	ktap_case "tdc: $id $name" tdc "$id"
done < <("$here/tdc.py" list "$tests/tc-testing/tc-tests/qdiscs/fq.json")
finish_hosts
