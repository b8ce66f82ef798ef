"""Learning: what an arm was shown in physics is repeated, absolute and relative, from other starts."""

import itertools

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import OfflineRobot, Track, check_macro, learn, play, read_macros, steps_of
from telerobot_nodes.macros.learn import learned_steps

JOINTS = (0.6, -0.2, 0.3, 0.2, 0.2, -0.3)  # [rad] a motion of all
TURN = [0.03, -0.04, -0.06, 0.0, 0.0, float(np.sin(0.15)), float(np.cos(0.15))]
SHOWN = f"""\
macro: shown
version: 1
doc: What the hand does.
motion: relative
steps:
  - {{step: a, primitive: cartesian_guarded, values: {{tr_rel_dest: {TURN}}}}}
  - {{step: b, primitive: cartesian_guarded, values: {{tr_rel_dest: [0.05, 0.02, 0, 0, 0, 0, 1]}}}}
  - {{step: c, primitive: free_grasp, values: {{grip_width: 0.03}}}}
  - {{step: d, primitive: cartesian_guarded, values: {{tr_rel_dest: [0, 0, 0.04, 0, 0, 0, 1]}}}}
"""


def run(folder, name, robot):
    end = play(steps_of(folder, name, {}, robot.context), robot.send, lambda _: None)
    robot.rig.hold(0.5)
    return end


def shown(folder, name, robot):
    """Run a macro while its motion is recorded as a track."""
    rows = []

    def record():
        measured = robot.rig.arm.read()
        pose = pose_from_se3(robot.rig.robot.forward(measured.position.copy()))
        force = float(np.linalg.norm(measured.wrench_sensor[:3] - load))
        rows.append((robot.rig.now, pose, force, measured.gripper, robot.rig._opening, measured.position.copy()))

    load = robot.rig.arm.read().wrench_sensor[:3].copy()
    robot.rig.hold(0.5)
    robot.rig.after_step = record
    robot.rig.hold(0.5)
    assert run(folder, name, robot).succeeded
    del robot.rig.after_step
    return Track(*(np.array(column) for column in zip(*rows[::10], strict=True)))


def miss(wanted, pose):
    error = pin.XYZQUATToSE3(wanted).actInv(pin.XYZQUATToSE3(pose))
    return np.linalg.norm(error.translation), np.degrees(np.linalg.norm(pin.log3(error.rotation)))


def starts(arm, count):
    random = np.random.default_rng(3)
    return [np.array(arm.home) + random.uniform(-0.1, 0.1, arm.dof) for _ in range(count)]


@pytest.mark.lengthy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [1, pytest.param(5, marks=pytest.mark.nightly)])
def test_what_was_shown_is_repeated_within_a_millimetre_and_half_a_degree_from_any_start(write, arm, tmp_path, count):
    folder = write(shown=SHOWN)
    track = shown(folder, "shown", OfflineRobot(arm, board=False))
    for motion in ("absolute", "relative"):
        (tmp_path / f"{motion}.yaml").write_text(learn(track, motion, "Learned.", motion))
    folder = read_macros(tmp_path)
    assert folder.broken == {}
    first, last = pin.XYZQUATToSE3(track.pose[0]), pin.XYZQUATToSE3(track.pose[-1])
    for motion in ("absolute", "relative"):
        kinds = [step.step.primitive for step in check_macro(folder, motion, arm, {})]
        assert kinds.count("free_grasp") == 1
        assert kinds[-1] == "cartesian_guarded"
        for q in starts(arm, count):
            robot = OfflineRobot(arm, q, board=False)
            start = pin.XYZQUATToSE3(robot.context().tool_pose)
            wanted = last if motion == "absolute" else start * first.actInv(last)
            end = run(folder, motion, robot)
            assert end.succeeded, end.reason
            distance, angle = miss(pin.SE3ToXYZQUAT(wanted), robot.context().tool_pose)
            assert distance < 1e-3
            assert angle < 0.5
            assert robot.rig.arm.read().gripper == pytest.approx(0.03, abs=0.004)


@pytest.mark.lengthy
@pytest.mark.timeout(300)
def test_a_motion_of_all_joints_is_learned_as_one_and_goes_the_same_way(write, arm, tmp_path):
    goal = [float(q) for q in np.add(arm.home, JOINTS)]
    step = f"{{step: a, primitive: joint_guarded, values: {{joint_dest: {goal}, time_vel_val: 0.4}}}}"
    folder = write(shown=f"macro: shown\nversion: 1\ndoc: d\nmotion: absolute\nsteps:\n  - {step}\n")
    track = shown(folder, "shown", OfflineRobot(arm, board=False))
    learned = steps(tmp_path, track, "absolute")
    assert [one.primitive for one in learned] == ["cartesian_guarded", "joint_guarded"]
    assert np.abs(np.array(learned[1].values["joint_dest"]) - goal).max() < 1e-3
    assert learned[1].values["time_vel_val"] == pytest.approx(0.6 / 0.4, abs=0.5)
    assert {one.primitive for one in steps(tmp_path, track, "relative")} == {"cartesian_guarded"}

    (tmp_path / "m.yaml").write_text(learn(track, "m", "d", "absolute"))
    again = shown(read_macros(tmp_path), "m", OfflineRobot(arm, board=False))
    middle = track.pose[np.argmin(np.abs(track.joints[:, 0] - arm.home[0] - 0.3))]
    there = again.pose[np.argmin(np.abs(again.joints[:, 0] - arm.home[0] - 0.3))]
    assert np.linalg.norm(middle[:3] - there[:3]) < 5e-3  # the straight way would be 30 mm off
    assert np.linalg.norm(0.5 * (track.pose[0] + track.pose[-1])[:3] - middle[:3]) > 0.03
    assert miss(track.pose[-1], again.pose[-1])[0] < 1e-3


def bent_in_joints(arm, track, turn):
    """The track of an arm whose joints follow a line but for a turn of the first, in the middle."""
    n = len(track.time)
    share = np.clip((np.arange(n) - 25) / (n - 50), 0.0, 1.0)
    change = np.array(JOINTS)
    q = np.array(arm.home) + share[:, None] * change + turn * np.sin(np.pi * share)[:, None] * np.eye(6)[0]
    pose = np.array([pose_from_se3(arm.forward(row)) for row in q])
    return Track(track.time, pose, track.force, track.opening, track.reference, q)


@pytest.mark.parametrize(("turn", "force", "kind"), [(0.0, 0.0, "joint"), (0.1, 0.0, "move"), (0.0, 9.0, "touch")])
def test_what_is_bent_in_joint_space_too_or_ends_in_contact_is_no_joint_move(arm, tmp_path, turn, force, kind):
    track = bent_in_joints(arm, straight([START, DOWN], 3.0, force), turn)
    primitives = [one.primitive for one in steps(tmp_path, track, "absolute")]
    assert ("joint_guarded" in primitives) == (kind == "joint")
    assert ("move_to_touch" in primitives) == (kind == "touch")


def straight(points, seconds=1.0, force=0.0, opening=0.08, reference=0.08):
    """A track through points (k, 3), at rest for half a second at each."""
    places, forces = [np.tile(points[0], (25, 1))], [np.zeros(25)]
    for a, b in itertools.pairwise(points):
        share = np.linspace(0.0, 1.0, round(seconds / 0.02))[:, None]
        places += [a + share * (b - a), np.tile(b, (25, 1))]
        forces += [np.zeros(len(share)), np.zeros(25)]
    place = np.vstack(places)
    n = len(place)
    felt = np.concatenate(forces)
    felt[-27:] = force
    pose = np.column_stack((place, np.tile((1.0, 0.0, 0.0, 0.0), (n, 1))))
    fingers = np.full(n, 0.08)
    fingers[-10:] = opening
    return Track(0.02 * np.arange(n), pose, felt, fingers, np.full(n, reference))


def steps(tmp_path, track, motion="relative"):
    (tmp_path / "m.yaml").write_text(learn(track, "m", "d", motion))
    folder = read_macros(tmp_path)
    assert folder.broken == {}
    return folder.get("m").steps


START = np.array([0.5, 0.0, 0.4])
DOWN = np.array([0.5, 0.0, 0.3])


def test_a_straight_motion_is_one_step_and_a_bent_one_as_many_as_it_needs(tmp_path):
    assert [step.primitive for step in steps(tmp_path, straight([START, DOWN]))] == ["cartesian_guarded"]
    angles = np.linspace(0.0, np.pi / 2, 100)
    bow = START + 0.1 * np.column_stack((np.sin(angles), 0.0 * angles, np.cos(angles) - 1.0))
    pose = np.column_stack((bow, np.tile((1.0, 0.0, 0.0, 0.0), (100, 1))))
    zeros, rest = np.zeros(150), np.repeat(pose[[0, -1]], 25, axis=0)
    track = Track(0.02 * np.arange(150), np.vstack((rest[:25], pose, rest[25:])), zeros, zeros, zeros)
    found = steps(tmp_path, track, "absolute")
    assert 4 <= len(found) <= 40
    corners = np.array([step.values["tr_tn_dest"][:3] for step in found])
    assert corners[0] == pytest.approx(START)  # an absolute macro first moves to where the motion began
    for place in bow:  # no sample is farther than a millimetre from the straight pieces
        a, b = corners[:-1], corners[1:]
        share = np.clip(np.sum((place - a) * (b - a), axis=1) / np.sum((b - a) ** 2, axis=1), 0.0, 1.0)
        assert np.min(np.linalg.norm(a + share[:, None] * (b - a) - place, axis=1)) < 1e-3


def test_a_motion_that_creeps_to_its_end_is_repeated_to_where_the_arm_rests(tmp_path):
    share = np.linspace(0.0, 1.0, 200)
    fast, creep = (
        START + np.outer(np.minimum(2.0 * share, 1.0), DOWN - START),
        np.outer(np.clip(share - 0.5, 0, 0.3), [0, 0, -0.006]),
    )
    pose = np.column_stack(
        (fast + creep, np.tile((1.0, 0.0, 0.0, 0.0), (200, 1)))
    )  # 3 mm/s at the end: below REST_SPEED
    zeros = np.zeros(200)
    (step,) = steps(tmp_path, Track(0.01 * np.arange(200), pose, zeros, zeros, zeros))
    assert np.linalg.norm(step.values["tr_rel_dest"][:3]) == pytest.approx(0.1018, abs=1e-4)


def test_a_motion_that_ends_in_contact_becomes_a_touch_that_may_go_farther(tmp_path):
    (touch,) = steps(tmp_path, straight([START, DOWN], force=10.0))
    assert (touch.primitive, touch.accept) == ("move_to_touch", ("touched",))
    assert touch.values["max_force_thres"] == 8.0
    assert np.linalg.norm(touch.values["tr_rel_dest"][:3]) == pytest.approx(0.13)


def test_fingers_become_a_grasp_when_they_hold_something(tmp_path):
    held = steps(tmp_path, straight([START, DOWN], opening=0.03, reference=0.0))
    assert [(step.primitive, step.accept) for step in held[1:]] == [("compliant_grasp", ("gripped",))]
    free = steps(tmp_path, straight([START, DOWN], opening=0.03, reference=0.03))
    assert [(step.primitive, step.values) for step in free[1:]] == [("free_grasp", {"grip_width": 0.03})]


def test_a_track_without_a_motion_or_in_disorder_is_refused():
    with pytest.raises(InvalidValueError, match="with a motion"):
        learn(straight([START, START]), "m", "d", "relative")
    with pytest.raises(InvalidValueError, match="later than the one before"):
        straight([START, DOWN]).__class__(np.zeros(3), *(np.zeros((3, 7)), *(np.zeros(3),) * 3))


def test_the_names_of_steps_are_new_and_begin_as_asked_for():
    track = straight([START, DOWN, START])
    names = [step["step"] for step in learned_steps(track, True, ("begin_1", "move_3", "move_4"))]
    assert names == ["begin_2", "move_5", "move_6"]
    names = [step["step"] for step in learned_steps(track, False, ("move_1", "up_move_1"), "up")]
    assert names == ["up_move_2", "up_move_3"]


def held_for(track, force=None, opening=None, reference=None):
    """The track with other forces and fingers."""
    now = (track.force, track.opening, track.reference)
    return Track(
        track.time, track.pose, *(a if b is None else b for a, b in zip(now, (force, opening, reference), strict=True))
    )


def test_a_hand_that_presses_only_when_it_has_arrived_has_touched(tmp_path):
    track = straight([START, DOWN])
    force = np.where(track.time > 1.65, 9.0, 0.5)  # the arm arrives at 1.5 s
    (touch,) = steps(tmp_path, held_for(track, force))
    assert (touch.primitive, touch.values["max_force_thres"]) == ("move_to_touch", 6.8)
    long_rest = straight([START, DOWN, DOWN])
    late = np.where(long_rest.time > 2.2, 9.0, 0.5)  # pushed by something, when the hand had long arrived
    assert [step.primitive for step in steps(tmp_path, held_for(long_rest, late))] == ["cartesian_guarded"]


def test_the_weight_of_what_is_lifted_and_the_grip_of_the_fingers_are_no_touch(tmp_path):
    track = straight([DOWN, START])
    lift = held_for(track, np.where(track.time > 0.52, 8.0, 0.0))
    assert [step.primitive for step in steps(tmp_path, lift)] == ["cartesian_guarded"]
    grip = held_for(
        track,
        np.where(track.time > 1.65, 8.0, 0.0),
        np.where(track.time > 1.6, 0.03, 0.08),
        np.where(track.time > 1.55, 0.0, 0.08),
    )
    assert [step.primitive for step in steps(tmp_path, grip)] == ["cartesian_guarded", "compliant_grasp"]


def test_noise_of_the_force_is_no_touch(tmp_path):
    random = np.random.default_rng(2)
    for _ in range(20):
        track = straight([START, DOWN])
        noisy = held_for(track, np.abs(3.0 + 1.5 * random.standard_normal(len(track.time))))
        assert [step.primitive for step in steps(tmp_path, noisy)] == ["cartesian_guarded"]


def test_fingers_that_open_and_close_in_one_rest_are_two_steps(tmp_path):
    track = straight([START, DOWN], seconds=0.5)
    time = track.time
    opening = np.interp(time, [1.05, 1.15, 1.25, 1.35], [0.0, 0.08, 0.08, 0.03])
    reference = np.where(time < 1.05, 0.0, np.where(time < 1.2, 0.08, 0.0))
    found = steps(tmp_path, held_for(track, opening=opening, reference=reference))
    assert [step.primitive for step in found] == ["cartesian_guarded", "free_grasp", "compliant_grasp"]
    assert found[1].values["grip_width"] == pytest.approx(0.08, abs=1e-3)


@pytest.mark.parametrize("fast_after", [False, True])
def test_a_slow_motion_before_any_fast_one_is_repeated_on_its_way(tmp_path, fast_after):
    """3 mm/s, round a corner: it is learned, and the corner is not cut."""
    corner, end = START + np.array([0.03, 0.0, 0.0]), START + np.array([0.03, 0.03, 0.0])
    slow = straight([START, corner, end], seconds=10.0)
    rest = straight([end, DOWN]) if fast_after else straight([end, end])
    n = len(slow.time) + len(rest.time)
    zeros = np.zeros(n)
    found = steps(
        tmp_path, Track(0.02 * np.arange(n), np.vstack((slow.pose, rest.pose)), zeros, zeros, zeros), "absolute"
    )
    places = np.array([step.values["tr_tn_dest"][:3] for step in found])
    assert np.min(np.linalg.norm(places - corner, axis=1)) < 1e-3
    assert np.min(np.linalg.norm(places - end, axis=1)) < 1e-3


def test_the_straight_way_of_a_turn_is_that_of_the_primitive(tmp_path):
    """Half the angle at half the way, also when the quaternions have opposite signs."""
    share = np.linspace(0.0, 1.0, 100)
    half = 0.5 * np.radians(120.0) * share
    quaternion = np.column_stack((np.cos(half), np.sin(half), 0 * half, 0 * half))  # tool down, turned about z
    quaternion[50:] *= -1.0
    pose = np.hstack((START + share[:, None] * (DOWN - START), quaternion))
    pose = np.vstack((np.repeat(pose[:1], 25, axis=0), pose, np.repeat(pose[-1:], 25, axis=0)))
    zeros = np.zeros(150)
    assert len(steps(tmp_path, Track(0.02 * np.arange(150), pose, zeros, zeros, zeros))) == 1


def test_only_the_last_way_of_a_bent_motion_is_a_touch_and_it_is_slow(tmp_path):
    bent = np.array([START, START + np.array([0.1, 0.0, 0.0]), START + np.array([0.1, 0.0, -0.1])])
    share = np.linspace(0.0, 1.0, 50)[:, None]
    place = np.vstack((np.tile(bent[0], (25, 1)), bent[0] + share * (bent[1] - bent[0])))
    place = np.vstack((place, bent[1] + share * (bent[2] - bent[1]), np.tile(bent[2], (25, 1))))
    pose = np.column_stack((place, np.tile((1.0, 0.0, 0.0, 0.0), (len(place), 1))))
    time, zeros = 0.02 * np.arange(len(place)), np.zeros(len(place))
    found = steps(tmp_path, Track(time, pose, np.where(time > 2.46, 9.0, 0.0), zeros, zeros))
    assert [step.primitive for step in found] == ["cartesian_guarded"] * (len(found) - 1) + ["move_to_touch"]
    assert len(found) > 1
    assert found[-1].values["time_vel_val"] == 0.05  # the hand went 0.1 m/s


def test_a_motion_that_felt_much_may_feel_as_much_again(tmp_path):
    track = straight([START, DOWN])
    (move,) = steps(tmp_path, held_for(track, np.where((track.time > 0.9) & (track.time < 1.1), 20.0, 0.0)))
    assert (move.primitive, move.values["max_force_thres"]) == ("cartesian_guarded", 30.0)


def test_a_turn_on_the_spot_is_a_motion(tmp_path):
    half = 0.5 * np.radians(40.0) * np.clip(np.linspace(-0.5, 1.5, 100), 0.0, 1.0)
    pose = np.column_stack((np.tile(START, (100, 1)), np.cos(half), np.sin(half), 0 * half, 0 * half))
    zeros = np.zeros(100)
    (turn,) = steps(tmp_path, Track(0.02 * np.arange(100), pose, zeros, zeros, zeros))
    assert abs(turn.values["tr_rel_dest"][5]) == pytest.approx(np.sin(np.radians(20.0)), abs=1e-3)
