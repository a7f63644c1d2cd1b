#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The control law's targets in the model of the rack; prints googletest's lines.
here=$(dirname "$(readlink -f "$0")")
build=${BUILD:-$here/../../build}
make -s -C "$here" BUILD="$build" "$build/sim/rack_sim_test" >&2 || exit 1
exec "$build/sim/rack_sim_test" "$@"
