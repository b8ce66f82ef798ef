"""Force control on the task board's plate, in physics: the arm's own servo, contact, friction and sensor noise."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware import MujocoArm, ServoReference
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.law import law_records as rows
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import Phase, Primitive

PERIOD = 0.002
ABOVE = np.array([0.60, 0.08, 0.2545])  # [m] fingertips half a millimetre over the plate
NOISE = np.array([0.1, 0.1, 0.1, 0.005, 0.005, 0.005])  # [N], [N m] standard deviation


class Bench:
    """A primitive on a simulated arm: 500 Hz over a 1 kHz servo."""

    def __init__(self, friction):
        self.robot = load_robot("arm")
        self.arm = MujocoArm(self.robot)
        self.arm.model.geom_friction[:, 0] = friction
        self.arm.open(0.0)
        self.now = 0.0
        self.primitive = Primitive(self.robot, PERIOD)
        self.random = np.random.default_rng(3)
        self.q = self.robot.home.copy()
        self.force = []  # [N] felt along the tool, pressing

    def step(self, hand=None):
        self.now += PERIOD
        measured = self.arm.read()
        self.primitive.measure(measured.position)
        self.primitive.set_wrench(self.now, measured.wrench_sensor + self.random.normal(scale=NOISE))
        if hand is not None:
            self.primitive.teleoperate(np.array(hand) * PERIOD)
        going = self.primitive.step(self.now)
        setpoint = self.primitive.setpoint
        for k in (0.5, 1.0):
            q = self.q + k * (setpoint.q - self.q)
            self.arm.command(ServoReference(q, setpoint.qd.copy(), setpoint.qdd.copy(), 0.06))
            self.arm.step(self.now)
        self.q = setpoint.q.copy()
        self.force.append(self.primitive.fusion.state.six[rows.StateSix.SENSE_WRENCH][2])
        return going

    def start(self, **values):
        self.force.clear()
        self.primitive.start(self.now, self.q, parameters_from(values))

    def go_above(self, z=ABOVE[2]):
        T = pin.SE3(self.robot.forward(self.robot.home).rotation, np.array([*ABOVE[:2], z]))
        quiet = {"max_force_thres": 0, "max_torque_thres": 0, "end_time": 0.5}
        self.start(tr_tn_dest=pin.SE3ToXYZQUAT(T).tolist(), time_vel_val=0.2, **quiet)
        while self.step():
            pass
        assert self.primitive.reason is Termination.COMPLETED
        self.primitive.tare()


def pressing(**values):
    return {
        "sel_vect_fc": [0, 0, 1, 0, 0, 0],
        "force_setpoints": [0, 0, 10, 0, 0, 0],
        "force_gains": [2e-4] * 6,
        "dead_zone": [0] * 6,
        "sel_vect_tp": [1, 1, 0, 0, 0, 0],
        "max_force_thres": 100,
        "max_torque_thres": 50,
        "end_time": 100.0,
        **values,
    }


@pytest.mark.lengthy
def test_ten_newtons_are_reached_without_bounce_and_kept_while_sliding():
    bench = Bench(friction=0.1)
    bench.go_above()
    bench.start(**pressing())
    for _ in range(1500):
        bench.step()
    force = np.array(bench.force)
    touched = int(np.argmax(force > 4.0))  # setting off shakes the gripper by 2 N
    assert force.max() < 12.0
    assert (force[touched + 50 :] > 0.0).all()
    assert np.abs(force[1000:] - 10.0).mean() < 0.5
    for _ in range(700):
        bench.step([-0.05, 0, 0, 0, 0, 0])
    assert bench.primitive.phase is Phase.ENDING
    sliding = np.convolve(bench.force[1700:], np.full(50, 0.02), "valid")  # means of 0.1 s
    assert np.abs(sliding - 10.0).max() < 1.0
    assert sliding.mean() == pytest.approx(10.0, abs=0.5)


@pytest.mark.parametrize(("speed", "most"), [(0.01, 25.0), (0.03, 45.0)])
@pytest.mark.lengthy
def test_a_guarded_approach_stops_on_contact_and_leaves_no_motion(speed, most):
    bench = Bench(friction=0.5)
    bench.go_above(z=0.262)
    T = bench.robot.forward(bench.q) * pin.SE3(np.eye(3), np.array([0, 0, 0.03]))
    bench.start(tr_tn_dest=pin.SE3ToXYZQUAT(T).tolist(), time_vel_val=speed, max_force_thres=5, max_torque_thres=0)
    while bench.step():
        pass
    assert bench.primitive.reason is Termination.MAX_FORCE
    assert 5.0 < max(bench.force) < most
    assert np.abs(bench.primitive.setpoint.qd).max() < 1e-6
