# SPDX-License-Identifier: GPL-2.0
# What `turnpike ... -j' prints, for tests that have a shell alone, as in QEMU's guests.
# shellcheck shell=sh

# json_lines: standard input in lines. Of a list an entry each, as "name value name value"; of an
# object a value each, as "name value". Names within have those around them before theirs: "sent.data".
json_lines() {
	awk '
	function told(text) { if (list) line = line (line == "" ? "" : " ") text; else print text }
	{ sub(/^ +/, ""); sub(/,$/, ""); name = "" }
	NR == 1 { list = /^\[/ }
	match($0, /^"[^"]*": /) { name = substr($0, 2, RLENGTH - 4); $0 = substr($0, RLENGTH + 1) }
	/^[[{]$/ { within[depth + 1] = within[depth] (name == "" ? "" : name "."); depth++; next }
	/^[]}]$/ { depth--; if (list && depth == 1) { print line; line = "" } next }
	/^(\[\]|\{\})$/ { next }
	{ gsub(/"/, ""); name = within[depth] name; sub(/\.$/, "", name); told(name " " $0) }'
}
