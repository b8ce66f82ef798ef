"""Menus of a console or panel without a graph: what is pressed runs, one leaf at a time, and files are read again."""

import shutil
import time
from contextlib import contextmanager
from threading import Condition, Event
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.macros import Place, records_of
from telerobot_nodes.nodes.clients import NoGraphError
from telerobot_nodes.nodes.clients.under_way import RunningPrimitive
from telerobot_nodes.nodes.menus import ClientRun, MenuRunner, Motion, PrimitiveRun, SimulatedRun, Situation
from telerobot_nodes.operator.client import PrimitiveEnd, PrimitiveReport, PrimitiveResult
from telerobot_nodes.operator.forms import AddLeaf, Mode, StartLeaf, StopLeaf

MENU = """
menu: m
order: 1
doc: {doc}
entries:
  - entry: up
    doc: Move up.
    primitive: cartesian_guarded
    values: {{tr_rel_dest: [0, 0, 0.05, 0, 0, 0, 1]}}
    form:
      speed: {{sets: time_vel_val, high: 0.1}}
  - entry: away
    doc: Move off.
    macro: back_off
"""
SEEN = """
macro: back_off
version: 2
doc: Go to where the camera is.
motion: absolute
steps:
  - step: go
    primitive: cartesian_guarded
    values: {tr_tn_dest: "${camera.pose}", time_vel_sel: velocity, time_vel_val: 0.2}
"""
LIMIT = 90.0  # [s]
FELT = (3.0, 0.0, 4.0, 0.0, 0.0, 0.0)  # [N], [N m]
REPORT = PrimitiveReport(1, "cartesian_guarded", PrimitiveEnd.RUNNING, "moving", "", wrench=FELT, elapsed=1.5)


class Widgets:
    """What a person sees and presses."""

    def __init__(self):
        self.asked, self.items, self.lines, self.refused, self.now = [], (), [], {}, ""

    def show_menus(self, items):
        self.items = items

    def take(self):
        asked, self.asked = self.asked, []
        return asked

    def refuse(self, path, refusals):
        self.refused = {(path, name): reason for name, reason in refusals.items()}

    def tell(self, text, colour=""):
        self.lines.append((text, colour))

    def progress(self, text):
        self.now = text


class Sent:
    """Leaves that were begun, as primitives that the test ends."""

    def __init__(self):
        self.begun, self.running, self.situation = [], None, Situation(round_trip=0.4)
        self.drawn, self.cleared = None, 0

    def begin(self, leaf, values):
        if leaf.entry.macro:
            return ClientRun(leaf, values, "arm", no_graph)
        self.begun.append((leaf.runs, values))
        self.running = RunningPrimitive(Condition(), LIMIT, lambda values: None)
        return PrimitiveRun(self.running)

    def practise(self, leaf, values):
        return ClientRun(leaf, values, "arm", no_graph)

    def simulate(self, leaf, values):
        return SimulatedRun(leaf, values, "arm", self.situation)

    def draw(self, motion):
        self.drawn = motion

    def clear(self):
        self.cleared += 1

    def step(self, now):
        pass


class Arm:
    """A client that is connected when the test lets it be; what it is asked to begin is kept."""

    def __init__(self):
        self.joined, self.begun, self.listeners = Event(), [], []
        self.ends = True
        self.state = SimpleNamespace(age=None, joint_position=np.empty(0))

    @contextmanager
    def join(self):
        assert self.joined.wait(LIMIT)
        yield self

    def listen(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def receive(self, age, joints=()):
        self.state = SimpleNamespace(age=age, joint_position=np.array(joints))
        self.listeners[-1](None)

    def begin_primitive(self, name, values):
        self.begun.append(name)
        self.running = RunningPrimitive(Condition(), LIMIT, lambda values: None)
        if self.ends:
            self.running.finish(PrimitiveResult(PrimitiveEnd.SUCCEEDED, "arrived"))
        return self.running


def no_graph():
    raise NoGraphError("no graph is running here")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "macros").mkdir()
    shutil.copy(share_path("config/macros/back_off.yaml"), tmp_path / "macros")
    menus = tmp_path / "menus"
    menus.mkdir()
    (menus / "m.yaml").write_text(MENU.format(doc="first"))
    return menus


@pytest.fixture
def widgets():
    return Widgets()


@pytest.fixture
def sent():
    return Sent()


@pytest.fixture
def runner(widgets, sent, folder):
    return MenuRunner(widgets, sent, folder, "arm")


def press(runner, widgets, *asked):
    widgets.asked += asked
    runner.step(0.0)


def tools(arm, motion):
    """Places (n, 3) [m] of the tool along a motion."""
    return np.array([arm.forward(joints).translation for _, joints in motion.after(0, len(motion))])


def step_until(runner, ready):
    end = time.monotonic() + LIMIT
    while not ready():
        assert time.monotonic() < end
        runner.step(time.monotonic())
        time.sleep(0.01)


def test_a_leaf_runs_with_what_was_typed_and_its_presets(runner, widgets, sent):
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.04"}, Mode.EXECUTION))
    assert sent.begun == [("cartesian_guarded", {"tr_rel_dest": [0, 0, 0.05, 0, 0, 0, 1], "time_vel_val": 0.04})]
    assert widgets.now == "m/up: sent"
    sent.running.tell(REPORT)
    runner.step(0.1)
    assert widgets.now == "m/up: moving, 1.5 s, 5.0 N"
    sent.running.finish(PrimitiveResult(PrimitiveEnd.SUCCEEDED, "arrived"))
    runner.step(0.2)
    assert (widgets.now, widgets.lines[-1]) == ("", ("m/up succeeded, arrived", "good"))


def test_one_leaf_runs_at_a_time_and_the_next_after_its_end(runner, widgets, sent):
    up = StartLeaf("m/up", {}, Mode.EXECUTION)
    press(runner, widgets, up, up)
    assert len(sent.begun) == 1
    assert widgets.lines[-1] == ("m/up runs; allowed: after its end, or `stop motion`", "bad")
    sent.running.finish(PrimitiveResult(PrimitiveEnd.REFUSED, "not at rest"))
    runner.step(0.1)
    assert widgets.lines[-1] == ("m/up refused, not at rest", "bad")
    press(runner, widgets, up)
    assert len(sent.begun) == 2


def test_stop_ends_what_runs_and_says_when_nothing_does(runner, widgets, sent):
    press(runner, widgets, StopLeaf())
    assert widgets.lines[-1][0] == "no motion of a menu is running"
    press(runner, widgets, StartLeaf("m/up", {}, Mode.EXECUTION))
    cancelled = []
    sent.running.accepted(type("Goal", (), {"cancel_goal_async": lambda self: cancelled.append(True)})())
    press(runner, widgets, StopLeaf())
    assert cancelled == [True]


def test_what_is_not_allowed_is_refused_beside_its_field_and_nothing_is_sent(runner, widgets, sent):
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.2"}, Mode.EXECUTION))
    assert list(widgets.refused) == [("m/up", "speed")]
    assert sent.begun == []
    press(runner, widgets, StartLeaf("m/gone", {}, Mode.EXECUTION))
    assert "m/gone" in widgets.lines[-1][0]
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.1"}, Mode.EXECUTION))
    assert widgets.refused == {}
    assert len(sent.begun) == 1


def test_in_setup_a_leaf_is_checked_as_the_robot_would_and_nothing_moves_also_while_another_runs(runner, widgets, sent):
    press(runner, widgets, StartLeaf("m/up", {}, Mode.EXECUTION))
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.04"}, Mode.SETUP))
    text = "m/up may run: cartesian_guarded tr_rel_dest=[0, 0, 0.05, 0, 0, 0, 1] time_vel_val=0.04"
    assert widgets.lines[-1] == (text, "good")
    press(runner, widgets, StartLeaf("m/up", {"speed": "4"}, Mode.SETUP))
    assert list(widgets.refused) == [("m/up", "speed")]
    assert len(sent.begun) == 1


def test_a_macro_without_a_graph_ends_with_the_reason(runner, widgets):
    press(runner, widgets, StartLeaf("m/away", {}, Mode.EXECUTION))
    step_until(runner, lambda: widgets.lines[-1] == ("m/away refused: no graph is running here", "bad"))


@pytest.mark.lengthy
@pytest.mark.timeout(240)
def test_a_leaf_is_simulated_from_where_the_arm_stands_and_nothing_is_sent(runner, widgets, sent):
    arm = load_robot("arm")
    start = np.array(arm.home) + 0.05
    sent.situation = Situation(start)
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.1"}, Mode.SIMULATION))
    step_until(runner, lambda: sent.drawn is not None and len(sent.drawn))
    first = tools(arm, sent.drawn)[0]
    assert np.allclose(first, arm.forward(start).translation, atol=1e-3)
    press(runner, widgets, StartLeaf("m/up", {}, Mode.EXECUTION))
    assert widgets.lines[-1] == ("m/up runs; allowed: after its end, or `stop motion`", "bad")
    step_until(runner, lambda: widgets.now == "")
    assert widgets.lines[-1] == ("m/up simulated: succeeded", "good")
    assert np.linalg.norm(tools(arm, sent.drawn)[-1] - first) == pytest.approx(0.05, abs=1e-3)
    assert sent.begun == []
    press(runner, widgets, StopLeaf())
    assert (sent.drawn, sent.cleared) == (None, 1)


@pytest.mark.lengthy
@pytest.mark.timeout(240)
def test_a_sequence_is_built_from_leaves_and_simulated_from_its_menu(runner, widgets, sent, folder):
    press(runner, widgets, AddLeaf("m/up", {"speed": "0.05"}, "twice"), AddLeaf("m/up", {"speed": "9"}, "twice"))
    assert widgets.lines[-1] == (f"m/up is step 1 of {folder.parent / 'macros' / 'twice'}.yaml", "good")
    assert list(widgets.refused) == [("m/up", "speed")]
    press(runner, widgets, AddLeaf("m/up", {}, "twice"), AddLeaf("m/up", {}, "No"))
    assert widgets.lines[-1][1] == "bad"
    step_until(runner, lambda: [item.name for item in widgets.items] == ["m", "sequences"])
    press(runner, widgets, StartLeaf("sequences/twice", {}, Mode.SIMULATION))
    step_until(runner, lambda: widgets.lines[-1] == ("sequences/twice simulated: succeeded", "good"))
    path = tools(load_robot("arm"), sent.drawn)
    assert np.linalg.norm(path[-1] - path[0]) == pytest.approx(0.1, abs=2e-3)


@pytest.mark.lengthy
@pytest.mark.timeout(240)
def test_a_macro_of_what_the_camera_sees_is_simulated_with_the_cameras_pose_and_says_when_there_is_none(
    runner, widgets, sent, folder
):
    before = widgets.items
    (folder.parent / "macros" / "back_off.yaml").write_text(SEEN)
    step_until(runner, lambda: widgets.items is not before)
    press(runner, widgets, StartLeaf("m/away", {}, Mode.SIMULATION))
    step_until(runner, lambda: widgets.lines[-1][1] == "bad" and "camera.pose" in widgets.lines[-1][0])
    sent.situation = Situation(camera_pose=np.array([0.5, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0]))
    press(runner, widgets, StartLeaf("m/away", {}, Mode.SIMULATION))
    step_until(runner, lambda: widgets.lines[-1] == ("m/away simulated: succeeded", "good"))
    ended = tools(load_robot("arm"), sent.drawn)[-1]
    assert np.allclose(ended, [0.5, 0.1, 0.5], atol=2e-3)


@pytest.mark.lengthy
@pytest.mark.timeout(240)
def test_a_simulated_macro_counts_as_its_test_and_one_that_is_stopped_or_cannot_run_says_so(
    runner, widgets, sent, folder
):
    press(runner, widgets, StartLeaf("m/away", {}, Mode.SIMULATION))
    step_until(runner, lambda: widgets.lines[-1] == ("m/away simulated: succeeded", "good"))
    (record,) = records_of(folder.parent / "macros", "back_off")
    assert (record.place, record.delay, record.succeeded) == (Place.PHYSICS, 0.2, True)
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.01"}, Mode.SIMULATION), StopLeaf())
    step_until(runner, lambda: widgets.lines[-1] == ("m/up simulation stopped", "bad"))
    sent.situation = Situation(np.full(6, 9.0))  # outside the limits
    press(runner, widgets, StartLeaf("m/up", {}, Mode.SIMULATION))
    step_until(runner, lambda: widgets.lines[-1][1] == "bad" and "--start" in widgets.lines[-1][0])


def test_a_leaf_is_practised_through_a_client_of_its_own_and_without_a_practice_robot_says_so(runner, widgets, sent):
    press(runner, widgets, StartLeaf("m/up", {"speed": "9"}, Mode.PRACTICE))
    assert list(widgets.refused) == [("m/up", "speed")]
    press(runner, widgets, StartLeaf("m/up", {"speed": "0.05"}, Mode.PRACTICE))
    step_until(runner, lambda: widgets.lines[-1] == ("m/up refused: no graph is running here", "bad"))
    assert sent.begun == []


def test_a_leaf_that_is_stopped_while_its_client_is_connected_is_not_sent(runner, widgets, sent, monkeypatch):
    arm = Arm()
    monkeypatch.setattr(sent, "practise", lambda leaf, values: ClientRun(leaf, values, "arm", arm.join))
    for leaf in ("m/up", "m/away"):
        arm.joined.clear()
        press(runner, widgets, StartLeaf(leaf, {}, Mode.PRACTICE), StopLeaf())
        arm.joined.set()
        step_until(runner, lambda leaf=leaf: widgets.lines[-1] == (f"{leaf} stopped before it was sent", "bad"))
    assert arm.begun == []
    press(runner, widgets, StartLeaf("m/up", {}, Mode.PRACTICE))
    step_until(runner, lambda: widgets.lines[-1] == ("m/up succeeded, arrived", "good"))
    assert arm.begun == ["cartesian_guarded"]


def test_what_a_practised_arm_does_is_drawn_until_a_stop_and_its_silence_is_told(runner, widgets, sent, monkeypatch):
    arm, arm_motion = Arm(), Motion()
    arm.ends = False
    arm.joined.set()
    monkeypatch.setattr(sent, "practise", lambda leaf, values: ClientRun(leaf, values, "arm", arm.join, arm_motion))
    press(runner, widgets, StartLeaf("m/up", {}, Mode.PRACTICE))
    step_until(runner, lambda: arm.begun)
    arm.receive(0.1)
    arm.receive(0.1, [1.0, 2.0])
    arm.receive(2.9, [3.0, 4.0])
    arm.receive(7.0, [3.0, 4.0])
    runner.step(0.0)
    assert sent.drawn is arm_motion
    assert [joints.tolist() for _, joints in arm_motion.after(0, 9)] == [[1.0, 2.0], [3.0, 4.0]]
    assert widgets.now == "m/up: nothing received for 7 s"
    arm.running.finish(PrimitiveResult(PrimitiveEnd.NO_ANSWER, "the end was not reported"))
    step_until(runner, lambda: widgets.lines[-1] == ("m/up no answer, the end was not reported", "bad"))
    told = len(widgets.lines)
    press(runner, widgets, StopLeaf())
    assert (sent.drawn, sent.cleared, len(widgets.lines)) == (None, 1, told)


@pytest.mark.lengthy
def test_an_edited_file_is_read_again_and_a_broken_one_keeps_the_old_menu(runner, widgets, folder):
    (folder / "m.yaml").write_text(MENU.format(doc="second one"))
    step_until(runner, lambda: widgets.items[0].doc == "second one")
    (folder / "m.yaml").write_text("menu: [")
    step_until(runner, lambda: widgets.lines)
    assert "m.yaml" in widgets.lines[-1][0]
    assert widgets.items[0].doc == "second one"


def test_a_folder_that_is_missing_is_named(widgets, sent, tmp_path):
    MenuRunner(widgets, sent, tmp_path / "none", "arm").step(0.0)
    assert widgets.lines == [(f"there is no folder {tmp_path / 'none'}", "bad")]
