# SPDX-License-Identifier: GPL-2.0
# Daemons of PTP on the NICs of wire.sh: that of b leads.
# shellcheck shell=bash disable=SC2154  # flows are of pair.sh

# ptp NETNS LINE: a daemon there, with this line beside those of all. The guest may stand
# still for longer than a real NIC takes for a stamp. A test whose NICs cannot stamp all
# that they receive sets $hwts_filter.
ptp() {
	printf '%s\n' "[global]" "time_stamping hardware" "hwts_filter ${hwts_filter:-full}" "logSyncInterval -4" \
		"logAnnounceInterval -3" "logMinDelayReqInterval -4" "tx_timestamp_timeout 5000" \
		"step_threshold 0.00002" "summary_interval 3" \
		"uds_address /run/ptp4l-$1" "$2" > "/run/ptp4l-$1.conf"
	ip netns exec "$1" ptp4l -m -f "/run/ptp4l-$1.conf" -i eth0 > "/run/ptp4l-$1.log" 2>&1 &
	daemons="$daemons $!"
}

# ptp_sent NETNS MESSAGE: how many of those that need a stamp the daemon has sent
ptp_sent() {
	pmc -u -b 0 -i "/run/pmc-$1" -s "/run/ptp4l-$1" "GET PORT_STATS_NP" |
		awk -v name="tx_$2" '$1 == name { sent = $2 } END { print sent + 0 }'
}

sent_100() { [ "$(ptp_sent "$1" "$2")" -ge 100 ]; }

# Daemons begin where nicstamp has stamps under way.
ptp4l_loses_no_stamp() {
	daemons=
	start_traffic 600
	sleep 1
	ptp a "slaveOnly 1"
	ptp b "priority1 1"
	soon sent_100 b Sync && soon sent_100 a Delay_Req
	good=$?
	end_flows
	echo "b sent $(ptp_sent b Sync) Sync, a $(ptp_sent a Delay_Req) Delay_Req"
	tail -n 15 /run/ptp4l-?.log
	for host in a b; do
		ip netns exec $host ethtool -S eth0 | grep hwtstamp
	done
	# shellcheck disable=SC2086  # a list of processes
	kill $daemons
	[ $good = 0 ] && ! grep 'tx timestamp' /run/ptp4l-?.log
}
