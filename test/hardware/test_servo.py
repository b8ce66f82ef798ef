import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware import JointServo


@pytest.fixture(scope="module", params=["arm", "panda"])
def robot(request):
    return load_robot(request.param)


def test_at_rest_on_its_reference_the_servo_holds_the_weight(robot):
    zero, q = np.zeros(robot.dof), np.array(robot.home)
    servo = JointServo(robot)
    weight = pin.computeGeneralizedGravity(robot.model, robot.new_data(), q)
    np.testing.assert_allclose(servo.torque(q, zero, q, zero, zero), weight, atol=1e-9)
    assert servo.tracking_error == 0.0


def test_every_joint_behaves_as_a_unit_inertia_with_two_equal_poles(robot):
    rng, servo = np.random.default_rng(1), JointServo(robot, bandwidth=50.0)
    q, qd = np.array(robot.home), 0.1 * rng.standard_normal(robot.dof)
    error, rate, qdd = (1e-3 * rng.standard_normal(robot.dof) for _ in range(3))
    torque = servo.torque(q, qd, q + error, qd + rate, qdd).copy()
    wanted = qdd + 100.0 * rate + 2500.0 * error
    np.testing.assert_allclose(pin.aba(robot.model, robot.new_data(), q, qd, torque), wanted, atol=1e-6)


def test_torques_stay_inside_the_effort_limits_and_each_period_of_saturation_counts(robot):
    zero, q = np.zeros(robot.dof), np.array(robot.home)
    servo = JointServo(robot)
    for count in (1, 2):
        torque = servo.torque(q, zero, q + 1.0, zero, zero)
        assert (np.abs(torque) <= robot.limits.effort).all()
        assert servo.saturated == count
    assert servo.tracking_error == pytest.approx(1.0)
