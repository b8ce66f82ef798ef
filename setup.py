"""Builds the ROS interfaces with CMake and packs them into the wheel beside the Python package.

The installed tree of the CMake build (message modules, libraries, ament index, share files) becomes `data_files`,
so that the environment the wheel lands in is an ament prefix. Metadata is in setup.cfg.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Command, Distribution, setup
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
NEEDED = "a C++ compiler and Python's headers are needed: on Debian `apt-get install g++ python3-dev`"


class BuildInterfaces(Command):
    """Configures, builds and installs CMakeLists.txt into a prefix of its own."""

    user_options = []

    def initialize_options(self):
        self.build_base = None
        self.editable_mode = False

    def finalize_options(self):
        self.set_undefined_options("build", ("build_base", "build_base"))

    def get_source_files(self):
        patterns = ("CMakeLists.txt", "package.xml", "msg/*", "srv/*", "action/*", "launch/*")
        return [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)]

    def run(self):
        if shutil.which(os.environ.get("CXX", "c++")) is None:
            sys.exit(f"telerobot: no C++ compiler found; {NEEDED}")
        work = Path(self.build_base).resolve() / f"cmake-{sys.implementation.cache_tag}"
        prefix = work / "prefix"
        shutil.rmtree(prefix, ignore_errors=True)
        (work / "CMakeCache.txt").unlink(missing_ok=True)  # an isolated build has another environment each time
        cmake = [sys.executable, "-m", "cmake"] if _has_cmake_wheel() else ["cmake"]
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        definitions = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_INSTALL_PREFIX": prefix,
            "CMAKE_PREFIX_PATH": ";".join(_prefixes()),
            "Python3_EXECUTABLE": sys.executable,
            "PYTHON_INSTALL_DIR": SITE,
            "BUILD_TESTING": "OFF",
        }
        if "ROS_DISTRO" not in os.environ:  # no ROS host: nobody loads more than the nodes of this package do
            definitions["TELEROBOT_PYTHON_ONLY"] = "ON"
        defines = [f"-D{name}={value}" for name, value in definitions.items()]
        environment = os.environ | {"AMENT_PREFIX_PATH": os.pathsep.join(_prefixes())}
        subprocess.run([*cmake, "-S", ROOT, "-B", work, *generator, *defines], check=True, env=environment)
        subprocess.run([*cmake, "--build", work, "--target", "install"], check=True, env=environment)
        self.distribution.data_files[:] = _data_files(prefix)  # in place: install_data already holds this list


def _has_cmake_wheel():
    from importlib.util import find_spec

    return find_spec("cmake") is not None


def _prefixes():
    """Every prefix with ament packages in it: pip's build environment, this environment, a sourced ROS."""
    found = [sys.prefix, *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    for entry in sys.path:
        if entry.endswith(SITE):
            found.insert(0, entry[: -len(SITE) - 1])
    return [prefix for prefix in dict.fromkeys(found) if prefix]


def _data_files(prefix):
    """The installed tree as setuptools wants it, without what setuptools installs itself."""
    rows = {}
    for path in sorted(prefix.rglob("*")):
        inside = path.relative_to(prefix)
        installed_by_setuptools = inside.is_relative_to(f"{SITE}/telerobot_nodes") or ".egg-info" in str(inside)
        if path.is_dir() or installed_by_setuptools or inside == Path("lib/telerobot/telerobot"):
            continue
        rows.setdefault(str(inside.parent), []).append(os.path.relpath(path, ROOT))
    return list(rows.items())


class Build(build):
    """Adds the interfaces to the build."""

    sub_commands = [("build_interfaces", None), *build.sub_commands]


class BinaryDistribution(Distribution):
    """Says that the wheel depends on the platform and has data, which editable installs ask before the build."""

    def has_ext_modules(self):
        return True

    def has_data_files(self):
        return True

    def has_data(self):  # what editable installs ask
        return True


setup(
    data_files=[],
    distclass=BinaryDistribution,
    cmdclass={"build": Build, "build_interfaces": BuildInterfaces},
)
