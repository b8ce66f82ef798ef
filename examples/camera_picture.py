"""A picture of the simulated camera with the predictive overlay, as a PNG: no graph, no screen.

The picture is old: it shows the arm at home. Since then a plan of a few seconds has been made. The plan and the arm at
its end are drawn into the picture by the camera's calibration.

    python examples/camera_picture.py docs/images/camera.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from telerobot_nodes.core.camera import Calibration, encode
from telerobot_nodes.core.robot import Kinematics, RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.hardware.camera import OVERVIEW, SceneCamera, TwinScene
from telerobot_nodes.operator.camera import Overlay, paint
from telerobot_nodes.operator.client import PlanLines
from telerobot_nodes.operator.scene import Detail, load_shapes
from telerobot_nodes.operator.view import SceneView

WIDTH, HEIGHT = 640, 480  # [px]
TO = np.array((0.08, -0.25, -0.12))  # [m] from home to the end of the plan
COMMITTED = 20  # points of the plan that cannot be deleted
SYNCED, FREE = 0, 2  # timing kinds, PlanPoints.TIMING_*


def plan(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Poses (n, 7) of an arc of the tool from home, and the joints (dof,) [rad] at its end."""
    start = pose_from_se3(robot.forward(robot.home))
    u = np.linspace(0.0, 1.0, 100)[:, None]
    poses = np.tile(start, (100, 1))
    poses[:, :3] += u * TO + 0.12 * np.sin(np.pi * u) * np.array((1.0, 0.0, 0.3))
    return poses, Kinematics(robot).solve_path(poses, robot.home)[-1]


def lines(path: FloatArray) -> PlanLines:
    """The plan as the console draws it: committed, then ahead, the second half free of time."""
    ahead = path[COMMITTED - 1 :]
    timing = np.where(np.arange(len(ahead)) < len(ahead) // 2, SYNCED, FREE).astype(np.uint8)
    nothing = np.empty((0, 3))
    return PlanLines(nothing, path[:COMMITTED], ahead, timing, nothing)


def view(robot: RobotModel, head: FloatArray, head_pose: FloatArray) -> SceneView:
    """What the operator's side knows: the arm as measured, and the forward simulation at the end of the plan."""
    return SceneView(
        robot=robot.home,
        robot_stale=False,
        estimate=None,
        head=head,
        trial=None,
        tool_pose=None,
        head_pose=head_pose,
        target_pose=None,
        wrench=None,
        lead=4.0,
        plan_version=1,
        executed_seq=0,
    )


def main() -> int:
    """Write the picture to the file named on the command line."""
    if len(sys.argv) not in (2, 3):
        print(f"usage: {sys.argv[0]} FILE.png [overview|wrist]", file=sys.stderr)
        return 2
    robot = load_robot("arm")
    scene = TwinScene(robot)
    seen = scene.view(sys.argv[2] if len(sys.argv) == 3 else OVERVIEW)
    picture = encode(SceneCamera(scene, WIDTH, HEIGHT).draw(seen))
    calibration = Calibration.of_view(WIDTH, HEIGHT, seen.field_of_view)
    poses, head = plan(robot)
    overlay = Overlay(robot, load_shapes(robot, Detail.COLLISION))
    marks = overlay.marks(view(robot, head, poses[-1]), lines(poses[:, :3]), calibration, seen.pose)
    title = "4.0 s old; orange: the forward simulation now"
    Path(sys.argv[1]).write_bytes(paint(picture.data, marks, title))
    print(f"{sys.argv[1]}: {len(picture.data)} B of JPEG, {len(marks)} marks")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TelerobotError as error:
        sys.exit(f"camera_picture: {error}")
