#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Settings of tcp_timely: what is refused, what is kept, whose they are.

# shellcheck source=selftests/tcp_timely/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

get() { in_a cat "/proc/sys/$settings${2:-}/$1"; }
set_to() { in_a sh -c "echo '$2' > /proc/sys/$settings${3:-}/$1" 2>/dev/null; }

is() {
	[ "$(get "$1" "${3:-}")" = "$2" ] && return 0
	echo "$1 is $(get "$1" "${3:-}"), not $2"
	return 1
}

# refused NAME VALUE: and nothing changes
refused() {
	old=$(get "$1")
	if set_to "$1" "$2"; then
		echo "$1=$2 was accepted"
		return 1
	fi
	is "$1" "$old"
}

write__number_is_kept() {
	set_to t_low_us 7 && is t_low_us 7 && set_to preset default
}

write__nonsense_is_refused() {
	for value in -1 12x 1.5 "1 2" "" 0x 99999999999999999999999 \
		     18446744073709551616 4294967296 abc; do
		refused t_low_us "$value" || return 1
	done
}

write__outside_the_range_is_refused() {
	refused t_high_us 0 && refused beta_milli 1001 && refused delta_bps 0 &&
		refused min_rate_bps 7999 && refused own_pacing 2
}

write__contradiction_is_refused() {
	set_to preset default
	refused t_low_us $(($(get t_high_us) + 1)) &&
		refused t_high_us $(($(get t_low_us) - 1)) &&
		refused min_rate_bps $(($(get max_rate_bps) + 1)) &&
		refused init_rate_bps 8000
}

write__equal_thresholds_are_accepted() {
	set_to preset default
	set_to t_low_us "$(get t_high_us)" && set_to preset default
}

write__every_setting_takes_its_own_value() {
	for file in $(in_a ls "/proc/sys/$settings"); do
		set_to "$file" "$(get "$file")" || { echo "$file refused"; return 1; }
	done
}

write__word_is_kept_and_others_refused() {
	for word in forward sum sum_squ max; do
		set_to signal $word && is signal $word || return 1
	done
	for value in rtts RTT 1 "rtt forward" "" both squ maximum; do
		refused signal "$value" || return 1
	done
	is signal max && set_to signal rtt && is signal rtt
}

# logged NAME VALUE [COMMAND...]: what the kernel says when that is written, in a namespace of its own
logged() {
	_name=$1 _value=$2
	shift 2
	sleep 6		# let the rate limit of kernel messages forget the others
	dmesg -c > /dev/null
	! "$@" sh -c "echo '$_value' > /proc/sys/$settings/$_name" 2> /dev/null && dmesg
}

write__refused_word_says_why() {
	said=$(logged signal sideways) || return 1
	echo "$said"
	[ "$(grep -c "signal: 'sideways' refused: not one of the words" <<< "$said")" = 1 ]
}

write__refusal_says_why() {
	said=$(logged t_low_us 99999999) || return 1
	echo "$said"
	grep -q "t_low_us.*99999999" <<< "$said"
}

# The text is anybody's, who could fill the host's log with it.
write__refusal_in_another_namespace_is_not_logged() {
	said=$(logged t_low_us 99999999 in_a) || return 1
	echo "$said"
	[ -z "$said" ]
}

write__far_too_long_is_refused() {
	refused t_low_us "$(printf '%0200d' 5)"
}

preset__sets_all_and_is_named() {
	is preset default && set_to preset verbatim && is preset verbatim &&
		is burst_us 0 && is noise_max_us 0 && is beta_milli 800 &&
		set_to preset default && is preset default
}

preset__changed_value_makes_it_custom() {
	set_to preset default && set_to t_low_us 1 && is preset custom &&
		set_to preset default && is preset default
}

preset__unknown_is_refused() { refused preset no-such; }

preset__leaves_the_host_settings() {
	set_to idle_ms 123 && set_to preset verbatim && is idle_ms 123 &&
		set_to preset default && set_to idle_ms 200
}

variant__has_settings_of_its_own() {
	old=$(get t_low_us)
	set_to t_low_us 9 _patched && is t_low_us 9 _patched && is t_low_us "$old" &&
		set_to preset default _patched
}

variant__pi_alone_has_its_controllers_settings() {
	for name in pi_k1_milli pi_k2_per_s pi_droop_milli; do
		set_to $name 7 _pi && is $name 7 _pi || return 1
		[ -e "/proc/sys/$settings/$name" ] || [ -e "/proc/sys/${settings}_patched/$name" ] || continue
		echo "$name is not timely_pi's alone"
		return 1
	done
	is preset custom _pi && set_to preset default _pi && is pi_k1_milli 400 _pi && is preset default _pi
}

# The other two may have no room for queue at all.
variant__pi_refuses_a_reference_of_nothing() {
	set_to t_low_us 0 && set_to preset default || return 1
	if set_to t_low_us 0 _pi || set_to pi_k1_milli 10001 _pi; then
		echo "accepted"
		return 1
	fi
	is preset default _pi
}

netns__starts_from_the_defaults() {
	echo 55 > /proc/sys/$settings/idle_ms
	ip netns add "$a-new"
	fresh=$(ip netns exec "$a-new" cat /proc/sys/$settings/idle_ms)
	ip netns del "$a-new"
	echo 200 > /proc/sys/$settings/idle_ms
	[ "$fresh" = 200 ]
}

netns__does_not_see_another() {
	in_b sh -c "echo 9 > /proc/sys/$settings/t_low_us"
	is t_low_us "$(cat /proc/sys/$settings/t_low_us)"
}

begin_on_path
run_cases "$@"
finish_hosts
