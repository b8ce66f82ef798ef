"""No motion of any kind takes the tool beyond plane or box; what ends one at the guard says so."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import SetpointLimiter
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Termination, sensor_in_tool
from telerobot_nodes.motion.parameters import Guard, parameters_from
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest
from telerobot_nodes.motion.primitives.guard import SLACK, guard_of
from telerobot_nodes.motion.primitives.primitive import rest_times

PERIOD, BAND, BELOW = 0.004, 0.01, 0.05  # [s], [m], [m] of the plane below the tool
DEAF = {"max_force_thres": 0.0, "max_torque_thres": 0.0}
FAST = {"max_tele_vel": [1.0] * 6, "max_sf_vel": [1.0, 1.0]}


class Guarded:
    """An arm that follows, and a plane below its tool."""

    def __init__(self, arm, name, **values):
        self.arm, self.q, self.now = arm, np.array(arm.home), 1.0
        self.start = arm.forward(self.q)
        self.height = self.start.translation[2] - BELOW
        plane = [0.0, 0.0, self.height, 0.0, 0.0, 1.0]
        self.executive = Executive(arm, PERIOD)
        wanted = {"guard_plane": plane, "guard_band": BAND, "guard_points": [0.0, 0.0, 0.0], **values}
        self.executive.begin(self.now, self.q, self.executive.prepare(PrimitiveRequest(1, name, wanted), self.q, 0.05))

    def run(self, seconds=10.0, hand=None, wrench=None):
        """Lowest place [m] of the tool over the plane."""
        lowest = np.inf
        for _ in range(round(seconds / PERIOD)):
            self.executive.measure(self.q)
            noise = 1e-6 * np.sin(1e3 * self.now)
            self.executive.set_wrench(self.now, (np.zeros(6) if wrench is None else wrench) + noise)
            self.executive.measure_gripper(self.now, 0.05)
            if hand is not None:
                self.executive.teleoperate(np.array(hand) * PERIOD)
            going = self.executive.step(self.now)
            self.q = self.executive.setpoint.q.copy()
            lowest = min(lowest, self.over(self.q))
            self.now += PERIOD
            if not going:
                break
        return lowest

    def over(self, q):
        return self.arm.forward(q).translation[2] - self.height

    def down(self, distance):
        """A destination `distance` [m] below the start."""
        T = pin.SE3(self.start.rotation, self.start.translation - [0.0, 0.0, distance])
        return pin.SE3ToXYZQUAT(T).tolist()


def below(arm, distance):
    T = arm.forward(np.array(arm.home))
    return pin.SE3ToXYZQUAT(pin.SE3(T.rotation, T.translation - [0.0, 0.0, distance])).tolist()


@pytest.mark.parametrize("speed", [0.02, 0.1, 0.25, 0.5, 2.0])
@pytest.mark.parametrize("name", ["cartesian_guarded", "gcm", "move_to_touch"])
def test_a_motion_to_a_place_beyond_ends_before_the_band_with_the_reason(arm, name, speed):
    values = {} if name == "move_to_touch" else DEAF
    guarded = Guarded(arm, name, tr_tn_dest=below(arm, 0.12), time_vel_val=speed, **values)
    assert guarded.run() >= BAND - 2 * SLACK
    assert guarded.executive.reason is Termination.GUARD
    assert guarded.over(guarded.q) < BAND + 0.005  # no sooner than needed
    assert np.abs(guarded.executive.setpoint.qd).max() < 1e-9


def test_the_same_motion_without_a_guard_arrives_beyond(arm):
    guarded = Guarded(arm, "gcm", tr_tn_dest=below(arm, 0.12), time_vel_val=0.25, guard_plane=[], **DEAF)
    assert guarded.run() < -0.06
    assert guarded.executive.reason is Termination.COMPLETED


@pytest.mark.parametrize("name", ["joint_guarded", "joint_path"])
def test_a_motion_in_joint_space_is_guarded_too(arm, name):
    end = np.array(arm.home) + np.array([0.0, -0.4, 0.0, 0.0, 0.0, 0.0])
    assert arm.forward(end).translation[2] < arm.forward(np.array(arm.home)).translation[2] - BELOW
    way = {"joint_dest": end.tolist(), "time_vel_val": 1.5} if name == "joint_guarded" else {"via_points": end.tolist()}
    guarded = Guarded(arm, name, **way, **DEAF)
    assert guarded.run() >= BAND - 2 * SLACK
    assert guarded.executive.reason is Termination.GUARD


@pytest.mark.parametrize("speed", [0.1, 0.3, 0.8])
def test_a_hand_is_held_at_the_band_slides_along_it_and_comes_out_at_once(arm, speed):
    guarded = Guarded(arm, "force_reflecting_teleoperation", tele_mode="world", **FAST)
    assert guarded.run(2.0, hand=[0.0, 0.0, -speed, 0.0, 0.0, 0.0]) >= BAND - 2 * SLACK
    assert guarded.executive.running
    assert guarded.over(guarded.q) < BAND + 0.002
    assert guarded.executive.readings["guard_room"] < 1e-3
    before = guarded.arm.forward(guarded.q).translation
    guarded.run(0.5, hand=[0.0, 0.05, -speed, 0.0, 0.0, 0.0])
    assert guarded.arm.forward(guarded.q).translation[1] > before[1] + 0.01
    guarded.run(0.4, hand=[0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    assert guarded.over(guarded.q) > BAND + 0.01


def test_a_force_does_not_press_the_tool_through(arm):
    pull = np.array([0.0, 0.0, -30.0])  # the surroundings pull the tool down: it yields
    R = arm.forward(np.array(arm.home)).rotation @ sensor_in_tool(arm).rotation
    wrench = np.concatenate((-R.T @ pull, np.zeros(3)))
    yields = {"comply_vect": [True] * 6, "force_gains": [0.01] * 6, "max_force_vel": [1.0] * 6, "end_time": 3.0}
    guarded = Guarded(arm, "gcm", **yields, **DEAF, max_sf_vel=[1.0, 1.0])
    assert guarded.run(2.5, wrench=wrench) >= BAND - 2 * SLACK
    assert guarded.over(guarded.q) < BAND + 0.005


def test_a_joint_next_to_its_limit_comes_to_rest_before_it_on_the_way_that_was_looked_at(arm):
    q, qd = np.array(arm.home), np.full(arm.dof, 0.5)
    q[4] = arm.limits.upper[4] - 0.005
    qd[4] = 0.3 * np.sqrt(2.0 * arm.limits.acceleration[4] * 0.005)
    qd[1] = arm.limits.velocity[1]  # takes longest
    setpoint = SetpointLimiter(arm.limits, PERIOD)
    setpoint.reset(q, qd)
    times = rest_times(setpoint)
    assert q[4] + 0.5 * qd[4] * times[4] <= arm.limits.upper[4] + 1e-12
    assert times[4] < times[1] == pytest.approx(times.max())
    t = 0.0
    while t < times.max():
        t += PERIOD
        braked = np.minimum(t, times)
        wanted = q + qd * (braked - 0.5 * braked * braked / times)
        setpoint.apply(wanted)
        np.testing.assert_allclose(setpoint.q, wanted, atol=1e-5)


def test_a_change_of_parameters_keeps_the_guard(arm):
    guarded = Guarded(arm, "gcm", tr_tn_dest=below(arm, 0.02), time_vel_val=0.05, end_time=5.0, **DEAF)
    guarded.run(0.1)
    change = guarded.executive.prepare_change(
        guarded.executive.parameters, {"tr_tn_dest": below(arm, 0.12), "time_vel_val": 0.3}, guarded.q
    )
    guarded.executive.change(guarded.now, change)
    assert guarded.run() >= BAND - 2 * SLACK
    assert guarded.executive.reason is Termination.GUARD


def test_a_tool_that_begins_inside_the_band_goes_no_deeper_but_out(arm):
    height = arm.forward(np.array(arm.home)).translation[2]
    plane = [0.0, 0.0, height - 0.004, 0.0, 0.0, 1.0]
    guarded = Guarded(arm, "gcm", guard_plane=plane, tr_tn_dest=below(arm, 0.03), time_vel_val=0.2, **DEAF)
    assert guarded.run() + guarded.height >= height - 1e-4
    assert guarded.executive.reason is Termination.GUARD
    guarded = Guarded(arm, "gcm", guard_plane=plane, tr_tn_dest=below(arm, -0.03), time_vel_val=0.2, **DEAF)
    guarded.run()
    assert guarded.executive.reason is Termination.COMPLETED


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_box_has_six_faces(arm, axis, side):
    T = arm.forward(np.array(arm.home))
    corners = np.concatenate((T.translation - 0.04, T.translation + 0.04))
    way = T.translation.copy()
    way[axis] += 0.08 * side
    dest = pin.SE3ToXYZQUAT(pin.SE3(T.rotation, way)).tolist()
    box = {"guard_plane": [], "guard_box": corners.tolist()}
    guarded = Guarded(arm, "cartesian_guarded", tr_tn_dest=dest, time_vel_val=0.3, **box, **DEAF)
    guarded.run()
    assert guarded.executive.reason is Termination.GUARD
    end = arm.forward(guarded.q).translation
    assert side * (end - T.translation)[axis] == pytest.approx(0.04 - BAND, abs=0.004)
    assert side * (end - T.translation)[axis] <= 0.04 - BAND + 2 * SLACK


def test_without_points_the_whole_axis_of_the_tool_is_guarded(arm):
    T_nom = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))
    parameters = parameters_from({"tr_nom": pin.SE3ToXYZQUAT(T_nom).tolist()})
    T = arm.forward(np.array(arm.home))
    rows = guard_of(Guard(guard_plane=(0.0, 0.0, -9.0, 0.0, 0.0, 2.0)), arm, parameters, T).rows
    flange = sensor_in_tool(arm).translation
    np.testing.assert_allclose(rows[:, 4:7], [np.zeros(3), [0.0, 0.0, -0.1], flange - [0.0, 0.0, 0.1]], atol=1e-12)
    np.testing.assert_allclose(rows[:, :4], np.tile([0.0, 0.0, 1.0, -9.0], (3, 1)))


def test_plane_and_base_are_in_world(arm):
    T_base = pin.SE3(pin.exp3(np.array([0.0, 0.0, 1.0])), np.array([0.5, -0.3, 0.2]))
    parameters = parameters_from({"tr_base": pin.SE3ToXYZQUAT(T_base).tolist()})
    T = arm.forward(np.array(arm.home))
    guard = Guard(guard_plane=(0.5, -0.3, 0.2, 1.0, 0.0, 0.0), guard_band=9.0, guard_points=(0.0, 0.0, 0.0))
    rows = guard_of(guard, arm, parameters, T).rows
    assert rows[0, 7] == pytest.approx((T_base.rotation @ T.translation)[0] - SLACK)  # it begins inside the band


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("guard_plane", (0.0,) * 5),
        ("guard_plane", (0.0,) * 6),
        ("guard_box", (0.0,) * 3),
        ("guard_box", (0.0, 0.0, 0.0, 1.0, -1.0, 1.0)),
        ("guard_points", (0.0, 1.0)),
        ("guard_points", (0.0,) * 99),
    ],
)
def test_a_guard_that_is_none_is_refused_by_name(field, value):
    with pytest.raises(InvalidValueError, match=field):
        Guard(**{field: value})
