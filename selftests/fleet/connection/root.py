# SPDX-License-Identifier: GPL-2.0
# A host is a directory with a root of its own, a copy on write of this machine's: for tests.
from __future__ import annotations

import os
import shlex

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: root
short_description: run in another root
description: Runs programs below the host's directory, which rollout.sh made.
author: Turnpike
options:
  host:
    description: the host's directory
    default: none
    vars: [{name: fleet_host}]
"""
PATH = "/fleet/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class Connection(Local):
    transport = "root"

    def _reach(self):
        """The host's root; a host whose cable is out has none."""
        host = self.get_option("host")
        if os.path.exists(os.path.join(host, "tree", "fleet", "cable-is-out")):
            raise AnsibleConnectionFailure("the cable is out")
        return os.path.join(host, "tree")

    def exec_command(self, cmd, in_data=None, sudoable=True):
        words = ["chroot", self._reach(), "env", "PATH=" + PATH, "HOME=/tmp", "/bin/sh", "-c", cmd]
        return super().exec_command(shlex.join(words), in_data=in_data, sudoable=sudoable)

    def put_file(self, in_path, out_path):
        return super().put_file(in_path, self._reach() + out_path)

    def fetch_file(self, in_path, out_path):
        return super().fetch_file(self._reach() + in_path, out_path)
