#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# clsact.sh's cases of what tc takes and prints, by the tc of the release's backports: what it
# loads was built for the release's own. TURNPIKE_NEWER_TC names the directory of it.

[ -n "${TURNPIKE_NEWER_TC:-}" ] || { echo "1..0 # SKIP needs a newer tc: selftests/lib/newer-tc"; exit 4; }
"$TURNPIKE_NEWER_TC/tc" -V | sed "s/^/# /"
PATH=$TURNPIKE_NEWER_TC:$PATH exec "$(dirname "$(readlink -f "$0")")/clsact.sh" \
	action__waits_for_the_configuration once__two_actions_in_a_row filter__chooses_by_port \
	traffic__replaced shown__text_and_json help__is_printed nonsense__is_refused
