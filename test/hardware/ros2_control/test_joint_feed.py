import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware.ros2_control.joint_feed import JointFeed
from telerobot_nodes.hardware.ros2_control.trouble import Trouble

ROBOT = load_robot("arm")
HOME = dict(zip(ROBOT.joint_names, ROBOT.home.tolist(), strict=True))


def feed(**more):
    return JointFeed(ROBOT.joint_names, ROBOT.limits, **more)


def send(to, row, time=1.0, velocity=None):
    names = list(row)
    rates = [] if velocity is None else [velocity.get(name, 0.0) for name in names]
    return to.receive(time, time, names, list(row.values()), rates)


@given(st.permutations([*HOME, "rail", "camera", "finger"]))
def test_joints_are_found_in_any_order_between_others(order):
    found = feed(finger="finger")
    assert send(found, {name: HOME.get(name, 0.03) for name in order}) is None
    assert found.latest.position.tolist() == ROBOT.home.tolist() and found.latest.finger == 0.03


def test_the_order_may_change_from_one_message_to_the_next():
    found = feed()
    send(found, HOME)
    assert send(found, dict(reversed(HOME.items())), 1.01) is None
    assert found.latest.position.tolist() == ROBOT.home.tolist()


@pytest.mark.parametrize("missing", ["joint3", "finger"])
def test_a_missing_joint_is_named(missing):
    fault = send(feed(finger="finger"), {name: 0.0 for name in (*HOME, "finger") if name != missing})
    assert fault.trouble is Trouble.MISSING_JOINT and missing in fault.detail


def test_fewer_positions_than_names_are_missing_joints():
    fault = feed().receive(1.0, 1.0, list(HOME), [0.0] * 4)
    assert fault.trouble is Trouble.MISSING_JOINT and "joint5, joint6" in fault.detail


def test_degrees_and_nonsense_are_named_and_not_taken():
    found = feed()
    send(found, HOME)
    for k, (row, trouble) in enumerate(
        (
            ({name: np.degrees(value) for name, value in HOME.items()}, Trouble.UNITS),
            ({**HOME, "joint2": float("nan")}, Trouble.NOT_FINITE),
        )
    ):
        assert send(found, row, 2.0 + k).trouble is trouble
        assert found.latest.position.tolist() == ROBOT.home.tolist()
    assert send(found, HOME, 5.0, {"joint1": 90.0}).trouble is Trouble.UNITS


def test_a_jump_is_named_and_the_new_position_known():
    found = feed()
    send(found, HOME)
    moved = {**HOME, "joint4": HOME["joint4"] + 0.3}
    fault = send(found, moved, 1.002)
    assert fault.trouble is Trouble.JUMP and "joint4" in fault.detail
    assert found.latest.position[3] == moved["joint4"]


def test_the_fastest_motion_is_no_jump_even_where_messages_are_lost():
    found, row = feed(), dict(HOME)
    send(found, row)
    for k in range(1, 5):
        row["joint4"] = HOME["joint4"] + 0.05 * k * ROBOT.limits.velocity[3]
        assert send(found, row, 1.0 + 0.05 * k) is None


def test_a_stamp_that_went_back_is_a_new_beginning():
    found = feed()
    found.receive(1.0, 900.0, list(HOME), list(HOME.values()))
    assert found.receive(1.1, 2.0, list(HOME), list(HOME.values())).trouble is Trouble.BEGAN_AGAIN
    assert found.latest.time == 1.1


def test_velocities_come_from_positions_where_the_driver_has_none():
    found, row = feed(), dict(HOME)
    for k in range(100):
        row["joint1"] = HOME["joint1"] + 0.5 * 0.002 * k
        send(found, row, 1.0 + 0.002 * k)
    assert found.latest.velocity[0] == pytest.approx(0.5, rel=1e-3)
    assert found.latest.velocity[1:].tolist() == [0.0] * 5
