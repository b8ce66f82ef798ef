"""Run-time control on the running graph: an object that was moved is missed, found and grasped; a halt; hands over."""

import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The session of the docs: last reports, and the folder of its recording."""
    sys.path.insert(0, str(ROOT / "examples"))
    import pick_session

    folder = tmp_path_factory.mktemp("session")
    return pick_session.run(folder), folder


def test_an_object_moved_away_is_missed_looked_for_and_grasped(played):
    report = played[0]["grasp"]
    assert report.ok, report.reason
    assert list(report.report.trims) == ["touch_1: vision"]


def test_a_halt_on_the_way_ends_the_command_and_the_object_is_still_held(played):
    report = played[0]["lift"]
    assert (report.ok, report.end.value) == (False, "halted")
    assert report.reason.startswith("halt by ana")
    assert played[0]["place"].ok, played[0]["place"].reason


def test_an_arm_of_the_operator_is_left_alone_until_it_is_returned(played):
    assert played[0]["trade"].ok
    refused = played[0]["not ours"]
    assert (refused.ok, "operator's" in refused.reason) == (False, True)
    assert played[0]["return"].ok, played[0]["return"].reason


def test_what_was_put_down_lies_where_the_database_has_it(played):
    from telerobot_nodes.operator.recording import BagReader

    with BagReader(played[1] / "bag") as bag:
        seen = [message for _, _, message in bag.messages(["/hardware_interface/objects"])]
    module = next(entry for entry in seen[-1].obstacles if entry.name == "module")
    assert abs(module.pose[0] - 0.66) < 0.01
    assert abs(module.pose[1] - 0.27) < 0.01
    assert abs(module.pose[2] - 0.25) < 0.005


def test_the_recording_tells_the_session(played):
    from telerobot_nodes.operator.review import as_text, command_log

    text = as_text(command_log(played[1] / "bag"))
    for part in ("missed", "trial vision", "operator's task", "halted", "succeeded"):
        assert part in text
