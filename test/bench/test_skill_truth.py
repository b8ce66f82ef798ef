"""What the bench of skills calls false: each kind of entry, and nothing that is so."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.bench.rtc.skill_physics import Result, schedule, summary, until_limit
from telerobot_nodes.bench.rtc.skill_truth import Seen, false_entries


def pose(x, y, z):
    return np.array([x, y, z, 0.0, 0.0, 0.0, 1.0])


TRUE = Seen(
    loose={
        "module": pose(0.7, -0.17, 0.25),
        "pin": pose(0.55, -0.12, 0.26),
        "stud": pose(0.43, 0.0, 0.264),
        "box": pose(0.45, -0.34, 0.25),
    },
    joints={"crank": 1.0, "door": -0.5, "bolt": 0.0, "drawer": 0.08},
    forces={},
    tool=pose(0.5, 0.0, 0.5),
    opening=0.08,
    valid={
        "module.pose": pose(0.7, -0.17, 0.25),
        "crank.angle": 1.0,
        "door.angle": 0.5,
        "drawer.travel": 0.08,
        "left_arm.holds": "",
        "left_gripper.width": 0.08,
        "pin.in": "hole",
        "stud.in": "thread",
    },
)
HOLDS = replace(TRUE, forces={"module": 30.0}, opening=0.04, valid={"left_arm.holds": "module"})


def test_a_database_that_is_true_has_no_false_entry():
    assert false_entries(TRUE) == []
    assert false_entries(HOLDS) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("module.pose", pose(0.7, -0.15, 0.25)),
        ("crank.angle", 1.2),
        ("door.angle", -0.5),
        ("drawer.travel", 0.05),
        ("left_arm.holds", "module"),
        ("left_gripper.width", 0.07),
    ],
)
def test_an_entry_that_is_not_so_is_found(key, value):
    assert len(false_entries(replace(TRUE, valid={**TRUE.valid, key: value}))) == 1


def test_what_is_held_and_not_said_is_found():
    assert false_entries(replace(HOLDS, valid={"left_arm.holds": ""})) == ["left_arm holds module"]


@pytest.mark.parametrize(("name", "where"), [("pin", (0.535, -0.122, 0.298)), ("stud", (0.43, 0.0, 0.27))])
def test_what_stands_on_the_rim_is_not_inside(name, where):
    found = false_entries(replace(TRUE, loose={**TRUE.loose, name: pose(*where)}))
    assert [text for text in found if "is not in" in text]


def test_the_summary_counts_lies_and_failures_apart():
    made = [("a", True, True, ()), ("a", True, False, ()), ("b", False, True, ()), ("b", False, False, ("x",))]
    results = [Result(skill, skill, 0, said, done, false) for skill, said, done, false in made]
    figures = summary(results, 2, 1)["figures"]
    assert (figures["done"], figures["false_successes"], list(figures["false_entries"])) == (1, ["a (0)"], ["b (0)"])
    assert figures["reported_as_failed_but_done"] == ["b (0)"]
    assert figures["each"] == {"a": [1, 2], "b": [0, 2]}


def test_a_run_with_a_limit_ends_after_the_start_under_way():
    assert len(list(until_limit(schedule(2, 1, ("wait", "hold")), 1e-9))) == 1
    assert len(list(until_limit(schedule(2, 1, ("wait", "hold")), 0.0))) == 4
