"""Console and terminal on the real graph: real DDS, real physics, a real browser."""

from __future__ import annotations

import json
import os
import subprocess
import threading

import pytest
from browser import chromium, ordinary_priority

from telerobot_nodes.bench.console.browser_page import OPEN_LIMIT
from telerobot_nodes.runtime import GraphOptions, Supervisor
from telerobot_nodes.runtime.launching import telerobot_command

LIMIT = 60.0  # [s] for anything a browser must do in software rendering beside a whole graph
pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("a browser draws the scene without a graphics card and has 60 s for each answer"),
]


def telerobot(*words, domain=None):
    environment = {**os.environ, **({"ROS_DOMAIN_ID": domain} if domain else {})}
    return subprocess.run(
        [*telerobot_command(), *words], capture_output=True, text=True, timeout=90, env=environment, check=False
    )


@pytest.fixture(scope="module")
def console_url():
    """Address of the console of a running demo graph."""
    address, known = [], threading.Event()

    def hear(node, line):
        if line.startswith("console: "):
            address.append(line.removeprefix("console: "))
            known.set()

    supervisor = Supervisor(GraphOptions("demo", without=("bag_recorder",)), on_line=hear)
    with ordinary_priority():
        supervisor.start()
    try:
        assert supervisor.wait_ready(120.0), supervisor.waiting_for()
        assert known.wait(10.0)
        yield address[0]
    finally:
        code = supervisor.stop()
    assert code == 0, supervisor.unclean


@pytest.fixture(scope="module")  # from its first use: drawing takes the processor from the shells' tests before it
def page(console_url):
    with ordinary_priority(), chromium() as browser:
        page = browser.new_page(viewport={"width": 640, "height": 800})
        page.set_default_timeout(1000.0 * LIMIT)
        page.goto(console_url)
        page.get_by_role("button", name="HALT", exact=True).wait_for(timeout=1000.0 * OPEN_LIMIT)
        yield page


def test_status_from_the_shell_names_state_lead_and_authority(console_url):
    answer = telerobot("status", "--json")
    assert answer.returncode == 0, answer.stderr
    seen = json.loads(answer.stdout.splitlines()[-1])
    assert seen["lead"].endswith(" s")
    assert seen["authority"] == "operator (here)"


@pytest.mark.nightly
def test_the_ratio_set_from_the_shell_is_in_force(console_url):
    assert telerobot("ratio", "2.0").returncode == 0
    seen = json.loads(telerobot("status", "--json").stdout.splitlines()[-1])
    assert "ratio 2.00" in seen["time clutch"]


def test_the_time_clutch_pressed_in_the_browser_changes_the_queue_and_comes_back(page):
    page.get_by_role("button", name="time clutch: engaged").click()
    page.get_by_role("button", name="time clutch: disengaged").wait_for()
    page.get_by_role("button", name="time clutch: disengaged").click()
    page.get_by_role("button", name="time clutch: engaged").wait_for()


@pytest.mark.nightly
def test_a_halt_from_the_shell_is_confirmed_by_the_robot_and_shown_in_the_browser(page):
    halted = telerobot("halt", "a test")
    assert (halted.returncode, halted.stdout.splitlines()[-1]) == (0, "halted, confirmed by the robot")
    page.get_by_text("HALTED").first.wait_for()
    resumed = telerobot("resume")
    assert resumed.returncode == 0, resumed.stderr
    page.get_by_text("IDLE").first.wait_for()


@pytest.mark.nightly
def test_a_leaf_of_the_menus_moves_the_arm_and_a_value_out_of_range_does_not(page):
    from telerobot_nodes.nodes.clients import Terminal

    with Terminal() as client:
        assert client.wait_for(lambda c: c.robot.tool_pose.size, LIMIT)
        before = client.operator.robot.tool_pose.copy()
        page.get_by_text("menu mode", exact=True).locator("xpath=following::input[1]").click()
        page.get_by_role("option", name="execution").click()
        page.get_by_role("button", name="guarded motion").click()
        page.get_by_role("button", name="straight", exact=True).click()
        way = page.get_by_text("z [m]", exact=True).locator("xpath=following::input[1]")
        run = page.get_by_role("button", name="run straight")
        way.fill("9")
        run.click()
        page.get_by_text("z: '9' is not allowed; allowed: -0.5 .. 0.5 [m]").wait_for()
        way.fill("-0.03")
        run.click()
        page.get_by_text("guarded_motion/straight succeeded").wait_for()
        # back along the tool's axis, which points down; had the first one run too, it would have gone far down
        assert client.wait_for(lambda c: abs(c.robot.tool_pose[2] - before[2] - 0.03) < 0.002, LIMIT)


@pytest.mark.nightly
def test_a_ratio_out_of_range_is_refused_with_what_is_allowed():
    answer = telerobot("ratio", "99")
    assert answer.returncode == 2
    assert "time ratio: 99.0 is not allowed; allowed: 0.1 .. 10" in answer.stderr


@pytest.mark.parametrize("words", [pytest.param(("status",), marks=pytest.mark.slow), ("halt",)])
@pytest.mark.nightly
def test_without_a_graph_every_command_says_so_and_fails(words):
    answer = telerobot(*words, domain="101")
    assert answer.returncode == 1
    assert "no graph is running here" in answer.stderr
