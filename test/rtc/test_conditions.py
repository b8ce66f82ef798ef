"""Reflexes and `until` on what is measured: what holds, what cannot be told, what fires once."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.rtc.decision import Measured, ReflexWatch, reflex_of_threshold
from telerobot_nodes.rtc.decision.conditions import holds
from telerobot_nodes.rtc.elaboration import make_request
from telerobot_nodes.rtc.language import Until, parse
from telerobot_nodes.rtc.skills import Primitive, ReportWish, Space, Stop, Trajectory


def condition(text):
    (task,) = parse(f"wait for 1 s until {text}")
    return next(clause.condition for clause in task.clauses if isinstance(clause, Until))


MEASURED = Measured(
    pose=(0.5, 0, 0.4, 0, 1, 0, 0), wrench=(0, 3, 4, 0, 0, -2), width=0.04, speed=0.1, signals={"lamp": True},
    events={"slip": True, "joint-limit": False},
    places={"dock": np.array([0.5, 0.0, 0.1])},
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("force > 4.9 N", True),
        ("force > 5 N", False),
        ("force >= 5 N", True),
        ("force y < 3.5 N", True),
        ("torque rz > 1 Nm", True),
        ("width < 5 cm", True),
        ("speed > 0.2 m/s", False),
        ("deviation > 1 mm", None),
        ("time > 2 s", True),
        ("distance to dock < 0.31", True),
        ("distance to table < 0.31", None),
        ("contact", True),
        ("collision", False),
        ("signal lamp", True),
        ("signal part_ready", None),
        ("not signal lamp", False),
        ("slip", True),
        ("joint-limit", False),
        ("singularity", None),
        ("not singularity", None),
        ("not signal part_ready", None),
        ("force > 4 and deviation > 1 mm", None),
        ("force > 6 and deviation > 1 mm", False),
        ("force > 4 or deviation > 1 mm", True),
        ("force > 6 or deviation > 1 mm", None),
    ],
)
def test_a_condition_holds_does_not_hold_or_cannot_be_told(text, true):
    assert holds(condition(text), MEASURED, 3.0) is true


def primitive(**parameters):
    stops = (Stop("reflex_1", ""), Stop("timeout", ""))
    return Primitive(7, 1, "go", "move_free", "left_arm", "joint_guarded", "position",
                     Trajectory(Space.JOINT, np.zeros((2, 6)), 1.0), stops, parameters=parameters)  # fmt: skip


def request(library, database, text):
    (task,) = parse(text)
    return make_request(task, library, database.view)


def test_a_stopping_reflex_fires_once_and_a_reporting_one_each_time_it_comes_true(library, cell):
    watch = ReflexWatch()
    asked = request(library, cell.database,
                    "move left_arm to dock unless force > 9 then report unless force > 20 then stop")  # fmt: skip
    watch.begin(primitive(), asked, 0.0)

    def fired(force):
        return [f.outcome for f in watch.measured("left_arm", Measured(wrench=(0, 0, force, 0, 0, 0)), 1.0)]

    assert watch.of("left_arm")
    assert not watch.of("right_arm")
    assert [fired(force) for force in (1, 10, 11, 1, 10, 30, 30)] == [[], [""], [], [], [""], ["reflex_2"], []]


def test_until_ends_the_motion_as_a_success(library, cell):
    watch = ReflexWatch()
    watch.begin(primitive(), request(library, cell.database, "move left_arm to dock until contact"), 0.0)
    (firing,) = watch.measured("left_arm", MEASURED, 1.0)
    assert firing.outcome == "until"


def test_a_command_without_conditions_is_not_watched(library, cell):
    watch = ReflexWatch()
    watch.begin(primitive(), request(library, cell.database, "move left_arm to dock"), 0.0)
    assert not watch.of("left_arm")


def test_the_reflex_whose_threshold_the_executive_watches_is_named(library, cell):
    asked = request(library, cell.database, "move left_arm to dock unless force > 20 then stop")
    assert reflex_of_threshold(primitive(max_force_thres=20.0), asked, "force") == "reflex_1"
    assert reflex_of_threshold(primitive(max_force_thres=10.0), asked, "force") == ""


def test_a_guard_that_nobody_measures_stops_the_motion(library, cell):
    watch = ReflexWatch()
    watch.begin(primitive(), request(library, cell.database, "move left_arm to dock unless signal lamp then stop"), 0.0)
    on = Measured(wrench=(0.0,) * 6, signals={"lamp": False})
    times = (0.5, 0.9, 1.2, 2.0, 2.3)
    fired = [watch.measured("left_arm", on if t < 1.0 else Measured(), t) for t in times]
    assert [[f.outcome for f in firings] for firings in fired] == [[], [], [], ["sensor_loss"], []]


def test_a_command_reports_at_its_interval(library, cell):
    watch = ReflexWatch()
    asked = request(library, cell.database, "move left_arm to dock report every 2 s")
    watch.begin(replace(primitive(), report=ReportWish(2.0)), asked, 0.0)
    told = [[f.text for f in watch.measured("left_arm", MEASURED, t)] for t in (1.0, 2.1, 3.0, 4.2)]
    assert told == [[], ["2.1 s, tool at (0.500, 0.000, 0.400), force 5.0 N"], [], [
        "4.2 s, tool at (0.500, 0.000, 0.400), force 5.0 N"
    ]]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("move left_arm to dock unless deviation > 1 mm then stop", "not reported while a motion runs"),
        ("move left_arm to dock until contact on module", "which object is touched is not measured"),
        ("move left_arm to dock unless width y > 1 cm then stop", "measured without axes"),
        ("move left_arm to dock unless speed > 10 deg/s then stop", "m/s"),
        ("wait until force > 5 N", "not measured during a wait; allowed: time, signal"),
        ("wait until not contact", "not measured during a wait"),
        ("wait until distance to dock < 5 cm", "not measured during a wait"),
        ("wait for 5 s unless signal lamp then stop", "wait moves none"),
        ("wait for 5 s report every 0.01 s", "report every 0.01 s: allowed: 0.05 s or more"),
        ("locate module until time > 1 s", "locate moves none"),
        ("grasp module with left_arm via operator-intervention until contact", "while a person does the steps"),
        ("move left_arm to dock until (time > 1 s or not contact on module)", "which object"),
    ],
)
def test_what_nobody_measures_is_refused_before_it_begins(cell, text, reason):
    report = cell.run(text)
    assert (report.outcome, reason in report.reason) == ("refused", True), report.reason


@pytest.mark.parametrize(
    "condition_",
    ["force > 30 N", "torque rz > 3 Nm", "distance to dock < 5 cm", "width < 1 cm", "speed > 1 m/s", "time > 90 s",
     "slip", "joint-limit", "singularity", "sensor-loss", "link-loss", "contact", "collision", "signal lamp"],
)  # fmt: skip
def test_what_is_measured_is_taken(cell, condition_):
    report = cell.run(f"move left_arm by 1 cm up unless {condition_} then stop")
    assert report.outcome == "succeeded", report.reason
