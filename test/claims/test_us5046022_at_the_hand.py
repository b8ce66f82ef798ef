"""US 5,046,022, "Tele-autonomous system and method employing time/position synchrony/desynchrony".

The forward simulation follows the hand at once also where plan time is computed later: claims 1, 5, 8 and 9 with the
time clutch disengaged.
"""

import numpy as np
import pytest
from us5046022_scene import Scene

from telerobot_nodes.plan.queue import Join

SEEN_LATE = 0.05  # [s] at most, the simulated tool behind the hand


def behind(scene, trial=False, seconds=1.0):
    """The longest time [s] that the shown tool is behind the hand itself, while that goes on and comes to rest."""
    hands, tools, start = [], [], scene.hand[1]
    speed = 0.1  # [m/s]
    begin = scene.now
    for _ in range(round((seconds + 0.6) / scene.STEP)):
        y = 5.0 + speed * min(scene.now - begin, seconds)
        scene.step(lambda now, y=y: scene.queue.command_pose(now, [5.0, y, 5.0, 0.0, 0.0, 0.0, 1.0], "device"))
        hands.append(start + y - 5.0)
        shown = scene.forward.trial_head() if trial else scene.arm
        tools.append(shown.tool_pose[1])
    assert hands[-1] - hands[0] > 0.9 * speed * seconds
    return float(np.max(np.array(hands) - np.array(tools))) / speed


@pytest.mark.lengthy
@pytest.mark.parametrize("trial", [False, True])
def test_claim_01_with_the_time_clutch_disengaged_the_simulated_tool_stands_where_the_hand_is(trial):
    """Order alone is kept of the motion, and the display does not wait for the time that is computed of it."""
    scene = Scene(delay=0.5)
    scene.queue.set_time_clutch(scene.now, False)
    if trial:
        scene.queue.set_position_clutch(scene.now, False)
    assert behind(scene, trial) <= SEEN_LATE
    scene.run(1.0)
    end = scene.forward.trial_head() if trial else scene.forward.head()
    assert np.allclose(end.tool_pose[:3], scene.hand[:3], atol=1e-4)  # the points have come there too


@pytest.mark.lengthy
def test_claim_05_the_simulated_tool_never_goes_back_when_its_points_get_their_time():
    """On line, what is shown goes on from the hand, also when the points come there and when the clutch is engaged."""
    scene, y = Scene(delay=0.5), 5.0
    places = []
    for engaged in (False, False, True, False):
        scene.queue.set_time_clutch(scene.now, engaged)
        for k in range(150):
            y += 0.1 * scene.STEP if k < 60 else 0.0
            command = [5.0, y, 5.0, 0.0, 0.0, 0.0, 1.0]
            scene.step(lambda now, command=command: scene.queue.command_pose(now, command, "device"))
            places.append(scene.arm.tool_pose[1])
    assert places[-1] - places[0] > 0.2
    assert min(np.diff(places)) > -1e-6


def engaged_in_motion(back):
    """Places [m] where the tool is shown, from when the time clutch is engaged at 0.3 m/s; `back`: the hand returns."""
    scene, y, places = Scene(delay=0.5), 5.0, []
    scene.queue.set_time_clutch(scene.now, False)
    for k in range(100):
        if k == 40:
            scene.queue.set_time_clutch(scene.now, True)
        y += (-0.3 if back and k >= 40 else 0.3) * scene.STEP
        command = [5.0, y, 5.0, 0.0, 0.0, 0.0, 1.0]
        scene.step(lambda now, command=command: scene.queue.command_pose(now, command, "device"))
        places.append(scene.arm.tool_pose[1])
    assert scene.forward._tips == {}
    return places[39:]


def test_claim_05_the_simulated_tool_does_not_step_back_when_the_clutch_is_engaged_in_motion():
    """With the clutch engaged it is at the last point, which is behind the hand; it waits until the path is there."""
    places = engaged_in_motion(back=False)
    assert min(np.diff(places)) > -1e-6
    assert places[-1] - places[0] > 0.1


def test_claim_05_a_hand_that_returns_as_the_clutch_is_engaged_is_shown_to_return_steadily():
    places = engaged_in_motion(back=True)
    assert max(np.abs(np.diff(places))) < 0.03
    assert places[-1] < places[0] - 0.1


def moved_ahead_of_its_path():
    """A scene in which the hand has just moved, and the pose (7,) where the tool is shown; the path is still behind."""
    scene = Scene(delay=0.5)
    scene.queue.set_time_clutch(scene.now, False)
    scene.draw(0.5, velocity=(0.0, 0.3, 0.0))
    shown = scene.arm.tool_pose
    assert np.linalg.norm(shown[:3] - scene.hand[:3]) > 0.01
    return scene, shown


@pytest.mark.lengthy
def test_claim_12_a_trial_path_joined_at_once_after_a_motion_ends_where_the_tool_was_shown():
    """On the display the tool is at the hand; what is joined then goes there, though the path was still behind."""
    scene = Scene(delay=0.5)
    scene.queue.set_time_clutch(scene.now, False)
    scene.queue.set_position_clutch(scene.now, False)
    scene.draw(0.5, velocity=(0.0, 0.3, 0.0))
    shown = scene.forward.trial_head().tool_pose
    assert np.linalg.norm(shown[:3] - scene.hand[:3]) > 0.01  # the path is behind
    assert scene.queue.set_position_clutch(scene.now, True, Join.CONNECT).engaged
    scene.finish()
    np.testing.assert_allclose(scene.robot.poses[-1][:3], shown[:3], atol=1e-3)


@pytest.mark.lengthy
def test_claim_01_fingers_close_where_the_tool_was_shown():
    scene, shown = moved_ahead_of_its_path()
    scene.queue.set_gripper(scene.now, 0.01)
    scene.draw(0.5, velocity=(0.0, 0.0, 0.1))  # and away
    scene.run(1.0)
    sent = scene.queue._recorder.plan.store.after(0)
    closed = sent.pose[sent.gripper == 0.01, :3]
    np.testing.assert_allclose(closed[0], shown[:3], atol=1e-4)
    assert closed[-1][2] > shown[2] + 0.01


def test_claim_08_a_trial_path_begins_where_the_tool_was_shown():
    scene, shown = moved_ahead_of_its_path()
    scene.queue.set_position_clutch(scene.now, False)
    np.testing.assert_allclose(scene.hand[:3], shown[:3], atol=1e-4)


@pytest.mark.lengthy
def test_out_of_reach_the_shown_tool_is_where_the_path_ends_not_where_the_hand_is():
    scene = Scene(delay=0.5)
    scene.queue.set_time_clutch(scene.now, False)
    scene.draw(3.0, velocity=(0.0, 0.4, 0.0))
    scene.run(1.0)
    assert scene.queue._recorder.sampler.blocked
    np.testing.assert_allclose(scene.arm.tool_pose[:3], scene.hand[:3], atol=1e-3)
