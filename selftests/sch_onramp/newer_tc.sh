#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# options.sh by the tc of the release's backports: what it loads was built for the release's own.
# TURNPIKE_NEWER_TC names the directory of it.

[ -n "${TURNPIKE_NEWER_TC:-}" ] || { echo "1..0 # SKIP needs a newer tc: selftests/lib/newer-tc"; exit 4; }
"$TURNPIKE_NEWER_TC/tc" -V | sed "s/^/# /"
PATH=$TURNPIKE_NEWER_TC:$PATH exec "$(dirname "$(readlink -f "$0")")/options.sh"
