# SPDX-License-Identifier: GPL-2.0
# Completion of the command turnpike for bash: asks the command itself what it has.
# shellcheck shell=bash

# Words that `turnpike WORDS --help` lists: subcommands and options stand first in a line.
_turnpike_words() {
	"$@" --help 2> /dev/null | sed -n 's/^ \+\(-[-A-Za-z0-9,]*\|[a-z][-a-z]*\)\( .*\|$\)/\1/p' | tr , '\n'
}

_turnpike() {
	local words=("${COMP_WORDS[0]}") word now=${COMP_WORDS[COMP_CWORD]}

	# Subcommands alone lead on; options and their values stand between them.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		! _turnpike_words "${words[@]}" | grep -qx -e "$word" || [[ $word == -* ]] || words+=("$word")
	done
	mapfile -t COMPREPLY < <(compgen -W "$(_turnpike_words "${words[@]}")" -- "$now")
}

complete -o default -F _turnpike turnpike
