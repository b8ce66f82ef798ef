"""The operator's ROS client: topics to values, commands to services. Shared by console, panel and terminal."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

from std_srvs.srv import SetBool, Trigger

from telerobot.msg import Halt as HaltMessage
from telerobot.srv import ReplayHand, SetLink, SetMode, SetRecording, SetValue
from telerobot_nodes import graph
from telerobot_nodes.core.protocol import identity
from telerobot_nodes.errors import GraphError
from telerobot_nodes.nodes.clients.camera_requests import CameraRequests
from telerobot_nodes.nodes.messages import LinkCounter, pose_stamped
from telerobot_nodes.operator.client import (
    REQUEST_LIMIT,
    Answer,
    InputStatus,
    LinkSetting,
    OperatorClient,
    Outcome,
    PeerStatus,
    QueueStatus,
    RecorderStatus,
    Result,
    SimulationStatus,
    commands,
    lines_from_markers,
    plan_change_from_message,
    robot_from_message,
    status_from_message,
)


class Wiring(Protocol):
    """Wiring of a node: `GraphNode`, or the foreground client of a shell command."""

    def publisher(self, name: str) -> Any:
        """Publisher of a topic of the table."""

    def subscribe(self, name: str, callback: Callable[[Any], None]) -> Any:
        """Subscription to a topic of the table."""

    def client(self, name: str) -> Any:
        """Client of a service of the table."""

    def now(self) -> float:
        """Host monotonic time [s]."""

    def stamp(self) -> Any:
        """ROS time now."""


# service and request of each command
_Call = tuple[str, Callable[[Any], Any]]
_CALLS: dict[commands.Kind, _Call] = {
    **{deed: (f"path_plan_queue/{deed.value}", lambda c: Trigger.Request()) for deed in commands.Deed},
    commands.Rate: ("path_plan_queue/rate", lambda c: SetValue.Request(value=float(c.value))),
    commands.TimeClutch: ("path_plan_queue/time_clutch", lambda c: SetBool.Request(data=c.engaged)),
    commands.PositionClutch: ("path_plan_queue/position_clutch", lambda c: SetBool.Request(data=c.engaged)),
    commands.CollisionStop: ("path_plan_queue/stop_before_collision", lambda c: SetBool.Request(data=c.engaged)),
    commands.PassSingularities: ("path_plan_queue/pass_singularities", lambda c: SetBool.Request(data=c.engaged)),
    commands.Brake: ("path_plan_queue/brake", lambda c: SetValue.Request(value=float(c.rate))),
    commands.Clear: ("path_plan_queue/clear", lambda c: Trigger.Request()),
    commands.Resume: ("path_plan_queue/resume", lambda c: Trigger.Request()),
    commands.Reset: ("path_plan_queue/reset", lambda c: Trigger.Request()),
    commands.Tare: ("path_plan_queue/tare", lambda c: Trigger.Request()),
    commands.TimeRatio: ("path_plan_queue/time_ratio", lambda c: SetValue.Request(value=float(c.value))),
    commands.OrientationClutch: ("path_plan_queue/orientation_clutch", lambda c: SetBool.Request(data=c.engaged)),
    commands.LinearScale: ("path_plan_queue/linear_scale", lambda c: SetValue.Request(value=float(c.value))),
    commands.AngularScale: ("path_plan_queue/angular_scale", lambda c: SetValue.Request(value=float(c.value))),
    commands.Gripper: ("path_plan_queue/gripper", lambda c: SetValue.Request(value=float(c.opening))),
    commands.Replay: (
        "operator_input/replay",
        lambda c: ReplayHand.Request(file=c.file, speed=float(c.speed), scale=float(c.scale)),
    ),
    commands.StopReplay: ("operator_input/stop_replay", lambda c: Trigger.Request()),
    commands.Mode: ("operator_input/mode", lambda c: SetMode.Request(mode=c.mode.word)),
    commands.Direct: ("operator_input/direct", lambda c: SetBool.Request(data=c.on)),
    commands.Record: ("bag_recorder/record", lambda c: SetRecording.Request(on=c.on, folder=c.folder)),
    commands.Scrub: ("forward_simulator/scrub", lambda c: SetValue.Request(value=float(c.time))),
    commands.SetLink: (
        "link_emulator/set",
        lambda c: SetLink.Request(
            delay=float(c.delay),
            jitter=float(c.jitter),
            loss=float(c.loss),
            duplicate=float(c.duplicate),
            reorder=c.reorder,
            up=c.up,
            down=c.down,
        ),
    ),
}


_SIGNALS: frozenset[commands.Kind] = frozenset(  # topics, without an answer
    (commands.Halt, commands.EStop, commands.SetCamera)
)


def offered(graph_name: str) -> frozenset[commands.Kind]:
    """The commands that some node of this graph serves, and those that need none."""
    return _SIGNALS | {kind for kind, (service, _) in _CALLS.items() if _served(service, graph_name)}


def _served(service: str, graph_name: str) -> bool:
    try:
        graph.service(service)
    except GraphError:
        return False
    return service.split("/", maxsplit=1)[0] in graph.GRAPHS[graph_name]


class StopPort:
    """Sends halts and e-stops as messages to the robot itself, and nothing else."""

    def __init__(self, node: Wiring, role: str, agent: str = "") -> None:
        """`role` of the sender: `console`, `shell`; `agent`: its identity, if the process has several senders."""
        self._node, self.agent = node, agent or identity(role)
        self._halt = node.publisher("halt")
        self._estop = node.publisher("estop")
        self._link = LinkCounter(self.agent)

    def halt(self, number: int, reason: str) -> None:
        """Publish one halt; the same number again is the same halt."""
        self._halt.publish(self._message(number, reason))

    def estop(self, number: int, reason: str) -> None:
        """Publish one e-stop; the same number again is the same e-stop."""
        self._estop.publish(self._message(number, reason))

    def call(self, command: commands.Command, answer: Answer) -> None:
        """Refuse: this arm is only seen and stopped."""
        answer(Outcome(Result.NOT_SERVED, "this arm is only seen and stopped from here"), self._node.now())

    def stream(self, target: commands.PoseTarget) -> None:
        """Send nothing."""

    def _message(self, number: int, reason: str) -> Any:
        text = reason.encode("utf-8", "replace").decode()  # what no message can carry must not keep a halt back
        return HaltMessage(link=self._link.next(self._node.stamp()), number=number, agent=self.agent, reason=text)


class RosPort(StopPort):
    """Sends commands as service calls that are never waited for; halts and e-stops as messages to the robot itself."""

    def __init__(self, node: Wiring, role: str, allowed: frozenset[commands.Kind], agent: str = "") -> None:
        """`role` and `agent` as of StopPort."""
        super().__init__(node, role, agent)
        self._clients = {kind: node.client(_CALLS[kind][0]) for kind in allowed - _SIGNALS}
        self._pose = node.publisher("path_plan_queue/pose_target_cmds")
        self.camera = CameraRequests(node) if commands.SetCamera in allowed else None

    def ready(self, command: commands.Command) -> bool:
        """True when some node serves the command now, or is not needed."""
        if isinstance(command, commands.SetCamera):
            return self.camera is not None and self.camera.reached
        if commands.kind_of(command) in _SIGNALS:
            return True
        client = self._clients.get(commands.kind_of(command))
        return client is not None and client.service_is_ready()

    def call(self, command: commands.Command, answer: Answer) -> None:
        """Call the command's service; `answer` gets its outcome, or that no node serves it."""
        if isinstance(command, commands.SetCamera) and self.camera is not None:
            answer(self.camera.send(command), self._node.now())
            return
        service, request = _CALLS[commands.kind_of(command)]
        client = self._clients.get(commands.kind_of(command))
        if client is None:
            answer(Outcome(Result.NOT_SERVED, f"no node of this graph serves {service}"), self._node.now())
        elif not client.service_is_ready():
            answer(Outcome(Result.NOT_SERVED, f"{service.split('/', maxsplit=1)[0]} does not answer"), self._node.now())
        else:
            future = client.call_async(request(command))
            future.add_done_callback(lambda done: answer(_outcome(done), self._node.now()))

    def stream(self, target: commands.PoseTarget) -> None:
        """Publish a pose target in WORLD."""
        self._pose.publish(pose_stamped(target.pose, "world", self._node.stamp()))


def connect(node: Wiring, port: StopPort, request_limit: float = REQUEST_LIMIT) -> OperatorClient:
    """A client that receives the topics of `node` and sends through `port`."""
    client = OperatorClient(port, request_limit, port.agent, guard=Lock())
    node.subscribe(
        "path_plan_queue/state", lambda m: client.receive_queue(status_from_message(QueueStatus, m), node.now())
    )
    node.subscribe(
        "plan_executor/state",
        lambda m: client.receive_robot(robot_from_message(m), node.now()),
    )
    node.subscribe(
        "forward_simulator/state",
        lambda m: client.receive_simulation(status_from_message(SimulationStatus, m), node.now()),
    )
    node.subscribe(
        "link_emulator/status", lambda m: client.receive_link(status_from_message(LinkSetting, m), node.now())
    )
    node.subscribe("link/state", lambda m: client.receive_peer(status_from_message(PeerStatus, m), node.now()))
    node.subscribe(
        "bag_recorder/state", lambda m: client.receive_recorder(status_from_message(RecorderStatus, m), node.now())
    )
    node.subscribe(
        "operator_input/state", lambda m: client.receive_input(status_from_message(InputStatus, m), node.now())
    )
    node.subscribe("path_plan_queue/plan", lambda m: client.receive_plan(plan_change_from_message(m)))
    node.subscribe("plan_in_force", lambda m: client.receive_other_plan(plan_change_from_message(m)))
    node.subscribe("forward_simulator/markers", lambda m: client.receive_lines(**vars(lines_from_markers(m))))
    node.subscribe("forward_simulator/simulated", lambda m: client.receive_motion(m.position, node.now()))
    return client


def _outcome(future: Any) -> Outcome:
    error = future.exception()
    if error is not None:
        return Outcome(Result.NO_ANSWER, f"call failed: {error}")
    response = future.result()
    return Outcome(Result.DONE if response.success else Result.REFUSED, str(response.message))
