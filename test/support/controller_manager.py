"""A process that behaves on topics like a ros2_control controller manager, with MuJoCo behind it.

It publishes `joint_states` at its own rate with sorted names and foreign joints between, on a clock of its own, and
takes positions, velocities or trajectories; both ways with latency and jitter. Services bring faults about. Like a real
arm it stops itself when a command is far from where it is.
"""

import argparse
import bisect
import signal
import threading
import time

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware import MujocoArm, ServoReference

PERIOD = 0.001  # [s] of physics
BANDWIDTH = 120.0  # [rad/s] of the arm's own smoothing of positions
FARTHEST = 0.15  # [rad] a command may be from the arm; farther is a protective stop
FOREIGN = {"aaa_conveyor": 12.5, "shoulder_camera_pan": -0.3, "zzz_rail": 1.75}
FAULTS = ("protective_stop", "silent", "frozen", "drop_joint", "degrees", "not_finite", "jump", "other_wrench_frame")


class DelayLine:
    """Items in order, each delayed by latency and jitter [s]."""

    def __init__(self, latency, jitter, random):
        self.latency, self.jitter, self.random, self.items = latency, jitter, random, []
        self.last = 0.0

    def put(self, now, item):
        self.last = max(self.last, now + self.latency + abs(self.random.normal(0.0, self.jitter)))
        bisect.insort(self.items, (self.last, id(item), item))

    def due(self, now):
        found = []
        while self.items and self.items[0][0] <= now:
            found.append(self.items.pop(0)[2])
        return found


class Arm:
    """The simulated arm with its controller."""

    def __init__(self, robot, mode, order):
        self.robot, self.mode, self.order = robot, mode, order
        self.physics = MujocoArm(robot, PERIOD, task_board=False)
        self.goal = np.array(robot.home)
        self.rate = np.zeros(robot.dof)  # wanted velocity
        self.q, self.v = self.goal.copy(), np.zeros(robot.dof)  # smoothed
        self.opening = robot.gripper.max_opening if robot.gripper else 0.0
        self.stopped = ""
        self.trajectory = None

    def take(self, now, row):
        """A command in the controller's order."""
        values = np.empty(self.robot.dof)
        values[self.order] = row[0] if self.mode == "trajectory" else row
        if self.stopped:
            return
        if self.mode == "velocity":
            self.rate = values
            return
        if np.abs(values - self.physics.position).max() > FARTHEST:
            self.stop("a command is far from the arm")
        elif self.mode == "position":
            self.goal = values
        else:
            self.trajectory = now, now + row[1], self.goal.copy(), values

    def stop(self, why):
        self.stopped, self.trajectory = why, None
        self.rate[:] = 0.0

    def release(self):
        self.stopped = ""
        self.goal = self.q.copy()

    def step(self, now):
        if self.mode == "velocity":
            self.goal = self.q + self.v / BANDWIDTH + self.rate * PERIOD  # the smoothing follows a rate
            acceleration = BANDWIDTH * (self.rate - self.v)
        else:
            if self.trajectory is not None:
                begin, end, start, goal = self.trajectory
                share = min(1.0, (now - begin) / max(end - begin, PERIOD))
                self.goal = start + share * (goal - start)
            if self.stopped:
                self.goal = self.q + self.v / BANDWIDTH
            acceleration = BANDWIDTH**2 * (self.goal - self.q) - 2.0 * BANDWIDTH * self.v
        if self.stopped:
            acceleration = -BANDWIDTH * self.v
        self.physics.command(ServoReference(self.q.copy(), self.v.copy(), acceleration, self.opening))
        self.v = self.v + PERIOD * acceleration
        self.q = self.q + PERIOD * self.v
        self.physics.step(now)


class Manager:
    """Topics and services around the arm."""

    def __init__(self, options):
        robot = load_robot(options.robot)
        random = np.random.default_rng(options.seed)
        self.options, self.faults = options, dict.fromkeys(FAULTS, False)
        self.names = [options.prefix + name for name in robot.joint_names]
        order = np.argsort(self.names) if options.sorted_controller else np.arange(robot.dof)
        self.arm = Arm(robot, options.mode, order)
        self.to_arm = DelayLine(options.latency, options.jitter, random)
        self.from_arm = DelayLine(options.latency, options.jitter, random)
        self.lock = threading.Lock()
        self.received = []
        self.node = node = rclpy.create_node("controller_manager", namespace=options.namespace)
        self.joints = node.create_publisher(JointState, "joint_states", 10)
        self.wrench = node.create_publisher(WrenchStamped, "force_torque_sensor_broadcaster/wrench", 10)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.running = node.create_publisher(Bool, "robot_program_running", latched)
        self.running.publish(Bool(data=True))
        if options.mode == "trajectory":
            node.create_subscription(
                JointTrajectory, "joint_trajectory_controller/joint_trajectory", self.on_trajectory, 1
            )
        else:
            topic = f"forward_{options.mode}_controller/commands"
            node.create_subscription(Float64MultiArray, topic, lambda m: self.put(np.array(m.data)), 1)
        node.create_subscription(Float64MultiArray, "gripper_controller/commands", self.on_finger, 1)
        for fault in FAULTS:
            node.create_service(Trigger, f"~/{fault}", lambda _, answer, name=fault: self.bring(name, answer))
        node.create_service(Trigger, "~/release", self.release)

    # on the executor's thread

    def put(self, row):
        with self.lock:
            self.received.append(row)

    def on_trajectory(self, message):
        point = message.points[0]
        where = [message.joint_names.index(name) for name in self.names]
        span = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
        self.put((np.array(point.positions)[where], span))

    def on_finger(self, message):
        self.arm.opening = 2.0 * message.data[0]

    def bring(self, fault, answer):
        self.faults[fault] = True
        answer.success = True
        return answer

    def release(self, _, answer):
        self.faults.update(dict.fromkeys(FAULTS, False))
        answer.success = True
        return answer

    # on the main thread

    def run(self, ended):
        begin = due = time.monotonic()
        tick, every = 0, max(1, round(1.0 / (self.options.rate * PERIOD)))
        reported = True
        while not ended.is_set():
            due += PERIOD
            now = time.monotonic()
            if now < due:
                time.sleep(due - now)
            elif now - due > 0.05:
                due = now
            self.step(due)
            tick += 1
            if (not self.arm.stopped) is not reported:
                reported = not self.arm.stopped
                self.running.publish(Bool(data=reported))
                print(f"running {reported}: {self.arm.stopped}", flush=True)
            if tick % every == 0:
                self.report(due, due - begin)

    def step(self, now):
        with self.lock:
            rows, self.received = self.received, []
        for row in rows:
            self.to_arm.put(now, (row,))
        for (row,) in self.to_arm.due(now):
            self.arm.take(now, row)
        if self.faults["protective_stop"] and not self.arm.stopped:
            self.arm.stop("protective stop")
        elif self.arm.stopped and not any(self.faults.values()) and np.abs(self.arm.v).max() < 1e-3:
            self.arm.release()
        self.arm.step(now)

    def report(self, now, age):
        measured = self.arm.physics.read()
        if not self.faults["frozen"]:
            self.stamp = age + self.options.clock
        self.from_arm.put(now, (self.stamp, measured))
        for stamp, row in self.from_arm.due(now):
            if not self.faults["silent"]:
                self.joints.publish(self.joint_state(stamp, row))
                self.wrench.publish(self.wrench_message(stamp, row))

    def joint_state(self, stamp, measured):
        finger = self.options.prefix + "finger_joint"
        rows = {name: (position, 0.0, 0.0) for name, position in FOREIGN.items()}
        rows[finger] = (0.5 * measured.gripper, 0.0, 0.0)
        scale = 57.29577951308232 if self.faults["degrees"] else 1.0
        offset = 0.3 if self.faults["jump"] else 0.0
        for i, name in enumerate(self.names):
            rows[name] = (scale * measured.position[i] + offset, scale * measured.velocity[i], measured.effort[i])
        if self.faults["drop_joint"]:
            del rows[self.names[2]]
        if self.faults["not_finite"]:
            rows[self.names[1]] = (float("nan"), 0.0, 0.0)
        message = JointState(name=sorted(rows))
        message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), int(1e9 * (stamp % 1.0))
        message.position, message.velocity, message.effort = (
            [float(rows[name][k]) for name in message.name] for k in range(3)
        )
        return message

    def wrench_message(self, stamp, measured):
        message = WrenchStamped()
        message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), int(1e9 * (stamp % 1.0))
        message.header.frame_id = "base" if self.faults["other_wrench_frame"] else "wrist_sensor"
        force, torque = message.wrench.force, message.wrench.torque
        on_tool = [-float(value) for value in measured.wrench_sensor]
        force.x, force.y, force.z, torque.x, torque.y, torque.z = on_tool
        return message


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--robot", default="arm")
    parser.add_argument("--namespace", default="/cell")
    parser.add_argument("--mode", choices=("position", "velocity", "trajectory"), default="position")
    parser.add_argument("--rate", type=float, default=500.0, help="of joint_states [Hz]")
    parser.add_argument("--latency", type=float, default=0.002, help="one way [s]")
    parser.add_argument("--jitter", type=float, default=0.001, help="standard deviation, one way [s]")
    parser.add_argument("--prefix", default="", help="of the joint names")
    parser.add_argument("--sorted-controller", action="store_true", help="the controller's joints are sorted by name")
    parser.add_argument("--clock", type=float, default=1e6, help="the arm's clock at the start [s]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    manager = Manager(options)
    executor = SingleThreadedExecutor()
    executor.add_node(manager.node)

    def spin():
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    spinning = threading.Thread(target=spin, daemon=True)
    spinning.start()
    for _ in range(100):
        manager.step(time.monotonic())  # what is compiled is loaded before anybody listens
    print("controller manager ready", flush=True)
    manager.run(ended)
    executor.shutdown()
    spinning.join()
    manager.node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
