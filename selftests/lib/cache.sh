# SPDX-License-Identifier: GPL-2.0
# Where the tests keep what is dear to make: test kernels, Debian packages.
# Everything below it can be deleted at any time.
# shellcheck shell=sh disable=SC2034

cache_dir=${TURNPIKE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/turnpike}
