"""US 5,046,022, "Tele-autonomous system and method employing time/position synchrony/desynchrony".

A test per claim: claims 21 to 29, scaled plan time and hand-off between agents.
"""

import numpy as np
import pytest
import two_agents
from us5046022_scene import ARM, Scene

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import Timing


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


def hand_off(two):
    """Ann plans a long sweep; Bob's simulated tool waits beside it, then comes near."""
    two.run(1.5)
    two.robot.rate = 0.3
    begin = two.now
    two.run(5.0, ann=two_agents.sweep(begin), bob=two_agents.at(0.5, 0.3))
    two.say("bob", AuthorityKind.REQUEST)
    two.say("ann", AuthorityKind.CONSENT)
    two.run(1.0, ann=two_agents.sweep(begin), bob=two_agents.at(0.5, 0.3))
    far = two.robot.receiver.position.authority
    two.run(3.0, ann=two_agents.sweep(begin), bob=two_agents.at(0.41, 0.3))
    return far


def test_claim_28_control_passes_when_the_second_simulation_is_near_the_first_plan():
    """Transfer when the second simulation is within a predetermined distance from a portion of the first plan."""
    two = two_agents.Two()
    assert hand_off(two) == "ann"
    assert two.robot.receiver.position.authority == "bob"
    two.robot.rate = 1.0
    two.run(15.0, bob=two_agents.at(0.45, 0.25))
    authors = [author for _, author in two.robot.executed]
    assert authors == sorted(authors)
    assert np.allclose(two.robot.pose[:3], [0.45, 0.25, 0.4], atol=1e-3)


def test_claim_29_a_human_takes_over_from_a_program():
    """At least one of the agents is human: here a hand on a device takes over from a program's poses."""
    two = two_agents.Two()
    hand_off(two)
    queue = two.sides["bob"][0]
    assert two.robot.receiver.position.authority == "bob"
    two.run(3.0)
    head = queue.state(two.now).target_pose[:3].copy()
    for k in range(200):
        two.step({})
        queue.command_pose(two.now, [9.0, 9.0 - 0.001 * k, 9.0, 0.0, 0.0, 0.0, 1.0], "device")
    two.robot.rate = 1.0
    two.run(12.0)
    assert two.robot.executed[-1][1] == "bob"
    assert np.allclose(two.robot.pose[:3] - head, [0.0, -0.199, 0.0], atol=0.002)  # the arm did what the hand did
    assert two.robot.refused == []
