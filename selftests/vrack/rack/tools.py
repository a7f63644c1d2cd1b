# SPDX-License-Identifier: GPL-2.0
"""Where the kernel, the modules and the programs of a run come from."""
import os
import shutil
import subprocess
import sys

from .errors import UsageError

REPO = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SIZES = os.path.join(REPO, "selftests", "vrack", "sizes")

sys.path.append(os.path.join(REPO, "selftests", "lib"))
import kernels  # noqa: E402  # pylint: disable=wrong-import-position,import-error

# What --kernel may name, and what selftests/kernel/build is called with for it.
NAMED_KERNELS = {series: [series] for series in kernels.SERIES}
NAMED_KERNELS |= {f"debug-{series}": ["--debug", series] for series in kernels.SERIES}
NAMED_KERNELS |= {"debug": ["--debug", kernels.MAIN]}


class Tools:
    """Paths of one kernel and of what runs in it."""

    def __init__(self, kernel, modules=None, vload=None, own=()):
        self.kernel = kernel_program(kernel)
        self.modules = os.path.realpath(modules or module_directory(self.kernel))
        self._own = [os.path.realpath(path) for path in own]
        self.vload = os.path.realpath(vload or os.path.join(REPO, "build", "vload"))
        self.build = os.path.join(REPO, "build")     # turnpike, and what tc loads
        self.turnpike = os.path.join(REPO, "build", "turnpike")
        self.umlseed = os.path.join(REPO, "build", "umlseed.so")

    def module(self, name):
        """Path of a module's file; names may be spelled with - or _."""
        wanted = name.replace("-", "_") + ".ko"
        for path in self._own:
            if os.path.basename(path).replace("-", "_") == wanted:
                return path
        for directory, _, files in os.walk(self.modules):
            for file in files:
                if file.replace("-", "_") == wanted:
                    return os.path.join(directory, file)
        raise UsageError(f"no module '{name}' below {self.modules} (make modules KDIR="
                         f"{os.path.dirname(self.kernel)} builds them)")

    def keep(self, directory, names):
        """Use copies from now on, so that a build under way cannot mix versions."""
        os.makedirs(directory, exist_ok=True)
        programs = ("vload", "turnpike", "umlseed")
        for path in [getattr(self, name) for name in programs] + [self.module(name) for name in names]:
            shutil.copy(path, directory)
        for name in programs:
            setattr(self, name, os.path.join(directory, os.path.basename(getattr(self, name))))
        self.modules, self._own = directory, []

    def check(self):
        for path, hint in ((self.kernel, "selftests/kernel/build"), (self.vload, "make tools"),
                           (self.turnpike, "make tools"), (self.umlseed, "make tools")):
            if not os.access(path, os.X_OK):
                raise UsageError(f"{path} is missing ({hint} builds it)")
        for path in self._own:
            if not os.path.isfile(path):
                raise UsageError(f"--module {path}: no such file")


class GuestTools:
    """What of them a guest starts and loads, as it is told them."""

    def __init__(self, tools, places):
        self._tools, self._places = tools, places
        self.vload = places.inside(tools.vload)
        self.build = places.inside(tools.build)
        self.turnpike = places.inside(tools.turnpike)

    def module(self, name):
        return self._places.inside(self._tools.module(name))


def kernel_program(name):
    """The UML program of a kernel: by series, or a path to it or its tree."""
    if name in NAMED_KERNELS:
        name = _build_kernel(NAMED_KERNELS[name])
    elif not os.path.exists(name):
        known = ", ".join(NAMED_KERNELS)
        raise UsageError(f"--kernel {name}: neither one of {known} nor a path")
    return os.path.realpath(os.path.join(name, "linux") if os.path.isdir(name) else name)


def _build_kernel(args):
    builder = os.path.join(REPO, "selftests", "kernel", "build")
    done = subprocess.run([builder] + args, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise UsageError(f"selftests/kernel/build {' '.join(args)} failed")
    return done.stdout.splitlines()[-1]


def module_directory(kernel):
    """Where the build leaves the modules of this kernel; builds them if it can."""
    tree = os.path.dirname(kernel)
    command = ["make", "-s", "-C", REPO, "uml-modules", f"KDIR={tree}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise UsageError(f"'{' '.join(command)}' failed")
    return done.stdout.splitlines()[-1]


def sizes_file(name, scenario_path):
    """A size distribution: beside the scenario, or one that ships."""
    beside = os.path.join(os.path.dirname(os.path.realpath(scenario_path)), name)
    for path in (beside, os.path.join(SIZES, name)):
        if os.path.isfile(path):
            return path
    known = ", ".join(sorted(os.listdir(SIZES))) if os.path.isdir(SIZES) else "none"
    raise UsageError(f"no size distribution '{name}' (shipped: {known})")


def git_version():
    done = subprocess.run(["git", "-C", REPO, "describe", "--always", "--dirty"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return done.stdout.strip() or "unknown"
