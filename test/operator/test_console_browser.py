"""The console in a real browser: what a person sees and presses."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from telerobot_nodes.core.frames import pose_from_se3
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator import commands
from telerobot_nodes.operator.client import OperatorClient
from telerobot_nodes.operator.console.arm_geometry import Detail, load_shapes
from telerobot_nodes.operator.console.console import Console, ConsoleSetup
from telerobot_nodes.operator.console.stage import StageShapes
from telerobot_nodes.operator.requests import Outcome
from telerobot_nodes.operator.status import LinkSetting, QueueStatus, RobotMode, RobotStatus, SimulationStatus

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
LIMIT = 60.0  # [s] for anything a browser must do in software rendering
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


@dataclass
class Sink:
    """A graph that remembers what it was asked and answers at once."""

    commands: list = field(default_factory=list)
    halts: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def call(self, command, answer):
        self._keep(self.commands, command)
        answer(Outcome(True), time.monotonic())

    def halt(self, number, reason):
        self._keep(self.halts, number)

    def stream(self, target):
        self._keep(self.targets, target)

    def _keep(self, where, what):
        with self.changed:
            where.append(what)
            self.changed.notify_all()

    def wait_for(self, wanted):
        with self.changed:
            assert self.changed.wait_for(lambda: any(wanted(entry) for entry in self.commands), LIMIT), self.commands

    def wait_for_target(self, wanted):
        with self.changed:
            assert self.changed.wait_for(lambda: any(wanted(entry) for entry in self.targets), LIMIT)


class RunningConsole:
    """A console on its own thread, as its node runs it; `state` is what the graph says."""

    def __init__(self):
        self.robot = load_robot("arm")
        self.sink = Sink()
        self.client = OperatorClient(self.sink)
        shapes = StageShapes(load_shapes(self.robot, Detail.VISUAL), load_shapes(self.robot, Detail.COLLISION))
        self.console = Console(self.client, self.robot, shapes, ConsoleSetup(port=0))
        self.home = pose_from_se3(self.robot.forward(self.robot.home))
        self.errors = []
        self.reset()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def reset(self):
        self.robot_status = RobotStatus(
            mode=RobotMode.RUNNING, joint_position=self.robot.home, tool_pose=self.home, authority="operator"
        )
        self.queue_status = QueueStatus(lead=7.4, agent="operator", has_authority=True, target_pose=self.home)
        self.silent = False

    def _run(self):
        while not self._stop.wait(0.04):
            now = time.monotonic()
            try:
                if not self.silent:
                    self.client.hear_robot(self.robot_status, now)
                self.client.hear_queue(self.queue_status, now)
                self.client.hear_simulation(SimulationStatus(head_pose=self.home), now)
                self.client.hear_link(LinkSetting(), now)
                self.console.step(now)
                self.client.tick(now)
            except Exception as error:  # noqa: BLE001 -- the test fails on any of them
                self.errors.append(error)

    def close(self):
        self._stop.set()
        self._thread.join()
        self.console.close()


@pytest.fixture(scope="module")
def console():
    running = RunningConsole()
    yield running
    running.close()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page(console, browser):
    page = open_page(console, browser)
    yield page
    page.close()


@pytest.fixture(autouse=True)
def untroubled(console):
    console.reset()
    console.sink.commands.clear()
    console.sink.targets.clear()
    yield
    assert console.errors == []


def open_page(console, browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.set_default_timeout(1000.0 * LIMIT)
    page.goto(console.console.url)
    page.get_by_role("button", name="HALT", exact=True).wait_for()
    return page


def see(page, text):
    sync_api.expect(page.get_by_text(text).first).to_be_visible(timeout=1000.0 * LIMIT)


def test_the_page_shows_the_lead_and_the_robots_state(page):
    see(page, "lead: 7.4 s")
    see(page, "RUNNING")


def test_halt_reaches_the_graph_and_is_shown_as_stopped_only_when_confirmed(console, page):
    page.get_by_role("button", name="HALT", exact=True).click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Halt))
    see(page, "NOT CONFIRMED")
    assert console.sink.halts
    console.robot_status = RobotStatus(mode=RobotMode.HALTED, halt_number=1, reason="halt by operator")
    see(page, "HALTED: halt by operator")
    page.get_by_role("button", name="resume").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Resume))
    console.reset()
    see(page, "RUNNING")


def test_the_key_h_halts(console, page):
    page.keyboard.press("h")
    console.sink.wait_for(lambda command: isinstance(command, commands.Halt))
    console.robot_status = RobotStatus(mode=RobotMode.HALTED, halt_number=1)
    see(page, "HALTED")
    console.reset()
    see(page, "RUNNING")


def test_the_time_clutch_button_shows_only_what_the_queue_confirms(console, page):
    page.get_by_role("button", name="time clutch: disengaged").click()
    console.sink.wait_for(lambda command: command == commands.TimeClutch(True))
    assert page.get_by_role("button", name="time clutch: disengaged").is_visible()
    console.queue_status = QueueStatus(time_clutch=True, lead=7.4)
    page.get_by_role("button", name="time clutch: engaged").click()
    console.sink.wait_for(lambda command: command == commands.TimeClutch(False))


def test_delete_all_and_replay_reach_the_graph(console, page):
    page.get_by_role("button", name="delete all").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Clear))
    page.get_by_role("button", name="start").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Replay))


def type_ratio(page, text):
    box = page.locator("input[type=text]").nth(0)
    box.fill(text)
    box.press("Enter")


def test_a_time_ratio_typed_by_the_operator_reaches_the_graph(console, page):
    type_ratio(page, "2.5")
    console.sink.wait_for(lambda command: command == commands.TimeRatio(2.5))


@pytest.mark.parametrize("typed", ["99", "-3", "nonsense"])
def test_a_bad_number_typed_never_leaves_as_a_command(console, page, typed):
    type_ratio(page, typed)
    page.get_by_role("button", name="delete all").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Clear))
    ratios = [command.value for command in console.sink.commands if isinstance(command, commands.TimeRatio)]
    assert all(0.1 <= value <= 10.0 for value in ratios)


def test_a_silent_robot_is_shown_and_forgiven(console, page):
    console.silent = True
    see(page, "ROBOT SILENT FOR")
    console.silent = False
    see(page, "RUNNING")


def test_a_browser_that_leaves_and_comes_back_finds_the_present_state(console, page, browser):
    second = open_page(console, browser)
    second.close()
    console.queue_status = QueueStatus(lead=3.2)
    third = open_page(console, browser)
    see(third, "lead: 3.2 s")
    third.close()


def test_dragging_the_gizmo_drives_only_while_driving_is_switched_on(console, page):
    x, y = arrow_on_screen(console, page)
    drag_up(page, x, y)  # turns the camera
    page.mouse.up()
    assert console.sink.targets == []
    box = page.get_by_label("drive by gizmo")
    box.check(force=True)
    target = console.console._stage.target
    deadline = time.monotonic() + LIMIT
    while not target.visible and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    x, y = arrow_on_screen(console, page)
    drag_up(page, x, y)
    console.sink.wait_for_target(lambda sent: abs(sent.pose[2] - console.home[2]) > 0.02)
    page.mouse.up()
    box.uncheck(force=True)


def drag_up(page, x, y):
    page.mouse.move(x, y)
    page.wait_for_timeout(1500)  # the gizmo lights its handle in a rendered frame; software renders 2 a second
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=4)


def arrow_on_screen(console, page):
    """Pixel of the gizmo's z arrow, from the browser's own camera."""
    from viser import transforms as tf

    camera = next(iter(console.console._server.get_clients().values())).camera
    T_camera_world = tf.SE3.from_rotation_and_translation(tf.SO3(camera.wxyz), camera.position).inverse()
    rotation = tf.SO3(np.roll(console.home[3:], 1)).as_matrix()
    tip = console.home[:3] + 0.18 * 0.6 * rotation @ np.array((0.0, 0.0, 1.0))
    right, down, ahead = T_camera_world.apply(tip)
    canvas = page.locator("canvas").first.bounding_box()
    scale = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov) / ahead
    return (canvas["x"] + 0.5 * canvas["width"] + scale * right, canvas["y"] + 0.5 * canvas["height"] + scale * down)


@pytest.mark.parametrize(
    ("origin", "let_in"), [("http://example.org", False), ("http://127.0.0.1:8080", True), (None, True)]
)
def test_pages_of_other_sites_cannot_reach_the_console(console, origin, let_in):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    address = console.console.url.replace("http", "ws")
    if let_in:
        connect(address, origin=origin).close()
    else:
        with pytest.raises(InvalidStatus):
            connect(address, origin=origin)
