"""No motion of any kind takes the tool beyond plane or box; what ends one at the guard says so."""

import dataclasses
import re

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.bench.contact.guard_judge import Planes, ToolGeometry
from telerobot_nodes.core.robot import SetpointLimiter, load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Termination, sensor_in_tool
from telerobot_nodes.motion.parameters import Guard, parameters_from
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest
from telerobot_nodes.motion.primitives.guard import SLACK, guard_of, tool_parts
from telerobot_nodes.motion.primitives.primitive import rest_times

PERIOD, BAND, BELOW = 0.004, 0.01, 0.05  # [s], [m], [m] of the plane below the tool
DEAF = {"max_force_thres": 0.0, "max_torque_thres": 0.0}
FAST = {"max_tele_vel": [1.0] * 6, "max_sf_vel": [1.0, 1.0]}


def lowest(arm, q, normal=(0.0, 0.0, 1.0)):
    """Least coordinate [m] of the whole tool along `normal`, as the judge of the benchmark computes it."""
    tool = ToolGeometry(arm)
    plane = np.concatenate((np.zeros(3), normal))
    return Planes(plane, None).distances(tool.last(q[None]), tool.solids).min()


class Guarded:
    """An arm that follows, and a plane below its tool."""

    def __init__(self, arm, name, room=BELOW, **values):
        self.arm, self.q, self.now = arm, np.array(arm.home), 1.0
        self.start = arm.forward(self.q)
        self.height = lowest(arm, self.q) - room
        self.tool = ToolGeometry(arm)
        self.plane = np.array([0.0, 0.0, self.height, 0.0, 0.0, 1.0])
        self.executive = Executive(arm, PERIOD)
        wanted = {"guard_plane": self.plane.tolist(), "guard_band": BAND, **values}
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
        return Planes(self.plane, None).distances(self.tool.last(q[None]), self.tool.solids).min()

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


@pytest.mark.lengthy
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


@pytest.mark.lengthy
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
    guarded = Guarded(arm, "gcm", room=0.004, tr_tn_dest=below(arm, 0.03), time_vel_val=0.2, **DEAF)
    assert guarded.run() >= 0.004 - 1e-4
    assert guarded.executive.reason is Termination.GUARD
    guarded = Guarded(arm, "gcm", room=0.004, tr_tn_dest=below(arm, -0.03), time_vel_val=0.2, **DEAF)
    guarded.run()
    assert guarded.executive.reason is Termination.COMPLETED


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_box_has_six_faces(arm, axis, side):
    T, q = arm.forward(np.array(arm.home)), np.array(arm.home)
    low, high = ([s * lowest(arm, q, s * face) for face in np.eye(3)] for s in (1.0, -1.0))
    corners = np.concatenate((np.array(low) - 0.04, np.array(high) + 0.04))
    way = T.translation.copy()
    way[axis] += 0.08 * side
    dest = pin.SE3ToXYZQUAT(pin.SE3(T.rotation, way)).tolist()
    box = {"guard_plane": [], "guard_box": corners.tolist()}
    guarded = Guarded(arm, "cartesian_guarded", tr_tn_dest=dest, time_vel_val=0.3, **box, **DEAF)
    guarded.run()
    assert guarded.executive.reason is Termination.GUARD
    left = lowest(arm, guarded.q, -side * np.eye(3)[axis]) + side * corners[axis + 3 * (side > 0)]
    assert left == pytest.approx(BAND, abs=0.004)
    assert left >= BAND - 2 * SLACK


@pytest.mark.parametrize("name", ["arm", "panda"])
def test_the_whole_tool_is_guarded_with_its_fingers_anywhere(name):
    robot, random = load_robot(name), np.random.default_rng(2)
    parts, plain = tool_parts(robot), ToolGeometry(robot)
    for _ in range(50):
        q = random.uniform(robot.limits.lower, robot.limits.upper)
        normal = random.standard_normal(3)
        normal /= np.linalg.norm(normal)
        T = robot.forward(q)
        nearest = Planes(np.concatenate((np.zeros(3), normal)), None).distances(plain.last(q[None]), plain.solids).min()
        assert min(part.in_frame(T).over(normal) for part in parts) == pytest.approx(nearest, abs=1e-9)


def test_a_tool_of_meshes_is_guarded_by_the_boxes_around_them():
    robot = load_robot("ur5")
    reach = [max(-part.over(axis) for part in tool_parts(robot)) for axis in np.vstack((np.eye(3), -np.eye(3)))]
    assert all(0.03 < r < 0.12 for r in sorted(reach)[1:])  # its last link: 75 mm across, 50 mm high, ends at TN


def test_the_rows_are_those_of_tool_axis_and_held_points(arm):
    T_nom = pin.SE3(pin.exp3(np.array([0.3, 0.0, 0.1])), np.array([0.0, 0.0, 0.1]))
    parameters = parameters_from({"tr_nom": pin.SE3ToXYZQUAT(T_nom).tolist()})
    T = arm.forward(np.array(arm.home))
    held = (0.0, 0.1, 0.2)
    rows = guard_of(Guard(guard_plane=(0.0, 0.0, -9.0, 0.0, 0.0, 2.0), guard_points=held), arm, parameters, T).rows
    assert len(rows) == len(tool_parts(arm)) + 4
    flange = sensor_in_tool(arm).translation
    ends = [np.zeros(3), T_nom.actInv(np.zeros(3)), T_nom.actInv(flange), held]
    np.testing.assert_allclose(rows[-4:, 4:7], ends, atol=1e-12)
    np.testing.assert_allclose(rows[:, :4], np.tile([0.0, 0.0, 1.0, -9.0], (len(rows), 1)))
    for row, part in zip(rows, tool_parts(arm), strict=False):
        np.testing.assert_allclose(T_nom.act(row[4:7]), part.middle, atol=1e-12)
        np.testing.assert_allclose(T_nom.rotation @ row[8:11], part.axis, atol=1e-12)
        assert row[11] == part.disc


def test_an_arm_whose_tool_has_no_shape_needs_points_of_it(arm):
    bare = re.sub(r"<collision.*?</collision>", "", arm.urdf, flags=re.DOTALL)
    bare = dataclasses.replace(arm, urdf=bare)
    values = {"guard_plane": [0.0, 0.0, -9.0, 0.0, 0.0, 1.0], "tr_tn_dest": below(arm, 0.01)}
    request = PrimitiveRequest(1, "gcm", values)
    with pytest.raises(InvalidValueError, match="guard_points"):
        Executive(bare, PERIOD).prepare(request, arm.home)
    pointed = PrimitiveRequest(1, "gcm", {**values, "guard_points": [0.0, 0.0, 0.0]})
    assert Executive(bare, PERIOD).prepare(pointed, arm.home).motion.guard is not None


def test_what_the_hand_holds_is_guarded_too(arm):
    held = {"guard_points": [0.0, 0.0, 0.034]}  # 20 mm beyond the fingertips
    guarded = Guarded(arm, "gcm", tr_tn_dest=below(arm, 0.12), time_vel_val=0.1, **held, **DEAF)
    assert guarded.run() >= BAND + 0.02 - 2 * SLACK
    assert guarded.executive.reason is Termination.GUARD


@pytest.mark.parametrize(("start", "least"), [(4e-6, 0.0), (-4e-6, -4e-6 - SLACK), (1e-3, 1e-3 - SLACK), (1.0, BAND)])
def test_a_part_that_begins_a_hair_inside_may_not_go_beyond(arm, start, least):
    T = arm.forward(np.array(arm.home))
    guard = Guard(
        guard_plane=(*T.translation - [0.0, 0.0, start], 0.0, 0.0, 1.0), guard_band=BAND, guard_points=(0.0,) * 3
    )
    rows = guard_of(guard, arm, parameters_from({}), T).rows
    assert rows[-1, 7] == pytest.approx(least, abs=1e-12)  # the point at TN


def test_plane_and_base_are_in_world(arm):
    T_base = pin.SE3(pin.exp3(np.array([0.0, 0.0, 1.0])), np.array([0.5, -0.3, 0.2]))
    parameters = parameters_from({"tr_base": pin.SE3ToXYZQUAT(T_base).tolist()})
    T = arm.forward(np.array(arm.home))
    guard = Guard(guard_plane=(0.5, -0.3, 0.2, 1.0, 0.0, 0.0), guard_band=9.0, guard_points=(0.0, 0.0, 0.0))
    rows = guard_of(guard, arm, parameters, T).rows
    assert rows[-1, 7] == pytest.approx((T_base.rotation @ T.translation)[0] - SLACK)  # it begins inside the band


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
