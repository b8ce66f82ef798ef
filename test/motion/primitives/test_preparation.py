import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.timing import time_path
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives.preparation import LIMIT_SHARE, prepare_change, prepare_motion, tool_pose
from telerobot_nodes.motion.primitives.trajectory import CartesianMotion, JointMotion, PathMotion

PERIOD = 0.005


def above(arm, height=0.03):
    return pose_from_se3(pin.SE3(np.eye(3), np.array([0.0, 0.0, height])) * tool_pose(arm, np.array(arm.home))).tolist()


def prepared(arm, path=None, **values):
    return prepare_motion(arm, PERIOD, parameters_from(values), np.array(arm.home), path)


def test_the_kind_of_motion_follows_from_the_destination(arm):
    assert isinstance(prepared(arm, tr_tn_dest=above(arm)).motion, CartesianMotion)
    assert isinstance(prepared(arm, joint_dest=(arm.home + 0.1).tolist()).motion, JointMotion)
    path = time_path(np.vstack((arm.home, arm.home + 0.1)), arm.limits)
    assert isinstance(prepared(arm, path).motion, PathMotion)
    assert prepared(arm).duration == 0.0


def test_a_cartesian_motion_ends_at_its_destination(arm):
    motion = prepared(arm, tr_tn_dest=above(arm)).motion
    assert motion.sample(motion.duration)
    np.testing.assert_allclose(pose_from_se3(pin.SE3(motion.R, motion.p)), above(arm), atol=1e-9)


@pytest.mark.parametrize("values", [{"joint_dest": None}, {"tr_tn_dest": None}], ids=["joints", "Cartesian"])
def test_a_motion_too_fast_for_the_joints_takes_longer(arm, values):
    name = next(iter(values))
    goal = (arm.home + 0.3).tolist() if name == "joint_dest" else above(arm, 0.1)
    slow = prepared(arm, **{name: goal, "time_vel_val": 1e-2})
    fast = prepared(arm, **{name: goal, "time_vel_val": 100.0, "acc_time": 0.01})
    assert fast.duration < slow.duration
    if name == "joint_dest":
        rows = np.array([fast.motion.at(t) for t in np.linspace(0.0, fast.duration, 400)])
        speed = np.abs(np.diff(rows, axis=0)).max(axis=0) * 399 / fast.duration
        assert (speed <= 1.05 * LIMIT_SHARE * arm.limits.velocity).all()


def test_an_unreachable_destination_is_rejected_by_name(arm):
    far = pose_from_se3(pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0]))).tolist()
    with pytest.raises(InvalidValueError, match="tr_tn_dest"):
        prepared(arm, tr_tn_dest=far)


def test_a_joint_destination_outside_the_limits_is_rejected_by_joint(arm):
    goal = np.array(arm.home)
    goal[2] = arm.limits.upper[2] + 0.1
    with pytest.raises(InvalidValueError, match=r"joint_dest\[2\]"):
        prepared(arm, joint_dest=goal.tolist())


def changed(arm, base, values, runs=True):
    return prepare_change(arm, PERIOD, parameters_from(base), values, np.array(arm.home), runs)


def test_a_change_of_forces_keeps_the_motion_and_a_change_of_destination_redirects_it(arm):
    assert not changed(arm, {}, {"max_force_thres": 5.0}).redirects
    assert changed(arm, {"tr_tn_dest": above(arm)}, {"tr_tn_dest": above(arm, 0.02)}).redirects


@pytest.mark.parametrize("name", ["tr_base", "tr_nom"])
def test_frames_that_would_make_nom_jump_stay_while_it_runs(arm, name):
    values = {name: [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]}
    with pytest.raises(InvalidValueError, match=name):
        changed(arm, {}, values)
    changed(arm, {}, values, runs=False)


def test_a_running_motion_stays_in_its_space(arm):
    joints = {"joint_dest": (arm.home + 0.1).tolist()}
    with pytest.raises(InvalidValueError, match="tr_tn_dest"):
        changed(arm, joints, {"joint_dest": (), "tr_tn_dest": above(arm)})
    with pytest.raises(InvalidValueError, match="joint_dest"):
        changed(arm, joints, {"joint_dest": ()})
    with pytest.raises(InvalidValueError, match="joint_dest"):
        changed(arm, {}, joints)


def test_a_change_that_is_invalid_as_a_whole_changes_nothing(arm):
    base = parameters_from({})
    with pytest.raises(InvalidValueError, match="force_setpoints"):
        prepare_change(arm, PERIOD, base, {"force_setpoints": [1.0] * 6}, np.array(arm.home))
    assert base == parameters_from({})
