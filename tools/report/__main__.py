# SPDX-License-Identifier: GPL-2.0
"""turnpike report: one page of HTML of a recording, or of a run of the virtual rack.

Called by the program `turnpike', which has the manual page.
"""
import argparse
import logging
import os
import sys
import tempfile

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import page  # noqa: E402
import rack_run  # noqa: E402
from reading import Unreadable, read  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(prog="turnpike report")
    parser.add_argument("file")
    parser.add_argument("--before", default="")
    parser.add_argument("--output", default="")
    parser.add_argument("--force", action="store_true")
    return parser.parse_args()


def page_of(options):
    """The text of the page."""
    if not os.path.isdir(options.file):
        before = read(options.before) if options.before else None
        return page.of_recording(read(options.file), before)
    if options.before:
        raise Unreadable("--before is for recordings: a run of the rack has its variants side by side")
    return page.of_rack(rack_run.read(options.file))


def place_of(options):
    if options.output:
        return options.output
    if os.path.isdir(options.file):
        return os.path.join(options.file, "report.html")
    return options.file + ".html"


def check_free(path, force):
    if os.path.lexists(path) and not os.path.isfile(path):
        raise Unreadable(f"{path} is there, and is no regular file")
    if os.path.lexists(path) and not force:
        raise Unreadable(f"{path} is there already (--force replaces it)")


def write(path, text, force):
    """The whole page or nothing."""
    number, part = tempfile.mkstemp(prefix=".turnpike-report-", dir=os.path.dirname(path) or ".")
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o644 & ~mask)
        if force:
            os.replace(part, path)
        else:
            check_free(path, False)
            os.rename(part, path)
    except BaseException:
        os.unlink(part)
        raise


def main():
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    options = arguments()
    path = place_of(options)
    try:
        check_free(path, options.force)
        write(path, page_of(options), options.force)
        print(f"{page.plain(path)}: open it in a browser")
        sys.stdout.flush()
    except ImportError as error:
        sys.exit(f"turnpike: report needs {error.name}: apt install python3-matplotlib")
    except (Unreadable, OSError) as error:
        sys.exit(f"turnpike: {page.plain(str(error), 500)}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
