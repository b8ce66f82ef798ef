"""Node `cspace_planner`: proved paths for one or several arms in the planning scene [US5347459]."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from telerobot_nodes import graph
from telerobot_nodes.core.config import STATE_VARIABLE, NodeOptions, parameter
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray, finite_array, se3_from_pose
from telerobot_nodes.cspace.covering import NamePair
from telerobot_nodes.cspace.geometry import Change, Scene, load_world, scene_of
from telerobot_nodes.cspace.scenes import CLOUD, CloudSettings, CloudVoxels, Frames, allowed_contacts, scene_after
from telerobot_nodes.cspace.service import (
    PLUGINS,
    ArmPlace,
    PathAnswer,
    PlanAnswer,
    PlanRequest,
    Refusal,
    Result,
    StateAnswer,
    arm_rows,
    arms_of,
    world_file,
)
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode, Health, Send, node_parameters, qos_profile, run_node
from telerobot_nodes.nodes.planning import convert_planning as convert
from telerobot_nodes.nodes.planning.cloud_input import CloudInput, CloudOptions
from telerobot_nodes.nodes.planning.planner_markers import path_markers, scene_markers
from telerobot_nodes.nodes.planning.planner_worker import Job, PlannerWorker, WorkerOptions

WORLD_PERIOD = 2.0  # [s] between publications of the scene: the link can lose one
ATTEMPTS = 3  # at a plan whose world changes under it
PATIENCE = 3.0  # [-] times the budget before the planner's process is ended
CLOUD_PERIOD = 1.0  # [s] at least between publications of the scene because of clouds
GRACE = 10.0  # [s] more, for proofs, timing and checks


@dataclass(frozen=True)
class PlannerParameters:
    """Parameters of `cspace_planner`."""

    world: str = parameter("empty", doc="obstacles at the start: a name in config/worlds or a YAML file")
    arms: str = parameter(
        "", doc="arms as NAME ROBOT X Y Z YAW [NAMESPACE], separated by ;, empty: that of --robot, named arm"
    )
    back_end: str = parameter("cspace", choices=PLUGINS, doc="planner for requests that name none")
    budget: float = parameter(2.0, unit="s", low=0.01, high=60.0, doc="planning time for requests that give none")
    margin: float = parameter(0.005, unit="m", low=0.0, high=0.2, doc="distance to keep from obstacles")
    self_margin: float = parameter(0.0, unit="m", low=0.0, high=0.1, doc="distance to keep between links")
    apart: float = parameter(0.01, unit="m", low=0.0, high=0.2, doc="distance to keep between arms that move together")
    finest: float = parameter(0.002, unit="rad", low=1e-4, high=0.1, doc="shortest piece of a motion that is proved")
    cell: float = parameter(0.1, unit="rad", low=0.01, high=1.0, doc="finest half width of cells in complete search")
    sample_period: float = parameter(0.02, unit="s", low=0.001, high=0.2, doc="time between samples of timed paths")
    planning_scene: str = parameter("", doc="topic of MoveIt planning scenes to read obstacles from; empty: none")
    cloud: str = parameter("", doc="topic of clouds (sensor_msgs/PointCloud2) to read obstacles from; empty: none")
    cloud_frames: str = parameter(
        "", doc="frames of clouds as NAME PARENT X Y Z QX QY QZ QW [m], separated by ;, beside links and world"
    )
    cloud_region: tuple[float, ...] = parameter(
        CloudSettings.region, unit="m", low=-50.0, high=50.0, doc="lowest and highest corner in WORLD of what counts"
    )
    cloud_voxel: float = parameter(0.02, unit="m", low=0.005, high=0.2, doc="edge of the boxes that clouds become")
    cloud_padding: float = parameter(
        0.03, unit="m", low=0.0, high=0.3, doc="distance from the robot and what it holds of points that are its own"
    )
    cloud_rate: float = parameter(5.0, unit="Hz", low=0.1, high=30.0, doc="clouds that are used at most")
    cloud_stale: float = parameter(
        2.0, unit="s", low=0.1, high=3600.0, doc="age from which a cloud is refused, or, in force, reported and kept"
    )


class CspacePlannerNode(GraphNode):
    """Receives requests and obstacles; publishes paths, the scene and markers. Planning runs in another process."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._parameters = p = node_parameters(self, PlannerParameters)
        self._arms = arms_of(arm_rows(p.arms), options.robot)
        self._robots = {arm.name: load_robot(arm.robot, None, se3_from_pose(arm.base)) for arm in self._arms}
        self._scene, self._version = scene_of(load_world(world_file(p.world))), 1
        self._allowed = frozenset[NamePair]()  # contacts that the MoveIt scene allows
        self._stamp = self.stamp()
        self._joints: dict[str, bytes] = {}
        self._published = (0, 0.0)  # version, and when
        self._clouds = self._make_clouds() if p.cloud else None
        self._asked, self._last, self._seconds = 0, "nothing asked yet", 0.0
        self._worker = PlannerWorker(_worker_options(p, self._arms))
        self._world = self.publisher("cspace_planner/world")
        self._markers = self.publisher("cspace_planner/markers")
        self.subscribe("obstacles", self._on_obstacles)
        for arm in self._arms:
            self._subscribe_joints(arm)
        if p.planning_scene:
            self._subscribe_scenes(p.planning_scene)
        self.serve_deferred("cspace_planner/plan", self._on_plan)
        self.serve_deferred("cspace_planner/check_path", self._on_check_path)
        self.serve_deferred("cspace_planner/check_configuration", self._on_check_configuration)
        self.every(WORLD_PERIOD, self._publish_world)

    def start(self) -> None:
        """Start the planner's process and publish the scene."""
        self._worker.start()
        self._publish_world()

    def stop(self) -> None:
        """End the planner's process."""
        self._worker.stop()
        if self._clouds is not None:
            self._clouds.stop()

    # the world -----------------------------------------------------------------------------------------------

    def _on_obstacles(self, message: Any) -> None:
        changes, allowed = convert.changes_from_message(message), self._allowed
        scene = self._scene.changed(changes, message.replace, tuple(self._robots))
        self._use(scene, frozenset() if message.replace else allowed)

    def _on_scene(self, message: Any) -> None:
        """Take a MoveIt scene, whose links are those of the first arm."""
        arm, matrix = self._arms[0].name, message.allowed_collision_matrix
        robot = self._robots[arm]
        scene = scene_after(message, self._scene, Frames(robot, self._measured().get(arm)), arm, tuple(self._robots))
        kept = message.is_diff and not (matrix.entry_names or matrix.default_entry_names)
        names = {frame.name for frame in robot.model.frames} | set(scene.entries)
        self._use(scene, self._allowed if kept else allowed_contacts(matrix, names))

    def _on_voxels(self, found: CloudVoxels) -> None:
        """Replace the cloud's voxels. The scene is published less often than clouds come: it crosses the link."""
        solids = () if found.voxels is None else (found.voxels,)
        before = self._scene.entries.get(CLOUD)
        if (before.solids if before is not None else ()) == solids:
            return
        self._set(self._scene.changed([Change(CLOUD, solids)]), self._allowed)
        if self.now() - self._published[1] >= CLOUD_PERIOD:
            self._show()

    def _use(self, scene: Scene, allowed: frozenset[NamePair]) -> None:
        self._set(scene, allowed)
        self._show()

    def _set(self, scene: Scene, allowed: frozenset[NamePair]) -> None:
        self._scene, self._allowed = scene, allowed
        self._version += 1
        self._stamp = self.stamp()

    def _show(self) -> None:
        self._publish_world()
        if self._markers.get_subscription_count() > 0:
            markers = path_markers((), self._stamp)
            markers.markers += scene_markers(self._scene, self._stamp)
            self._markers.publish(markers)

    def _publish_world(self) -> None:
        self._published = self._version, self.now()
        self._world.publish(convert.scene_to_message(self._scene, self._stamp))

    def _make_clouds(self) -> CloudInput:
        p = self._parameters
        settings = CloudSettings(p.cloud_voxel, p.cloud_padding, p.cloud_region)
        options = CloudOptions(settings, p.cloud_frames, p.cloud_rate, p.cloud_stale)
        clouds = CloudInput(self._robots, options, lambda: self._scene, self._on_voxels)
        clouds.attach(self, p.cloud)
        return clouds

    def _subscribe_scenes(self, topic: str) -> None:
        """Subscribe to MoveIt's planning scenes; raises InvalidValueError where its messages are not installed."""
        try:
            from moveit_msgs.msg import PlanningScene
        except ImportError:
            raise InvalidValueError(
                "planning_scene", topic, "allowed: empty, as moveit_msgs is not importable here"
            ) from None
        self.create_subscription(PlanningScene, topic, self._gated(self._on_scene), 10)

    def _subscribe_joints(self, arm: ArmPlace) -> None:
        """Keep measured joints as bytes and decode them when needed: they come 200 times a second."""
        entry = graph.topic("joint_states")
        keep = partial(self._keep_joints, arm.name)
        where = self._within(arm.namespace or None, entry.name)
        self.create_subscription(JointState, where, keep, qos_profile(entry.qos), raw=True)

    def _keep_joints(self, arm: str, data: bytes) -> None:
        self._joints[arm] = data
        if self._clouds is not None:
            self._clouds.receive_joints(arm, data)

    def _measured(self) -> dict[str, FloatArray]:
        """Joints (dof,) [rad] of each arm whose joint states were received."""
        found = {}
        for name, data in self._joints.items():
            found[name] = convert.joints_from_message(deserialize_message(data, JointState), self._robots[name])
        return found

    # requests ------------------------------------------------------------------------------------------------

    def _arm(self, name: str) -> str:
        if not name and len(self._arms) == 1:
            return self._arms[0].name
        if name not in self._robots:
            raise InvalidValueError("arm", name, f"allowed: {', '.join(self._robots)}")
        return name

    def _on_plan(self, message: Any, response: Any, send: Send) -> None:
        response.outcome = Result.REFUSED.value
        p, measured = self._parameters, self._measured()
        goals = [convert.goal_from_message(goal, self._arm(goal.arm), measured) for goal in message.goals]
        request = PlanRequest(
            tuple(goals),
            message.back_end or p.back_end,
            message.budget or p.budget,
            message.speed or 1.0,
            measured if len(self._arms) > 1 else {},
            float(message.margin[0]) if len(message.margin) else None,
            frozenset(message.ignore),
            convert.contacts_from_message(message.allowed),
            convert.fingers_from_message(message),
            self._markers.get_subscription_count() > 0,
        )
        self._asked += 1
        self._plan(request, partial(self._answer_plan, response, send), ATTEMPTS, 0.0)

    def _plan(self, request: PlanRequest, answer: Any, attempts: int, spent: float) -> None:
        limit = GRACE + PATIENCE * request.budget * len(request.goals)
        job = Job("plan", (self._with_contacts(request),), self._scene, limit)
        self._worker.ask(job, partial(self._planned, request, answer, attempts, spent, self._version))

    def _with_contacts(self, request: PlanRequest) -> PlanRequest:
        """The request with the contacts that the scene allows now."""
        return replace(request, allowed=request.allowed | self._allowed)

    def _planned(
        self, request: PlanRequest, answer: Any, attempts: int, spent: float, version: int, result: Any, seconds: float
    ) -> None:
        """Prove a path again, or replan it, when the scene has changed since the request. On the worker's thread."""
        spent += seconds
        if version == self._version or not isinstance(result, PlanAnswer) or not result.found:
            answer(result, spent, "")
            return
        job = Job("prove_again", (result, self._with_contacts(request)), self._scene, GRACE)
        self._worker.ask(job, partial(self._proved_again, request, answer, attempts, spent, self._version))

    def _proved_again(
        self,
        request: PlanRequest,
        answer: Any,
        attempts: int,
        spent: float,
        version: int,
        proved: PlanAnswer | Refusal,
        seconds: float,
    ) -> None:
        spent += seconds
        found = isinstance(proved, PlanAnswer) and bool(proved.paths)
        if found and version == self._version:
            answer(proved, spent, "obstacles moved during planning, proved again in the new world")
        elif attempts > 1:
            self._plan(request, answer, attempts - 1, spent)
        else:
            reason = "and again while it was proved" if found else proved.message
            answer(Refusal(f"obstacles moved during planning, {ATTEMPTS} times: {reason}"), spent, "")

    def _answer_plan(self, response: Any, send: Send, result: Any, spent: float, note: str) -> None:
        response.planning_time = spent
        if isinstance(result, Refusal):
            response.success, response.outcome, response.message = False, result.result.value, result.message
        else:
            response.success, response.outcome = result.found, result.result.value
            response.message = "; ".join(filter(None, (note, result.message)))
            response.paths = [convert.path_to_message(path, self._stamp) for path in result.paths]
            response.statistic_names = list(result.statistics)
            response.statistics = convert.numbers(result.statistics.values())
        self._last, self._seconds = f"{response.outcome}: {response.message}"[:200], spent
        if response.success and self._published[0] != self._version:
            self._publish_world()  # in which any client can prove the paths again
        send(response)
        if response.success:
            stamp = self.stamp()
            markers = path_markers(result.paths, stamp)
            markers.markers += scene_markers(self._scene, stamp)
            self._markers.publish(markers)

    def _on_check_path(self, message: Any, response: Any, send: Send) -> None:
        arm = self._arm(message.arm)
        robot = self._robots[arm]
        if message.dof != robot.dof:
            raise InvalidValueError("dof", message.dof, f"allowed: {robot.dof}")
        path = finite_array(message.waypoints, "waypoints")
        margin = None if message.margin < 0.0 else float(message.margin)
        standing = self._measured() if len(self._arms) > 1 else {}
        arguments = (arm, path, margin, frozenset(message.ignore), standing, False, self._allowed)
        self._worker.ask(Job("check_path", arguments, self._scene, GRACE), partial(_answer_path, response, send))

    def _on_check_configuration(self, message: Any, response: Any, send: Send) -> None:
        arm, measured = self._arm(message.arm), self._measured()
        q = np.array(message.joint_position)
        if not q.size and arm not in measured:
            raise InvalidValueError(
                "joint_position", "empty", "allowed: joints, as nothing is measured of this arm yet"
            )
        standing = measured if len(self._arms) > 1 else {}
        arguments = (arm, q if q.size else measured[arm], standing, self._allowed)
        job = Job("check_configuration", arguments, self._scene, GRACE)
        self._worker.ask(job, partial(_answer_state, response, send))

    def health(self) -> Health:
        """The last request and its result."""
        values: dict[str, object] = {
            "obstacles": len(self._scene.obstacles),
            "asked": self._asked,
            "waiting": self._worker.waiting,
            "last": self._last,
            "planning_time_ms": 1e3 * self._seconds,
            "worker_starts": self._worker.starts,
        }
        values.update({f"cells_{arm}": note for arm, note in self._worker.notes.items()})
        if self._clouds is None:
            return Health(values=values)
        trouble = self._clouds.trouble()
        level = DiagnosticStatus.WARN if trouble else DiagnosticStatus.OK
        return Health(level, trouble or "ok", values | self._clouds.values())


def _answer_path(response: Any, send: Send, result: Any, _seconds: float) -> None:
    if isinstance(result, PathAnswer):
        response.success, response.free, response.message = True, bool(result.free), result.message
        response.clearance, response.segment = float(result.clearance), int(result.segment)
    else:
        response.success, response.message = False, result.message
    send(response)


def _answer_state(response: Any, send: Send, result: Any, _seconds: float) -> None:
    if isinstance(result, StateAnswer):
        response.success = True
        for entry in fields(result):
            setattr(response, entry.name, getattr(result, entry.name))
    else:
        response.success, response.message = False, result.message
    send(response)


def _worker_options(p: PlannerParameters, arms: tuple[ArmPlace, ...]) -> WorkerOptions:
    folder = os.environ.get(STATE_VARIABLE)
    return WorkerOptions(
        arms={arm.name: (arm.robot, arm.base) for arm in arms},
        settings={name: getattr(p, name) for name in ("margin", "self_margin", "finest", "cell")},
        service={name: getattr(p, name) for name in ("sample_period", "apart")},
        cache=Path(folder) if folder else None,
    )


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(CspacePlannerNode, options)
