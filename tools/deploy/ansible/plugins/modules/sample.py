#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The module turnpike.fleet.sample: what a host's own programs say at this moment. It changes nothing."""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: sample
short_description: Counters, round-trip times and findings of a host, for turnpike.fleet.judge
description:
  - Calls C(turnpike status -j), C(turnpike doctor -j), C(nstat) and C(ss), and changes nothing.
options:
  prefixes:
    description: Networks of the datacenter. Round-trip times to others are left out.
    type: list
    elements: str
    default: []
author:
  - Turnpike maintainers (@turnpike)
"""

EXAMPLES = r"""
- name: Look at the host
  turnpike.fleet.sample:
    prefixes: [10.0.0.0/8]
  register: now
"""

RETURN = r"""
sample:
  description: what turnpike.fleet.judge takes four of
  type: dict
  returned: success
"""

import json

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.turnpike.fleet.plugins.module_utils import gate

COUNTERS = ["TcpOutSegs", "TcpRetransSegs", "TcpExtTCPTimeouts"]


def said(module, words, statuses=(0,)):
    """What a program prints; ends the module if it cannot be run, or ends with another status."""
    status, output, errors = module.run_command([module.get_bin_path(words[0], required=True)] + words[1:])
    if status not in statuses:
        module.fail_json(msg="%s: status %d: %s" % (" ".join(words), status, errors.strip()))
    return output


def said_json(module, words, statuses=(0,)):
    """The same of a program that prints JSON."""
    text = said(module, words, statuses)
    try:
        return json.loads(text)
    except ValueError:
        module.fail_json(msg="%s printed no JSON: %s" % (" ".join(words), text[:200]))


def sockets_words(prefixes):
    """ss: connections to these networks, or all."""
    words = ["ss", "-tinH", "state", "established"]
    for prefix in prefixes:
        words += ["or", "dst", prefix] if "dst" in words else ["dst", prefix]
    return words


def take(module):
    """A sample."""
    status = said_json(module, ["turnpike", "status", "-j"])
    # 1: warnings, 2: something is broken; the findings say so.
    findings = said_json(module, ["turnpike", "doctor", "-j"], (0, 1, 2))
    counters = said_json(module, ["nstat", "-asz", "-j"] + COUNTERS)["kernel"]
    sockets = said(module, sockets_words(module.params["prefixes"]))
    return gate.sample_of(status, findings, counters, sockets)


def main():
    """Run by ansible on the host."""
    module = AnsibleModule(argument_spec={"prefixes": {"type": "list", "elements": "str", "default": []}},
                           supports_check_mode=True)
    try:
        module.exit_json(changed=False, sample=take(module))
    except KeyError as error:
        module.fail_json(msg="a program of this host says nothing of %s: another version of turnpike?" % error)


if __name__ == "__main__":
    main()
