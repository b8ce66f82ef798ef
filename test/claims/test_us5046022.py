"""US 5,046,022, "Tele-autonomous system and method employing time/position synchrony/desynchrony".

A test per claim: claims 1 to 13, time clutch and position clutch.

The claims' words in brief stand in each test's docstring. The scene is in `us5046022_scene`.
"""

import numpy as np
import pytest
from us5046022_scene import ARM, Scene

from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.queue import Join


def span_of_line(engaged, speed, length=0.2):
    """Plan time and number of points of the same line drawn at some speed."""
    scene = Scene(delay=0.0)
    scene.queue.set_time_clutch(scene.now, engaged)
    head = scene.state()
    scene.draw(length / speed, (0.0, speed, 0.0))
    scene.run(1.0)
    return scene.state().head_time - head.head_time


@pytest.mark.lengthy
def test_claim_01_time_synchrony_is_enabled_and_disabled():
    """Enabled, relative time of acquisition is stored with order; disabled, only what is independent of it."""
    slow, fast = span_of_line(True, 0.05), span_of_line(True, 0.2)
    assert slow - fast == pytest.approx(3.0, abs=0.2)
    slow, fast = span_of_line(False, 0.05), span_of_line(False, 0.2)
    assert slow == pytest.approx(fast, rel=0.15)


def test_claim_02_an_artificial_time_base_is_generated():
    """Time values made automatically, independent of acquisition time, inside the tool's speed."""
    scene = Scene(delay=0.0)
    scene.queue.set_time_clutch(scene.now, False)
    scene.draw(0.8, (0.0, 0.4, 0.0))
    scene.run(1.0)
    _, time, position, kind = scene.plan
    free = kind == Timing.FREE
    speed = np.linalg.norm(np.diff(position[free], axis=0), axis=1) / np.diff(time[free])
    assert speed.max() <= scene.queue.config.time_base.speed * 1.001
    assert time[-1] > 1.4


@pytest.mark.lengthy
def test_claim_03_the_path_not_yet_performed_is_displayed_with_the_arm():
    """A monitor shows the manipulator and, at the same time, the part of the plan not performed yet."""
    scene = Scene(delay=1.0)
    scene.draw(2.0)
    ahead = scene.queue.remaining(1000)
    assert len(ahead) == scene.state().length > 50
    assert np.allclose(scene.forward.head().tool_pose[:3], ahead[-1, :3], atol=1e-5)
    assert np.linalg.norm(scene.forward.head().tool_pose[:3] - scene.robot.pose[:3]) > 0.05


@pytest.mark.lengthy
def test_claim_04_control_means_alter_the_timing_of_points_at_any_moment():
    """The second input switches time synchrony while points are laid."""
    scene = Scene()
    for engaged in (True, False, True):
        scene.queue.set_time_clutch(scene.now, engaged)
        scene.draw(0.8)
    scene.finish()
    kinds = scene.plan[3]
    changes = kinds[np.flatnonzero(np.diff(kinds, prepend=-1.0))].tolist()
    assert changes == [Timing.SYNCED, Timing.FREE, Timing.SYNCED]
    assert scene.executed == scene.plan[0].tolist()


@pytest.mark.lengthy
def test_claim_05_forward_simulation_shows_what_is_not_executed():
    """A visual presentation of the planned path ahead of the controlled agent."""
    scene = Scene(delay=1.0)
    scene.draw(1.5)
    assert scene.forward.lead(scene.robot.plan_time) > 0.9
    assert scene.forward.head_time == pytest.approx(scene.state().head_time)


@pytest.mark.lengthy
def test_claim_06_the_queue_of_an_articulated_arm_is_first_in_first_out():
    """A jointed manipulator performs the stored sets in the order they came."""
    scene = Scene(delay=0.1)
    scene.draw(1.5)
    scene.finish()
    assert scene.executed == scene.plan[0].tolist() == sorted(scene.executed)
    assert ARM.dof == 6


@pytest.mark.lengthy
def test_claim_07_the_arm_is_remote_over_a_two_way_link():
    """Operator and forward simulation on one side, the manipulator on the other, a link both ways."""
    scene = Scene(delay=2.0)
    scene.draw(2.0)
    assert scene.executed in ([], [1])
    assert scene.state().data_age >= 0.0
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert scene.state().round_trip == pytest.approx(4.0, abs=0.2)


def disengaged(scene, seconds=1.5, velocity=(0.0, 0.1, 0.05)):
    scene.draw(1.0)
    scene.run(0.5)
    scene.queue.set_position_clutch(scene.now, False)
    scene.draw(seconds, velocity)
    scene.run(0.5)
    return scene


def trial_points(scene):
    return [update.points for update in scene.updates if update.trial and update.points is not None]


@pytest.mark.lengthy
def test_claim_08_position_continuity_is_enabled_and_disabled():
    """Disabled, the plan is interrupted and a second sequence is generated from the same stream."""
    scene = disengaged(Scene())
    head = scene.state().head_seq
    scene.draw(1.0)
    assert scene.state().head_seq == head
    assert sum(len(points) for points in trial_points(scene)) - 1 == scene.state().trial_length > 100


@pytest.mark.lengthy
def test_claim_09_a_second_forward_simulation_shows_the_possible_future():
    """Planned path and trial path are depicted as two simulations in one scene."""
    scene = disengaged(Scene())
    trial, plan = scene.forward.trial_head(), scene.forward.head()
    assert np.allclose(trial.tool_pose[:3], trial_points(scene)[-1].pose[-1, :3], atol=1e-4)
    assert np.allclose(plan.tool_pose[:3], scene.plan[2][-1], atol=1e-4)
    assert np.linalg.norm(trial.tool_pose[:3] - plan.tool_pose[:3]) > 0.1


@pytest.mark.lengthy
def test_claim_10_the_arm_performs_its_plan_while_the_trial_is_drawn():
    """A human, a jointed work robot, and the first sequence carried out meanwhile."""
    scene = Scene(delay=0.1)
    scene.queue.set_time_ratio(scene.now, 3.0)  # the arm is at work for longer than the hand draws
    scene.draw(1.0)
    scene.queue.set_position_clutch(scene.now, False)
    head, begun, place = scene.state().head_seq, len(scene.executed), scene.robot.pose.copy()
    scene.draw(1.0, (0.0, -0.1, 0.05))
    assert begun < len(scene.executed) < head  # in the middle of its plan, and going on
    assert np.linalg.norm(scene.robot.pose[:3] - place[:3]) > 0.01
    assert scene.state().head_seq == head
    assert scene.state().trial_length > 40
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert scene.robot.worst_acceleration <= 1.0


@pytest.mark.lengthy
def test_claim_11_a_second_memory_keeps_the_order_during_the_interruption():
    """What is received during the interruption is stored in order and shown by the forward simulation."""
    scene = disengaged(Scene())
    first = [points.first_seq for points in trial_points(scene)]
    assert first == sorted(first)
    time = np.concatenate([points.time for points in trial_points(scene)])
    assert np.all(np.diff(time) > 0.0)
    assert scene.forward.trial_head().time == pytest.approx(time[-1])


@pytest.mark.lengthy
def test_claim_12_link_on_reengage():
    """On re-engagement the latest points of both memories are linked automatically."""
    scene = disengaged(Scene())
    goal = trial_points(scene)[-1].pose[-1, :3]
    outcome = scene.queue.set_position_clutch(scene.now, True, Join.CONNECT)
    scene.finish()
    _, time, position, kind = scene.plan
    assert outcome.engaged
    assert np.count_nonzero(kind == Timing.LINK) == outcome.appended
    assert np.allclose(position[-1], goal, atol=1e-9)
    assert np.linalg.norm(np.diff(position, axis=0), axis=1).max() < 0.005
    assert np.diff(time).min() > 0.0


@pytest.mark.lengthy
def test_claim_13_joined_data_move_through_both_buffers_to_the_robot():
    """Buffers on both sides of the link; re-engagement moves the second memory into the first buffer."""
    scene = disengaged(Scene(delay=0.5))
    outcome = scene.queue.set_position_clutch(scene.now, True, Join.ADOPT)
    assert outcome.appended > 50
    assert scene.robot.tail_seq < scene.state().head_seq
    scene.finish()
    assert scene.robot.tail_seq == scene.state().head_seq
    assert scene.executed == scene.plan[0].tolist()
