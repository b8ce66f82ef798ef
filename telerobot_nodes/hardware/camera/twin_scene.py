"""The scene of the simulated arm in another process: placed by what the arm's own process publishes, never stepped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from telerobot_nodes.core.robot import LinkFrames, RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, one_of
from telerobot_nodes.hardware import ARM, build_scene

WRIST, OVERVIEW = "wrist", "overview"
WRIST_LINK = "camera"  # of the URDF; without it: the tool frame
FIELD_OF_VIEW = {WRIST: 1.2, OVERVIEW: 0.75}  # [rad] from the upper to the lower edge
OVERVIEW_AT = (1.75, -1.75, 1.5)  # [m] WORLD, as the console's first view
OVERVIEW_TO = (0.25, 0.0, 0.55)  # [m] WORLD

Furnish = Callable[[mujoco.MjSpec], None]


@dataclass(frozen=True)
class View:
    """What a camera needs to draw: where it is and how wide it sees."""

    pose: FloatArray  # (7,) of the optical frame in WORLD: z ahead, y down
    field_of_view: float  # [rad]


class TwinScene:
    """A copy of the scene. Use from one thread; raises ModelError if the robot cannot be simulated."""

    def __init__(self, robot: RobotModel, task_board: bool = True, furnish: Furnish | None = None) -> None:
        self._robot = robot
        self.model = build_scene(robot, 0.001, task_board, furnish=furnish)
        self.data = mujoco.MjData(self.model)
        self._links = LinkFrames(robot)
        self._joints = np.array([self.model.joint(ARM + name).qposadr[0] for name in robot.joint_names])
        fingers = robot.gripper.joints if robot.gripper else ()
        self._fingers = [int(self.model.joint(ARM + name).qposadr[0]) for name in fingers]
        self._free, self._hinges = self._bodies()
        self.position: FloatArray = np.array(robot.home)
        self.place(robot.home)

    def place(self, q: FloatArray) -> None:
        """Set the joints of the arm (dof,) [rad]."""
        self.position = finite_array(q, "joint positions", self._robot.dof)
        self.data.qpos[self._joints] = self.position

    def open_gripper(self, opening: float) -> None:
        """Set the opening of the gripper [m]."""
        self.data.qpos[self._fingers] = 0.5 * opening

    def place_objects(self, poses: Mapping[str, FloatArray]) -> None:
        """Set the poses (7,) in WORLD of loose objects; unknown names are left out."""
        for name, pose in poses.items():
            at = self._free.get(name)
            if at is not None:
                x, y, z, qx, qy, qz, qw = pose
                self.data.qpos[at : at + 7] = (x, y, z, qw, qx, qy, qz)

    def turn(self, bodies: Sequence[str], positions: Sequence[float]) -> None:
        """Set hinges and slides [rad], [m] by the names of their bodies; unknown names are left out."""
        for name, position in zip(bodies, positions, strict=True):
            at = self._hinges.get(name)
            if at is not None:
                self.data.qpos[at] = position

    def settle(self) -> None:
        """Compute where every body is; call it before drawing."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def view(self, camera: str) -> View:
        """The view of `camera` with the joints placed last. Raises InvalidValueError for an unknown one."""
        if one_of(camera, "camera", (OVERVIEW, WRIST)) == OVERVIEW:
            return View(_looking(OVERVIEW_AT, OVERVIEW_TO), FIELD_OF_VIEW[OVERVIEW])
        return View(self.link_pose(self._wrist_link()), FIELD_OF_VIEW[WRIST])

    def link_pose(self, link: str) -> FloatArray:
        """Pose (7,) of a link in WORLD with the joints placed last."""
        return np.array(self._links.poses(self.position)[self._links.names.index(link)])

    def _wrist_link(self) -> str:
        return WRIST_LINK if WRIST_LINK in self._links.names else self._robot.tool_frame

    def _bodies(self) -> tuple[dict[str, int], dict[str, int]]:
        """Addresses in qpos of the scene's free bodies, and of those that turn or slide."""
        free: dict[str, int] = {}
        hinges: dict[str, int] = {}
        for joint in range(self.model.njnt):
            name = self.model.body(int(self.model.jnt_bodyid[joint])).name
            if not name.startswith(ARM):
                is_free = self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
                (free if is_free else hinges)[name] = int(self.model.jnt_qposadr[joint])
        return free, hinges


def _looking(at: Sequence[float], to: Sequence[float]) -> FloatArray:
    """Pose (7,) of an optical frame at `at` that looks at `to` [m], upright in WORLD."""
    ahead = np.subtract(to, at)
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    rotation = np.column_stack((right, np.cross(ahead, right), ahead))
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    return np.concatenate((at, quaternion[1:], quaternion[:1]))
