# SPDX-License-Identifier: GPL-2.0
"""The scenario runner of the virtual rack, one concept per module."""
