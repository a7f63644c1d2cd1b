# SPDX-License-Identifier: GPL-2.0
"""What a run of the virtual rack leaves in a directory: result.json, and plots."""
import base64
import glob
import json
import os

from reading import Unreadable

BYTES_MOST = 256 << 20
PICTURE_BYTES_MOST = 8 << 20
# Not those with a line for each of many flows.
PICTURES = ("story.svg", "rtt-cdf.svg", "queue-delay-cdf.svg", "fct-by-size.svg", "throughput.svg", "queue.svg")


class Run:
    """result.json, and pictures as (name, base64)."""

    def __init__(self, result, pictures):
        self.result = result
        self.pictures = pictures


def read(directory):
    """Raises Unreadable."""
    path = os.path.join(directory, "result.json")
    try:
        with open(path, "rb") as stream:
            result = json.loads(stream.read(BYTES_MOST))
    except FileNotFoundError:
        more = sorted(glob.glob(os.path.join(glob.escape(directory), "*", "result.json")))
        raise Unreadable(f"{directory}: is no run of the rack, there is no result.json" +
                         (f"; {os.path.dirname(more[0])} has one" if more else "")) from None
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: {error}") from error
    if not isinstance(result, dict) or not isinstance(result.get("variants"), list):
        raise Unreadable(f"{path}: is no result of the rack")
    return Run(result, [picture for picture in map(lambda name: _picture(directory, name), PICTURES) if picture])


def _picture(directory, name):
    try:
        with open(os.path.join(directory, name), "rb") as stream:
            data = stream.read(PICTURE_BYTES_MOST + 1)
    except OSError:
        return None
    return (name, base64.b64encode(data).decode()) if len(data) <= PICTURE_BYTES_MOST else None
