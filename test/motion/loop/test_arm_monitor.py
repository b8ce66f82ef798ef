import numpy as np
import pytest

from telerobot_nodes.core.protocol import ENGAGE_DISTANCE, HardwareState, StopCause
from telerobot_nodes.motion.loop.arm_monitor import ArmMonitor, ControlConfig

CONFIG = ControlConfig(stale_time=0.1, follow_error=0.2, follow_time=0.05)


@pytest.fixture
def monitor():
    return ArmMonitor(CONFIG)


def test_joints_are_stale_before_the_first_measurement_and_after_the_time(monitor):
    assert monitor.is_stale(0.0)
    monitor.measured_at = 1.0
    assert not monitor.is_stale(1.0999)
    assert monitor.is_stale(1.1001)
    assert monitor.age(1.25) == pytest.approx(0.25)


@pytest.mark.parametrize("state", HardwareState)
def test_the_hardware_is_ready_when_it_follows_or_holds(monitor, state):
    monitor.hardware = state
    assert monitor.hardware_ready == (state in (HardwareState.READY, HardwareState.HOLDING))


def test_cause_and_text_name_e_stop_and_fault(monitor):
    monitor.hardware = HardwareState.ESTOP
    assert (monitor.hardware_cause, monitor.hardware_text) == (StopCause.ESTOP, "e-stop")
    monitor.hardware, monitor.hardware_reason = HardwareState.FAULT, "drive 3"
    assert (monitor.hardware_cause, monitor.hardware_text) == (StopCause.HARDWARE, "hardware fault: drive 3")


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_tracking_error_counts_only_when_it_lasts(monitor, sign):
    q, far = np.zeros(6), np.zeros(6)
    far[4] = sign * 0.21
    assert not monitor.tracking_error_exceeded(1.0, q, far)
    assert not monitor.tracking_error_exceeded(1.04, q, far)
    assert monitor.tracking_error_exceeded(1.051, q, far)


def test_a_tracking_error_that_ends_starts_counting_again(monitor):
    q, far = np.zeros(6), np.full(6, 0.3)
    monitor.tracking_error_exceeded(1.0, q, far)
    assert not monitor.tracking_error_exceeded(1.04, q, q)
    assert not monitor.tracking_error_exceeded(1.06, q, far)


def test_a_held_arm_that_would_not_engage_any_more_is_a_fault(monitor):
    """Hardware and loop would wait for each other: it rejects setpoints so far away, the loop sends no others."""
    q, far = np.zeros(6), np.zeros(6)
    far[2] = 0.99 * ENGAGE_DISTANCE
    for state, faulty in ((HardwareState.READY, False), (HardwareState.HOLDING, True)):
        monitor.hardware = state
        assert not monitor.tracking_error_exceeded(1.0, q, far)
        assert monitor.tracking_error_exceeded(1.1, q, far) == faulty
