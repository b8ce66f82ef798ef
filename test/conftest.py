"""What every test shares: a ROS domain of its own, the probe of the machine, and the recorded hands."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from _pytest.junitxml import xml_key
from brief import leave_to_the_night
from by_folder import ByFolder, has_no_graph
from hypothesis import settings
from ros_domains import NoDomainError, lock_domain

from telerobot_nodes.core.config import transport_environment
from telerobot_nodes.doctor import probe

ROOT = Path(__file__).resolve().parent.parent
HANDS = ROOT.parent / "shared" / "data" / "hand"

# Before anything imports rclpy: one domain per test process, on this host only; messages check their fields.
try:
    DOMAIN, DOMAIN_LOCK = lock_domain()
except NoDomainError as error:
    pytest.exit(str(error), returncode=4)
os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
os.environ.update(transport_environment({}))  # as the product does
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"

BRIEF_EXAMPLES, ALL_EXAMPLES = 15, 50  # of a property that names no number of its own; the night has all
SAME = "CI" in os.environ  # CI judges the change, not the luck
for name, count in (("brief", BRIEF_EXAMPLES), ("all", ALL_EXAMPLES)):  # the first example may load or compile kernels
    settings.register_profile(name, deadline=None, derandomize=SAME, max_examples=count)

LATENESS = pytest.StashKey()
STATUS = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption(
        "--lateness-probe", type=float, default=5.0, help="seconds of the probe before tests of the graph; 0: none"
    )


def pytest_configure(config):
    settings.load_profile("brief" if "not nightly" in config.option.markexpr else "all")


@pytest.hookimpl(optionalhook=True)  # without xdist nobody asks
def pytest_xdist_make_scheduler(config, log):
    return ByFolder(config, log) if config.option.dist == "loadscope" else None


def pytest_ignore_collect(collection_path, config):
    """Before tests of the graph nothing else is imported."""
    only_graphs = config.option.markexpr.partition(" ")[0] == "system"
    return True if only_graphs and has_no_graph(collection_path, config.rootpath) else None


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items):
    leave_to_the_night(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Before tests of the graph: measure how late this machine is. The result is printed and kept; the tests run."""
    seconds = session.config.getoption("lateness_probe")
    graph = any(item.get_closest_marker("system") for item in getattr(session, "items", ()))
    if seconds <= 0.0 or not graph or session.config.option.collectonly:
        return
    session.config.stash[LATENESS] = late = probe(seconds)
    report(session.config, late)
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:  # a worker of xdist has none
        reporter.write_line(f"\n{late}", red=late.busy)


def report(config, late):
    """Properties of the JUnit file, if one is written."""
    xml = config.stash.get(xml_key, None)
    if xml is not None:
        xml.add_global_property("machine", "too busy" if late.busy else "ready")
        xml.add_global_property("scheduling_lateness_p99_ms", f"{1e3 * late.p99:.1f}")
        xml.add_global_property("scheduling_lateness_worst_ms", f"{1e3 * late.worst:.1f}")
        xml.add_global_property("scheduling_periods_kept", f"{late.kept:.2f}")


def pytest_terminal_summary(terminalreporter, config):
    late = config.stash.get(LATENESS, None)
    if late is not None and late.busy:
        terminalreporter.section("machine too busy", red=True, bold=True)
        terminalreporter.write_line(str(late))


def pytest_sessionfinish(session, exitstatus):
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Once ROS was used, end as a node does: static destructors may wait for the threads of the middleware for ever."""
    part_of_another = hasattr(config, "workerinput") or multiprocessing.parent_process() is not None
    if "rclpy" in sys.modules and STATUS in config.stash and not part_of_another:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[STATUS])


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hands() -> Path:
    """Folder of the recorded hands; skips where it does not lie beside the project."""
    if not HANDS.is_dir():
        pytest.skip(f"the recorded hands are not at {HANDS}")
    return HANDS


@pytest.fixture(scope="session")
def hand_files(hands: Path) -> list[Path]:
    """Every recorded hand."""
    return sorted(hands.glob("*.csv"))
