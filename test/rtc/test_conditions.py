"""Reflexes and `until` on what is measured: what holds, what cannot be told, what fires once."""

import numpy as np
import pytest

from telerobot_nodes.rtc.conditions import Measured, ReflexWatch, holds, reflex_of_threshold
from telerobot_nodes.rtc.parser import parse
from telerobot_nodes.rtc.primitives import Primitive, Space, Stop, Trajectory
from telerobot_nodes.rtc.request import make_request
from telerobot_nodes.rtc.syntax import Until


def condition(text):
    (task,) = parse(f"wait for 1 s until {text}")
    return next(clause.condition for clause in task.clauses if isinstance(clause, Until))


MEASURED = Measured(
    pose=(0.5, 0, 0.4, 0, 1, 0, 0), wrench=(0, 3, 4, 0, 0, -2), width=0.04, speed=0.1, signals={"lamp": True},
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
