"""`operator_console`: the browser's view on the operator client [US5231693]."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray

from telerobot_nodes.core.config import NodeOptions, parameter
from telerobot_nodes.core.protocol import ExecutorMode, identity
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.hardware import ARM, build_scene
from telerobot_nodes.menus import folder_of
from telerobot_nodes.nodes.clients import RosPort, connect, offered, other_arm
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node
from telerobot_nodes.nodes.menus import MenuRunner, NodeRuns
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.operator.camera_topics import CameraTopics
from telerobot_nodes.nodes.operator.console_commands import ConsoleCommands, completer
from telerobot_nodes.nodes.operator.goal_topics import GoalTopics
from telerobot_nodes.nodes.planning import arm_name
from telerobot_nodes.operator.camera import CameraFeed, CameraWindow, Overlay
from telerobot_nodes.operator.client import commands, solids_from_message
from telerobot_nodes.operator.console import (
    STEP_PERIOD,
    Console,
    ConsoleSetup,
    MenuView,
    OtherArm,
)
from telerobot_nodes.operator.scene import ArmShapes, Detail, load_shapes, surroundings
from telerobot_nodes.operator.web import HandPage, ViewOnly, Workspaces, is_loopback, open_browser, user_token

NOT_ENCRYPTED = "console: the connection is not encrypted; see `telerobot security certificate --help`"
KEPT = 300  # drawings whose duration is known
TICK_PERIOD = 0.1  # [s] between checks for unanswered requests, and repeats of a halt


@dataclass(frozen=True)
class ConsoleParameters:
    """Parameters of the node."""

    host: str = parameter("127.0.0.1", doc="address to serve on; other than loopback lets others drive the arm")
    port: int = parameter(8080, low=0, high=65535, doc="port to serve on, or the next free one; 0: any")
    token: bool = parameter(True, doc="let in only who shows the token of this host's user, as in the address printed")
    view_host: str = parameter("", doc="address of pages that may look and not touch; empty: none")
    view_port: int = parameter(8090, low=0, high=65535, doc="port of these pages, or the next free one; 0: any")
    task_board: bool = parameter(True, doc="draw the simulated arm's task board")
    hands: str = parameter("", doc="folder of recorded hands (CSV) to offer; empty: none")
    menus: str = parameter("", doc="folder of menu files; empty: ./menus, else the package's own")
    others: str = parameter(
        "",
        doc="other arms to show and stop, as NAME ROBOT X Y Z YAW [NAMESPACE], separated by semicolons: the place of "
        "its graph's WORLD [m, rad]; without a namespace it is the name",
    )
    certificate: str = parameter("", doc="PEM file with key and certificate, for https; empty: not encrypted")
    open_browser: bool = parameter(False, doc="open the browser if there is a screen")


class OperatorConsoleNode(GraphNode):
    """Status topics in, web page out; buttons in, service calls out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._parameters = node_parameters(self, ConsoleParameters)
        robot = load_robot(options.robot)
        allowed = offered(options.graph)
        self._client = connect(self, RosPort(self, "console", allowed))
        self.subscribe(
            "cspace_planner/world", lambda m: self._client.receive_solids(solids_from_message(m, arm_name(self)))
        )
        self._workspaces = Workspaces(self.get_fully_qualified_name())
        self.subscribe("diagnostics", self._receive_health)
        shapes = shapes_of(robot)
        self._others = other_arms(self, self._parameters.others)
        self._device_pose = self.publisher("operator_input/device_pose")
        grip = partial(self._grip, robot.gripper.max_opening) if robot.gripper else None
        self._hand = HandPage(lambda: self.soon(self._publish_hand), grip)
        setup = ConsoleSetup(
            self._parameters.host,
            self._parameters.port,
            allowed,
            hands(self._parameters.hands),
            completer(),
            self._wake,
            surroundings(build_scene(robot, 0.001), ARM) if self._parameters.task_board else (),
            self._others,
            ViewOnly(self._parameters.view_host, self._parameters.view_port) if self._parameters.view_host else None,
            workspaces=self._workspaces,
            token=user_token() if self._parameters.token else "",
            certificate=Path(self._parameters.certificate) if self._parameters.certificate else None,
            hand=self._hand,
        )
        self._console = Console(self._client, robot, shapes, setup)
        if self._console.goal is not None:
            GoalTopics(self, self._console.goal)
        self._feed = CameraFeed()
        CameraTopics(self, self._feed)
        self._window = CameraWindow(
            self._console.gui, self._console.pictures, self._console.inbox, Overlay(robot, shapes.ghost)
        )
        self._drawings: deque[float] = deque(maxlen=KEPT)  # [s]
        self._send_texts = (
            ConsoleCommands(self, self._console.commands).step if self._console.commands is not None else None
        )
        if self._send_texts is not None:
            self.every(TICK_PERIOD, self._send_texts)
        folder = folder_of(Path(self._parameters.menus) if self._parameters.menus else None)
        runs = NodeRuns(self, "console", self._client, self._feed)
        self._menus = MenuRunner(MenuView(self._console.gui), runs, folder, options.robot)
        self.every(TICK_PERIOD, lambda: self._menus.step(self.now()))
        self.every(STEP_PERIOD, self._step)
        self.every(TICK_PERIOD, self._tick)

    def _receive_health(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith(f"/{self.options.name}"):
                address = next((entry.value for entry in status.values if entry.key == "url"), "")
                self._workspaces.receive(status.name, address, self.now())

    def _wake(self) -> None:
        """Let this node's thread take the requests of the browsers; from any thread."""
        self.soon(self._take)

    def _take(self) -> None:
        if self.active:
            self._attempt(self._console.take_requests, self.now())
            if self._send_texts is not None:
                self._attempt(self._send_texts)

    def _hand_blocked(self) -> str:
        """Why a held device of a page moves nothing; empty: it does, or that is not known."""
        if self._client.robot.mode is ExecutorMode.HALTED or self._client.robot.estop:
            return "the robot is halted"
        state = self._client.input
        if self._client.received.input is None or state.plan or state.primitive:
            return ""
        return f"mode {state.mode.word}: the device moves nothing"

    def _grip(self, most: float, closes: bool) -> None:
        """Close the gripper, or open it by `most` [m]; on the web server's thread."""
        self._console.inbox.put(commands.Gripper(0.0 if closes else most))

    def _publish_hand(self) -> None:
        """What the held device of a page did, for the node of the operator's input."""
        for sample in self._hand.take():
            self._device_pose.publish(convert.pose_stamped(sample.pose, "device", self.stamp(sample.taken)))

    def _step(self) -> None:
        began, before = time.monotonic(), self._console.drawn_at
        self._hand.blocked = self._hand_blocked()
        self._console.step(self.now())
        if self._console.browsers:
            self._window.step(self._feed, self._client, self.now())
        if self._console.drawn_at != before:
            self._drawings.append(time.monotonic() - began)

    def _tick(self) -> None:
        for client in (self._client, *(arm.client for arm in self._others)):
            client.tick(self.now())

    def start(self) -> None:
        """Print the address of the console."""
        print(f"console: {self._console.url}", flush=True)
        if not self._parameters.certificate and not is_loopback(self._parameters.host):
            print(NOT_ENCRYPTED, flush=True)
        if self._console.view_url:
            print(f"to look only: {self._console.view_url}", flush=True)
        if self._parameters.open_browser:
            open_browser(self._console.url, os.environ)

    def health(self) -> Health:
        """Address, browsers connected, and the median duration of the latest drawings."""
        drawing = {"drawing": f"{1e3 * median(self._drawings):.2f} ms"} if self._drawings else {}
        return Health(values={"url": self._console.address, "browsers": self._console.browsers, **drawing})

    def destroy_node(self) -> None:
        """End the web server with the node."""
        self._console.close()
        super().destroy_node()


def shapes_of(robot: RobotModel) -> ArmShapes:
    """What an arm and its ghosts are drawn of."""
    return ArmShapes(load_shapes(robot, Detail.VISUAL), load_shapes(robot, Detail.COLLISION))


def other_arms(node: GraphNode, rows: str) -> tuple[OtherArm, ...]:
    """The arms of the parameter `others`. Raises InvalidValueError naming row and word."""
    if not rows.strip():
        return ()
    from telerobot_nodes.cspace.service import arm_rows, arms_of  # loads the planner, which most consoles do not need

    agent = identity("console")
    return tuple(
        OtherArm(
            place.name,
            other_arm(node, place.namespace or place.name, agent),
            robot := load_robot(place.robot),
            shapes_of(robot),
            np.array(place.base),
        )
        for place in arms_of(arm_rows(rows), node.options.robot)
    )


def hands(folder: str) -> dict[str, str]:
    """Recordings to offer: file by the name to show."""
    return {path.stem: str(path.resolve()) for path in sorted(Path(folder).glob("*.csv"))} if folder else {}


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(OperatorConsoleNode, options)
