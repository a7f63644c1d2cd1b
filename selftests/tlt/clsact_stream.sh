#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# stream.sh, with TLT attached by tc.
TURNPIKE_TLT_ATTACH=tc exec "$(dirname "$(readlink -f "$0")")/stream.sh" "$@"
