"""Status values reject what a message must not hold."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ConflictKind, DeviceState, ExecutorMode, UpdateKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import LinkSetting, PlanChange, QueueStatus, RobotStatus, SimulationStatus


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: QueueStatus(device=7), "device"),
        (lambda: QueueStatus(lead=float("nan")), "lead"),
        (lambda: QueueStatus(target_pose=np.zeros(6)), "target_pose"),
        (lambda: RobotStatus(mode=6), "state"),
        (lambda: RobotStatus(wrench=np.zeros(3)), "wrench"),
        (lambda: RobotStatus(joint_position=np.array([0.0, np.inf])), "joint_position"),
        (lambda: SimulationStatus(conflict_kind=6), "conflict_kind"),
        (lambda: SimulationStatus(head_pose=np.zeros(3)), "head_pose"),
        (lambda: LinkSetting(delay=float("inf")), "delay"),
        (lambda: PlanChange(9), "plan.kind"),
        (lambda: PlanChange(0, position=np.zeros((2, 3)), timing=np.zeros(1)), "plan.timing"),
    ],
)
def test_a_value_that_is_not_allowed_is_rejected_by_name(make, field):
    with pytest.raises(InvalidValueError, match=field):
        make()


def test_numbers_of_a_message_become_members_of_their_enumeration():
    assert QueueStatus(device=2).device is DeviceState.HELD
    assert RobotStatus(mode=3).mode is ExecutorMode.HALTED
    assert SimulationStatus(conflict_kind=4).conflict_kind is ConflictKind.COLLISION
    assert PlanChange(1).kind is UpdateKind.TRUNCATE


def test_arrays_are_flat_copies_that_cannot_be_changed():
    joints = np.zeros(6)
    status = RobotStatus(joint_position=joints)
    joints[0] = 1.0
    assert status.joint_position[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        status.joint_position[0] = 2.0
