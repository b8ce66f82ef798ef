"""US 5,046,022, "Tele-autonomous system and method employing time/position synchrony/desynchrony".

A test per claim: claims 21 to 29, scaled plan time and hand-off between agents.
"""

import executor_models
import numpy as np
import pinocchio as pin
import pytest
import two_agents
from us5046022_scene import ARM, HOME, Scene, assert_passed

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import Timing


@pytest.mark.lengthy
def test_claim_21_points_are_to_be_performed_at_a_scaled_time_of_acquisition():
    """A non-unity function of acquisition time: proportional to it."""
    scene = Scene()
    scene.queue.set_time_ratio(scene.now, 2.0)
    head = scene.state().head_time
    scene.draw(2.0)
    assert scene.state().head_time - head == pytest.approx(4.0, abs=0.05)
    assert scene.plan[3][-1] == Timing.SCALED


def test_claim_22_scaled_or_synchronised_is_selected():
    """The agent selects between both, point by point."""
    scene = Scene()
    for ratio in (1.0, 0.5, 1.0):
        scene.queue.set_time_ratio(scene.now, ratio)
        scene.draw(0.5)
    kinds = scene.plan[3]
    changes = kinds[np.flatnonzero(np.diff(kinds, prepend=-1.0))].tolist()
    assert changes == [Timing.SYNCED, Timing.SCALED, Timing.SYNCED]


def test_claim_23_the_time_scale_is_taken_from_a_range():
    """A particular scale from an allowed range of different ones."""
    scene = Scene()
    for ratio in (0.1, 1.0, 10.0):
        assert scene.queue.set_time_ratio(scene.now, ratio) == ratio
    for ratio in (0.05, 11.0):
        with pytest.raises(InvalidValueError, match="time_ratio"):
            scene.queue.set_time_ratio(scene.now, ratio)
    assert scene.state().time_ratio == 10.0


def test_claim_24_the_scaled_plan_is_displayed_ahead_of_the_arm():
    """Scale, arm and the portion not performed are on the monitor together."""
    scene = Scene(delay=0.5)
    scene.queue.set_time_ratio(scene.now, 3.0)
    scene.draw(1.5)
    assert scene.state().time_ratio == 3.0
    assert scene.forward.lead(scene.robot.plan_time) > 3.0
    assert len(scene.queue.remaining(1000)) == scene.state().length


@pytest.mark.lengthy
def test_claim_25_planning_goes_on_while_the_arm_moves():
    """Command signals are given, scaled, while the agent is performing earlier ones."""
    scene = Scene(delay=0.1)
    scene.queue.set_time_ratio(scene.now, 1.5)
    scene.draw(1.0)
    moving = len(scene.executed)
    scene.draw(1.0)
    assert moving < len(scene.executed) < scene.state().head_seq
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert scene.robot.worst_velocity <= 1.0


@pytest.mark.lengthy
def test_claim_26_the_kind_of_timing_is_selected_while_the_arm_moves():
    """Time-synchronised or scaled, chosen by the agent during operation."""
    scene = Scene(delay=0.1)
    for ratio in (1.0, 2.0):
        scene.queue.set_time_ratio(scene.now, ratio)
        scene.draw(1.0)
    scene.finish()
    assert {Timing.SYNCED, Timing.SCALED} <= set(scene.plan[3].tolist())
    assert scene.executed == scene.plan[0].tolist()


def test_claim_27_a_human_sees_scale_arm_and_plan_of_an_articulated_robot():
    """Human agent, jointed manipulator, range of scales, monitor."""
    scene = Scene(delay=0.2)
    scene.queue.set_time_ratio(scene.now, 2.0)
    scene.draw(1.0)
    state = scene.state()
    assert (state.time_ratio, state.time_clutch) == (2.0, True)
    assert state.lead > 1.0
    arm = scene.forward.head()
    assert np.allclose(pose_from_se3(ARM.forward(arm.joint_position))[:3], arm.tool_pose[:3], atol=1e-5)
    assert np.allclose(scene.queue.remaining(1000)[-1, :3], arm.tool_pose[:3], atol=1e-4)
    assert np.linalg.norm(arm.tool_pose[:3] - scene.robot.pose[:3]) > 0.02  # the arm is shown apart from the plan's end


ALONG, ABOVE = 0.15, 0.03  # [m] from home: where Bob's tool comes near Ann's plan


def beside(along, above, turn=0.0):
    """A hand that holds the tool at a place beside Ann's line [m from home], turned about the line [rad]."""
    goal = HOME + np.array([0.0, along, above, 0.0, 0.0, 0.0, 0.0])
    goal[3:] = (pin.Quaternion(HOME[3:]) * pin.Quaternion(pin.exp3(np.array([turn, 0.0, 0.0])))).coeffs()
    return lambda now: goal


def hand_off(turn=0.0, **config):
    """Ann plans a line far ahead of a slow arm; Bob's simulated tool waits 10 cm above it, then comes near."""
    two = two_agents.Two(robot=executor_models.ExecutorRobot, **config)
    two.run(1.5)
    begin = two.now
    two.sides["ann"][0].set_time_ratio(begin, 8.0)
    two.run(2.5, ann=lambda now: beside(0.1 * (now - begin), 0.0)(now), bob=beside(ALONG, 0.1))
    two.say("bob", AuthorityKind.REQUEST)
    two.say("ann", AuthorityKind.CONSENT)
    two.run(1.0, bob=beside(ALONG, 0.1))
    assert two.robot.receiver.position.authority == "ann"  # although she agrees
    two.run(2.0, bob=beside(ALONG, ABOVE, turn))
    return two


def assert_two_plans_executed_as_one(two, *bobs):
    """The arm went along Ann's line to the meeting, over to Bob's tool, and to his places; inside its limits."""
    way = np.array(two.robot.poses)[:, :3]
    places = [(0.0, 0.0), (0.05, 0.0), (0.1, 0.0), (ALONG, 0.0), (ALONG, ABOVE), *bobs]
    assert_passed(way, np.array([beside(*place)(0.0)[:3] for place in places]))
    assert np.allclose(way[-1], beside(*places[-1])(0.0)[:3], atol=0.001)
    assert way[:, 1].max() < HOME[1] + ALONG + 0.002  # and nowhere on Ann's plan after it
    epochs = [epoch for _, epoch in two.robot.executed]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) == 2
    assert two.robot.refused == []
    assert max(two.robot.worst_velocity, two.robot.worst_acceleration) <= 1.0


@pytest.mark.lengthy
def test_claim_28_control_passes_when_the_second_simulation_is_near_the_first_plan():
    """Transfer when the second simulation is within a predetermined distance from a portion of the first plan."""
    two = hand_off()
    assert two.robot.receiver.position.authority == "bob"
    assert two.robot.pose[1] < HOME[1] + 0.1  # while the arm is still on its way there
    two.run(1.0)
    two.run(2.0, bob=beside(ALONG, 0.1))
    two.run(12.0)
    assert_two_plans_executed_as_one(two, (ALONG, 0.1))


@pytest.mark.parametrize(("turn", "bound"), [(0.0, {"meeting_distance": 0.02}), (0.2, {"meeting_angle": 0.1})])
@pytest.mark.lengthy
def test_claim_28_control_does_not_pass_beyond_the_predetermined_distance(turn, bound):
    """At the same place, but farther off than this distance, or turned by more than this angle."""
    two = hand_off(turn, **bound)
    two.run(1.0)
    assert two.robot.receiver.position.authority == "ann"


@pytest.mark.lengthy
def test_claim_29_a_human_takes_over_from_a_program():
    """At least one of the agents is human: here a hand on a device takes over from a program's poses."""
    two = hand_off()
    two.run(3.0)
    queue, begin = two.sides["bob"][0], two.now
    for _ in range(200):
        two.step({})
        hand = [9.0, 9.0 - 0.1 * (two.now - begin), 9.0, 0.0, 0.0, 0.0, 1.0]
        queue.command_pose(two.now, hand, "device")
    two.run(15.0)
    assert_two_plans_executed_as_one(two, (ALONG - 0.199, ABOVE))  # what the hand did after its first sample
