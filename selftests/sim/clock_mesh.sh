#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Targets of turnpike clockd's mesh in a model without sockets; prints googletest's lines.
here=$(dirname "$(readlink -f "$0")")
build=${BUILD:-$here/../../build}
make -s -C "$here" BUILD="$build" "$build/sim/clock_mesh_test" >&2 || exit 1
exec "$build/sim/clock_mesh_test" "$@"
