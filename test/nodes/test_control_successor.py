"""With which halt a control loop begins, after what its node's predecessor noted."""

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.core.config import LifeRecord
from telerobot_nodes.nodes.robot.gcmsf_control import RESTARTED, UNSEEN_HALTS, successor_halt


@pytest.fixture
def after(tmp_path):
    """The halt of a loop whose predecessor left this note."""

    def begin(note, runs):
        file = tmp_path / "arm.life"
        LifeRecord(file).write(note, runs)
        return successor_halt(LifeRecord(file))

    return begin


def test_the_first_loop_is_not_halted(tmp_path):
    assert successor_halt(LifeRecord(tmp_path / "arm.life")) == (0, "")
    assert successor_halt(LifeRecord(None)) == (0, "")


def test_after_a_death_the_loop_waits_for_a_resume_that_nobody_has_sent_yet(after):
    assert after({"halt_count": 4, "halted": ""}, runs=True) == (4 + UNSEEN_HALTS, RESTARTED)
    assert after({"halt_count": 4, "halted": "by desk"}, runs=True) == (4 + UNSEEN_HALTS, "by desk")
    assert after({}, runs=True) == (UNSEEN_HALTS, RESTARTED)


def test_after_an_end_in_order_a_halt_stays_and_its_count_too(after):
    assert after({"halt_count": 4, "halted": "by desk"}, runs=False) == (4, "by desk")
    assert after({"halt_count": 5, "halted": ""}, runs=False) == (5, "")
