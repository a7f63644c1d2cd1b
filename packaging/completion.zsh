#compdef turnpike
# SPDX-License-Identifier: GPL-2.0
# Completion of the command turnpike for zsh: asks the command itself what it has.

_turnpike() {
	local -a have
	local -a ask=(turnpike)
	local word

	_turnpike_have() {
		have=(${(f)"$("$@" --help 2>/dev/null | sed -n 's/^ \+\(-[-A-Za-z0-9,]*\|[a-z][-a-z]*\)\( .*\|$\)/\1/p' | tr , '\n')"})
	}
	_turnpike_have $ask
	for word in ${words[2,CURRENT-1]}; do
		if [[ $word != -* && -n ${have[(r)$word]} ]]; then
			ask+=($word)
			_turnpike_have $ask
		fi
	done
	compadd -a have || _files
}

_turnpike "$@"
