"""US 5,046,022, "Tele-autonomous system and method employing time/position synchrony/desynchrony".

A test per claim: claims 14 to 20, the path-plan brake.
"""

import numpy as np
import pytest
from us5046022_scene import Scene

from telerobot_nodes.errors import InvalidValueError


def laid_ahead(delay=0.3, **kwargs):
    """A plan long ahead of an arm that is slow."""
    scene = Scene(delay=delay, **kwargs)
    scene.queue.set_rate(scene.now, 0.2)
    scene.draw(4.0)
    return scene


@pytest.mark.lengthy
def test_claim_14_planning_is_reversed_last_in_first_out():
    """Only a part of what is not performed is deleted, from the tail."""
    scene = laid_ahead()
    before = scene.plan[0].tolist()
    scene.queue.set_brake(scene.now, 2.0)
    heads = []
    for _ in range(10):
        scene.run(0.1)
        heads.append(scene.state().head_seq)
    assert heads == sorted(heads, reverse=True)
    assert scene.plan[0].tolist() == before[: len(scene.plan[0])]
    assert scene.state().length > 0
    scene.queue.set_brake(scene.now, 0.0)
    scene.queue.set_rate(scene.now, 1.0)
    end = scene.plan[2][-1]
    scene.finish()
    assert np.linalg.norm(scene.robot.pose[:3] - end) < 0.001  # and at nothing that was deleted
    assert max(pose[1] for pose in scene.robot.poses) < end[1] + 0.001


@pytest.mark.lengthy
def test_claim_15_the_rate_of_deleting_is_set_in_a_range():
    """A rate inside a range of allowed rates; outside it is refused."""
    for rate in (0.5, 3.0):
        scene = laid_ahead()
        head = scene.state().head_time
        scene.queue.set_brake(scene.now, rate)
        scene.run(0.6)
        assert head - scene.state().head_time == pytest.approx(0.6 * rate, abs=0.1 * rate + 0.02)
    with pytest.raises(InvalidValueError, match="brake_rate"):
        scene.queue.set_brake(scene.now, 1e6)


@pytest.mark.lengthy
def test_claim_16_everything_not_performed_is_deleted_at_once():
    """A third means deletes all of it in a substantially simultaneous manner."""
    scene = laid_ahead()
    assert scene.state().length > 100
    deleted = scene.queue.clear(scene.now)
    assert deleted > 100
    assert scene.state().length < 30
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert len(scene.executed) < 80


@pytest.mark.lengthy
def test_claim_17_the_forward_simulation_runs_backward_under_the_brake():
    """On line, deletions alter the simulation."""
    scene = laid_ahead()
    before = scene.forward.head_time
    scene.queue.set_brake(scene.now, 2.0)
    start = len(scene.simulated)
    scene.run(0.8)
    under_brake = np.array(scene.simulated[start:])
    assert np.all(np.diff(under_brake) <= 1e-9)
    assert before - scene.forward.head_time == pytest.approx(1.6, abs=0.15)
    assert np.allclose(scene.forward.head().tool_pose[:3], scene.plan[2][-1], atol=1e-4)


@pytest.mark.lengthy
def test_claim_18_what_is_performed_or_committed_cannot_be_deleted():
    """Deleting ends at that portion of the plan which is not yet performed."""
    scene = Scene(delay=0.3)
    scene.draw(3.0)
    scene.queue.set_brake(scene.now, 20.0)
    scene.run(2.0)
    assert "committed" in scene.state().notice
    scene.queue.set_brake(scene.now, 0.0)
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()


@pytest.mark.lengthy
def test_claim_19_queue_brake_rate_and_simulation_work_together():
    """First-in first-out queue, deleting at a rate, and the presentation of what is left."""
    scene = laid_ahead()
    scene.queue.set_brake(scene.now, 1.0)
    scene.run(0.5)
    scene.queue.set_brake(scene.now, 0.0)
    assert np.allclose(scene.queue.remaining(10_000)[-1, :3], scene.forward.head().tool_pose[:3], atol=1e-4)
    scene.queue.set_rate(scene.now, 1.0)
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()


@pytest.mark.lengthy
def test_claim_20_the_brake_works_on_a_remote_robot():
    """Two-way transfer over telecommunication: the robot's buffer follows what the operator deleted."""
    scene = laid_ahead(delay=0.5)
    scene.queue.set_brake(scene.now, 2.0)
    scene.run(0.8)
    scene.queue.set_brake(scene.now, 0.0)
    assert scene.robot.tail_seq > scene.state().head_seq
    scene.run(1.5)
    assert scene.robot.tail_seq == scene.state().head_seq
    scene.queue.set_rate(scene.now, 1.0)
    scene.finish()
