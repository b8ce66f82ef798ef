"""Starts the stand-in for a controller manager as a process, writes the arm file for it, and brings faults about."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from std_srvs.srv import Trigger

PREFIX = "cell_"
ARM_FILE = """\
urdf: {robot}
driver: ros2_control
options:
  namespace: /cell
  command: {mode}
  joints: {{{joints}}}
  order: [{order}]
  silence: {silence}
  running_topic: robot_program_running
  wrench: {{frame: wrist_sensor}}
"""
GRIPPER = "  gripper: {joint: cell_finger_joint, open: 0.04}\n"


class StandIn:
    """The process; it serves what the arm file names."""

    def __init__(self, file, *arguments):
        self._command = [sys.executable, "-m", "telerobot_nodes", "arm", "stand-in", str(file), *arguments]
        self.start()

    def start(self):
        """Start it and wait until its topics are there."""
        environment = {**os.environ, "ROS_PYTHON_CHECK_FIELDS": "1"}
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True, env=environment)
        assert any(line.strip() == "stand-in ready" for line in self.process.stdout)

    def kill(self):
        """End it as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def write_arm_file(folder, robot, mode="position", silence=0.1):
    """An arm file for the stand-in: its joints have other names than the URDF's, and its controller sorts them."""
    names = [PREFIX + name for name in robot.joint_names]
    joints = ", ".join(f"{name}: {PREFIX}{name}" for name in robot.joint_names)
    text = ARM_FILE.format(robot=robot.name, mode=mode, joints=joints, order=", ".join(sorted(names)), silence=silence)
    file = Path(folder) / "cell.yaml"
    file.write_text(text + (GRIPPER if robot.gripper else ""))
    return file


def bring(call, fault):
    """Bring a fault about, or `release` all; `call(kind, name)` calls a service."""
    assert call(Trigger, f"/cell/controller_manager/{fault}").success
