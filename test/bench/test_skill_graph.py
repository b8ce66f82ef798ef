"""The running graph as a cell of the bench of skills: reading its database, and when its world is used again."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.bench.rtc.skill_graph import entries, is_as_before
from telerobot_nodes.bench.rtc.skill_truth import Seen, valid_entries
from telerobot_nodes.core.config import share_path
from telerobot_nodes.rtc.language import Query
from telerobot_nodes.rtc.server.queries import answer
from telerobot_nodes.rtc.skills import load_library
from telerobot_nodes.rtc.world import Database, Item, Validity

LIES = np.array([0.7, -0.17, 0.25, 0.0, 0.0, 0.0, 1.0])
FIRST = Seen(
    loose={"module": LIES},
    joints={"door": 0.0},
    forces={},
    tool=LIES,
    opening=0.08,
    valid={"left_arm.holds": "", "left_arm.owner": "program", "module.pose": LIES},
)


def printed(database):
    return answer(Query("show", "database"), None, database.view)


@pytest.mark.lengthy
def test_the_database_is_read_as_it_is_printed():
    items = load_library(share_path("config/rtc")).workcell.items
    database = Database(items)
    read = {item.key: (item.value, item.frame, item.validity) for item in entries(printed(database))}
    assert read == {item.key: (item.value, item.frame, item.validity) for item in items}


def test_the_pose_of_what_is_held_is_found_in_world_while_the_arm_is_known():
    arm = Item("left_arm.pose", (0.5, 0.0, 0.4, 0.0, 1.0, 0.0, 0.0))
    held = Item("module.pose", (0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0), frame="left_arm")
    seen = valid_entries(Database(entries(printed(Database([arm, held])))).view, ["module"])
    np.testing.assert_allclose(seen["module.pose"][:3], (0.5, 0.0, 0.3), atol=1e-9)
    doubted = replace(arm, validity=Validity.SUSPECT)
    assert "module.pose" not in valid_entries(Database(entries(printed(Database([doubted, held])))).view, ["module"])


@pytest.mark.parametrize(
    "change",
    [
        {"loose": {"module": LIES + np.array([0.01, 0, 0, 0, 0, 0, 0])}},
        {"joints": {"door": 0.05}},
        {"opening": 0.07},
        {"valid": {**FIRST.valid, "left_arm.holds": "module"}},
        {"valid": {**FIRST.valid, "left_arm.owner": "operator"}},
        {"valid": {"left_arm.holds": "", "left_arm.owner": "program"}},
    ],
)
def test_a_world_in_which_something_has_changed_is_used_no_more(change):
    assert is_as_before(FIRST, replace(FIRST, tool=LIES + 0.1, forces={"table": 3.0}))
    assert not is_as_before(FIRST, replace(FIRST, **change))
