"""Functions of [JPL-RTC] on the running graph, in physics, as a person meets them.

One robot's graph: its processes, DDS, MuJoCo, the planner. The other claims files have the same functions in detail.
What else of the source runs on a graph: `test_run_time_control.py` (trial stack, traded control, a halt),
`test_skills_on_graph.py` (every skill), `test_two_arms_commands.py` (parallel commands, a global error).
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rtc_person import LIMIT, joystick, obstacle, person_class, succeeded

from telerobot_nodes.bench.rtc.halt_rig import robot_graph
from telerobot_nodes.core.config import share_path
from telerobot_nodes.runtime import node_environment

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[2]
START_LIMIT = 150.0  # [s] the planner may have to be compiled first
ABOVE = "(0.45, 0, 0.50, 0, 1, 0, 0)"  # free space over the table, tool down
SOFT = 8.0  # [N] for the box, in the table of this graph
LAMP = "unless signal lamp then"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tmp_path_factory.mktemp("on_graph")


@pytest.fixture(scope="module")
def person(files):
    """A person before the running graph, who sees the physics."""
    params = files / "params.yaml"
    shutil.copytree(share_path("config/rtc"), files / "rtc")
    workcell = files / "rtc" / "workcell.yaml"
    workcell.write_text(workcell.read_text().replace("box: {grip_force: 30}", f"box: {{grip_force: {SOFT:g}}}"))
    params.write_text(
        f"rtc_decision_unit:\n  ros__parameters:\n    database: {files / 'world.sqlite'}\n    folder: {files / 'rtc'}\n"
    )
    with robot_graph(("bag_recorder",), params), person_class()() as made:
        assert made.wait_until(lambda: made.attempt(f"move left_arm to {ABOVE}").outcome == "works", START_LIMIT)
        yield made


@pytest.fixture
def arm(person):
    """The same, with the arm over the table, the fingers open and the lamp off."""
    person.answer, person.hand = None, None
    person.lamp(False)
    for text in ("open gripper with left_arm", f"move left_arm to {ABOVE}"):
        report = person.run(text, limit=LIMIT)
        succeeded(report)
    person.look()
    person.track.clear()
    yield person
    if person.ask("status").text != "none":  # the test has failed on its way
        person.ask("halt")
        person.ask("reset")


# Section 3.1 and figure 2: constraints, F (stop functions and reflexes), M (law), R (reports) -------------------------


def test_figure_2_a_reflex_retreats(arm):
    """Figure 2, F: the arm stops when the condition comes true, and goes back the way that was asked for."""
    report = arm.during(f"move left_arm by 15 cm down speed 0.04 {LAMP} retreat by 5 cm", 0.04, lambda: arm.lamp(True))
    lowest = min(tool[2] for _, tool in arm.track)
    assert not report.ok
    assert arm.tool()[2] - lowest == pytest.approx(0.05, abs=0.01)
    assert lowest > 0.38  # it did not arrive


def test_figure_2_a_reflex_releases(arm):
    """Figure 2, F: what is held is let go, and its place is not trusted any more."""
    arm.does("grasp module with left_arm")
    arm.look()
    lies = arm.loose["module"][2]
    report = arm.during(f"lift module by 6 cm speed 0.02 {LAMP} release", 0.01, lambda: arm.lamp(True))
    arm.look()
    assert not report.ok
    assert arm.opening > 0.06
    assert abs(arm.loose["module"][2] - lies) < 0.02
    assert "suspect" in arm.ask("where module").text
    arm.does("locate module")
    assert ", valid" in arm.ask("where module").text


def test_figure_2_a_reflex_complies(arm):
    """Figure 2, F: an arm that presses gives way until nothing presses any more."""
    number = arm.begin(f"polish plate for 30 s with left_arm maintain force 6 N {LAMP} comply")
    arm.until_active(number, "rub")
    assert arm.wait_until(lambda: arm.bodies["plate"][1] > 3.0, 20.0)
    arm.lamp(True)
    report = arm.end(number, LIMIT)
    arm.look()
    assert not report.ok
    assert arm.bodies["plate"][1] < 3.0


@pytest.mark.parametrize(("answer", "ok"), [("done", True), ("failed", False)])
def test_figure_2_a_reflex_asks_the_operator(arm, answer, ok):
    """Figure 2, F: the arm stands still while a person is asked; his word goes on or ends the command."""
    number = arm.begin(f"move left_arm by 12 cm down speed 0.04 {LAMP} ask operator")
    arm.moved(0.03)
    arm.lamp(True)
    assert arm.wait_until(lambda: arm.tasks, 20.0)
    arm.wait_until(lambda: False, 0.5)
    stands = arm.tool()
    arm.wait_until(lambda: False, 1.0)
    assert np.linalg.norm(arm.tool() - stands) < 0.002
    arm.lamp(False)
    arm.say(f"{answer} task {min(arm.tasks)}")
    report = arm.end(number, LIMIT)
    assert report.ok is ok, report.reason
    assert bool(arm.tool()[2] == pytest.approx(0.38, abs=0.005)) is ok


def test_figure_2_a_reflex_slows_down_and_one_that_holds_goes_on(arm):
    """Figure 2, F: slow to a speed; hold, and go on with `resume`."""
    number = arm.begin(f"move left_arm by 15 cm down speed 0.08 {LAMP} slow to 0.02 m/s")
    arm.moved(0.04)
    arm.lamp(True)
    arm.moved(0.03)
    arm.track.clear()
    arm.moved(0.02)
    assert arm.fastest() < 0.025
    succeeded(arm.end(number, LIMIT))
    arm.lamp(False)
    number = arm.begin(f"move left_arm by 10 cm up speed 0.04 {LAMP} hold")
    arm.moved(0.03)
    arm.lamp(True)
    assert arm.wait_until(lambda: "paused" in arm.ask("status").text, 20.0)
    arm.lamp(False)
    assert arm.ask("resume").ok
    succeeded(arm.end(number, LIMIT))
    assert arm.tool()[2] == pytest.approx(0.45, abs=0.005)


def test_s3_a_motion_ends_when_its_condition_is_measured(arm):
    """3.1: `until force > 4 N`: the table is met, the force is what the sensor shows, and the command succeeds."""
    report = arm.run("move left_arm by 35 cm down speed 0.03 until force > 4 N", limit=LIMIT)
    arm.look()
    succeeded(report)
    assert arm.bodies["table"][1] > 2.0
    assert 4.0 < np.linalg.norm(arm.wrench[:3]) < 60.0


def test_s3_constraints_hold_during_the_motion(arm):
    """3.1: speed, and the orientation that the tool has at the start; a region is refused before anything moves."""
    report = arm.run("move left_arm to (0.45, 0.2, 0.45, 0, 1, 0, 0) maintain speed 0.06", limit=LIMIT)
    succeeded(report)
    assert arm.fastest() < 0.0612
    stands = arm.tool()
    text = "move left_arm to (0.7, 0.45, 0.5, 0, 1, 0, 0) maintain avoid-task-region panel_zone"
    refused = arm.run(text, limit=LIMIT)
    assert not refused.ok
    assert "panel_zone" in refused.reason
    assert np.linalg.norm(arm.tool() - stands) < 0.002


def test_figure_2_avoid_neighbors_keeps_the_arm_away(arm):
    """Figure 2: `maintain avoid-neighbors`: 1 cm unless a distance is given, checked by the planner."""
    with obstacle(arm, [0.45, 0.25, 0.50], [0.3, 0.02, 0.5]):
        goal = "move left_arm to (0.45, {:.3f}, 0.50, 0, 1, 0, 0)".format
        near = next(  # the nearest place that the planner allows as it is
            y for y in np.arange(0.23, 0.05, -0.004) if arm.attempt(goal(y)).outcome == "works"
        )
        assert arm.attempt(goal(near) + " maintain avoid-neighbors").outcome == "fails"
        assert arm.attempt(goal(near) + " maintain avoid-neighbors within 1 mm").outcome == "works" or near < 0.2
        assert arm.attempt(goal(near - 0.014) + " maintain avoid-neighbors").outcome == "works"
        assert arm.attempt(goal(near - 0.014) + " maintain avoid-neighbors within 4 cm").outcome == "fails"
        stands = arm.tool()
        assert not arm.run(goal(near) + " maintain avoid-neighbors", limit=LIMIT).ok
        assert np.linalg.norm(arm.tool() - stands) < 0.002


def test_s4_events_are_reported_at_an_interval(arm):
    """4, R: `report every`: time, place and force of the motion, as often as asked."""
    told = []
    report = arm.run("move left_arm by 12 cm down speed 0.03 report every 0.5 s", told.append, LIMIT)
    succeeded(report)
    said = [re.match(r"(\S+) s, tool at \(\S+, \S+, (\S+)\), force \S+ N", message.reason) for message in told]
    times, heights = np.array([[float(word) for word in found.groups()] for found in said if found]).T
    assert len(times) >= 6
    assert np.all(times % 0.5 < 0.3), times  # a late one does not delay the next
    assert np.all(np.diff(heights) < 0.0)


def test_s4_the_law_of_a_primitive_is_position_or_compliant(arm):
    """4, M: the compliant step keeps its force on the plate; the steps before and after meet nothing."""
    felt = []  # normal force at the wrist, and force on the plate with friction as the physics has it [N]

    def feel():
        if 1 in arm.steps(number, "rub"):
            felt.append((arm.wrench[2], arm.bodies["plate"][1]))

    number = arm.begin("polish plate for 5 s with left_arm maintain force 6 N")
    arm.on_joints = feel
    report = arm.end(number, LIMIT)
    arm.on_joints = lambda: None
    succeeded(report)
    normal, pressed = np.mean(felt[len(felt) // 4 :], axis=0)
    assert normal == pytest.approx(6.0, abs=1.0)
    assert normal - 1.0 < pressed < 2.0 * normal


# Section 4: the command-object table, candidates, what cannot be undone -----------------------------------------------


def test_s4_the_command_object_table_gives_what_the_fingers_close_with(arm):
    """4: the cross table of commands and objects, as the fingers press on both sides in the physics."""
    pressed = {}
    for thing in ("module", "box"):
        arm.does(f"grasp {thing} with left_arm")
        arm.look()
        pressed[thing] = arm.bodies[thing][1]
        arm.does(f"release {thing}")
    assert pressed["box"] == pytest.approx(2 * SOFT, abs=2.0)
    assert pressed["module"] > 3 * SOFT  # its row asks for 30 N, the gripper's own most is 20


def test_s4_a_step_that_cannot_be_undone_is_not_done_again(arm):
    """4: what follows the release fails; the command ends, though it may be tried three times."""
    arm.does("locate module")
    number = arm.begin("pick module and place on dock with left_arm retry 3")
    arm.until_active(number, "let_go")
    with obstacle(arm, [*arm.tool()[:2], arm.tool()[2] + 0.30], [0.3, 0.3, 0.05]):
        report = arm.end(number, LIMIT)
    assert (report.ok, report.step) == (False, "leave"), report
    assert len(arm.steps(number, "let_go")) == 1
    arm.does("retract left_arm by 8 cm")


# Section 5: database, queries, operator, hypothesis testing -----------------------------------------------------------


def test_s5_any_subsystem_reads_the_database(arm):
    """5: a node of another package asks by service, while a command runs, and is told what the physics shows."""
    arm.does("locate module")
    number = arm.begin("move left_arm by 12 cm down speed 0.03")
    other = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "ros_commands.py"), "wait for 0.2 s"],
        env=node_environment(os.environ), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    succeeded(arm.end(number, LIMIT))
    arm.look()
    place, validity = re.fullmatch(r"submit: module: \(([^)]*)\), (\w+)", other.stdout.splitlines()[0]).groups()
    np.testing.assert_allclose([float(word) for word in place.split(",")[:3]], arm.loose["module"][:3], atol=0.01)
    assert (validity, other.returncode) == ("valid", 0), other.stderr


def test_s5_one_unit_writes_the_database(arm, files):
    """5: commands that run at the same time change it, one change after the other, each under its author."""
    numbers = [arm.begin("locate box"), arm.begin("move left_arm by 5 cm down"), arm.begin("wait for 0.5 s")]
    assert all(arm.end(number, LIMIT).ok for number in numbers)
    wanted = {"observation of left_arm", f"command {numbers[0]}", f"command {numbers[1]}"}
    changes = {}

    def saved():  # the unit saves once a second
        with sqlite3.connect(files / "world.sqlite") as store:
            for revision, author, stamp in store.execute(
                "select revision, author, stamp from items where revision > 1"
            ):
                changes.setdefault(revision, set()).add((author, stamp))
        return wanted <= {author for change in changes.values() for author, _ in change}

    assert arm.wait_until(saved, LIMIT), changes
    assert all(len(change) == 1 for change in changes.values())


def test_s5_the_operator_performs_the_steps_of_a_command(arm):
    """5: `via operator-intervention`: every step is a task for a person; what he enters is in the database."""
    arm.answer = "done"
    number = arm.begin("grasp pin with left_arm via operator-intervention")
    report = arm.end(number, LIMIT)
    succeeded(report)
    script = arm.scripts[number]
    assert {step.subsystem for step in script.steps if step.state == 2} == {"operator"}
    assert "left_arm.holds = pin (valid)" in arm.ask("show left_arm").text
    arm.does("release pin with left_arm via operator-intervention")
    assert "left_arm.holds = pin" not in arm.ask("show left_arm").text


def test_s5_a_sequence_is_tried_before_it_is_done(arm):
    """5: hypothesis testing of several tasks: each takes the world as the one before it leaves it; nothing moves."""
    stands = arm.tool()
    trial = arm.attempt("grasp box with left_arm; lift box by 5 cm; place box on stand")
    assert trial.outcome in ("works", "fails")
    wrong = arm.attempt("grasp box with left_arm; lift module by 5 cm")
    assert wrong.outcome == "fails"
    assert wrong.trial[-1].step.startswith("2:")
    assert np.linalg.norm(arm.tool() - stands) < 0.002
    assert trial.outcome == "works", trial.reason


def test_s5_the_camera_works_beside_the_arm_and_a_busy_arm_is_refused_or_waited_for(arm):
    """5: exclusive, queued and shared resources, all of a command at once."""
    first = arm.begin("move left_arm by 12 cm down speed 0.03")
    arm.does("look at dock")
    busy = arm.run("move left_arm by 5 cm up no-wait", limit=LIMIT)
    second = arm.begin("move left_arm by 5 cm up queued")
    assert (busy.ok, "left_arm" in busy.reason) == (False, True), busy.reason
    assert first not in arm._ended
    succeeded(arm.end(first, LIMIT))
    succeeded(arm.end(second, LIMIT))
    assert arm.tool()[2] == pytest.approx(0.43, abs=0.005)


# Section 2: the operator and the program together ---------------------------------------------------------------------


def test_s2_hand_on_x_and_y_program_on_z(arm):
    """2: shared control: a joystick moves the pad over the plate while the program keeps the force on it."""
    text = "polish plate for 8 s with left_arm maintain force 6 N shared operator x y program z rx ry"
    with joystick(arm) as push:
        number = arm.begin(text)
        arm.until_active(number, "rub")
        begins, forces, way = arm.tool(), [], 0.0
        while not arm.wait_until(lambda: number in arm._ended, 0.02):
            if 1 in arm.steps(number, "rub"):
                push(0.3 if way < 0.03 else 0.0)
                way = max(way, float(np.linalg.norm((arm.tool() - begins)[:2])))
                forces.append(arm.bodies["plate"][1])
    report = arm.end(number, 1.0)
    succeeded(report)
    assert way > 0.03
    assert max(forces) < 30.0  # the threshold of the skill
    assert np.mean(forces[len(forces) // 4 :]) == pytest.approx(6.0, abs=2.0)
