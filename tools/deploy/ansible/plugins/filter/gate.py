# SPDX-License-Identifier: GPL-2.0
"""The filter turnpike.fleet.judge: four samples of a host become a verdict."""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

from ansible.errors import AnsibleFilterError
from ansible_collections.turnpike.fleet.plugins.module_utils import gate


def judge(samples, limits=None, tolerated=gate.TOLERATED):
    """What gate.judge() says; what it refuses becomes an error of the task."""
    try:
        return gate.judge(samples, limits, tolerated)
    except (KeyError, TypeError, ValueError) as error:
        raise AnsibleFilterError("turnpike.fleet.judge: %r" % error)


class FilterModule(object):
    """What ansible looks for."""

    def filters(self):
        """Names of filters."""
        return {"judge": judge}
