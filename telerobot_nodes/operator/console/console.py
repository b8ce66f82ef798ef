"""The browser console: web server, stop bar, stage, panel and gizmo on one operator client.

The node calls `step` every STEP_PERIOD from one thread, and `take_requests` whenever the console wakes it. HALT and
e-stop wait for neither: the web server's thread sends them. Nothing is drawn while no browser is connected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import OperatorClient, commands
from telerobot_nodes.operator.console import markup
from telerobot_nodes.operator.console.arms import DrawnArm, OtherArm, OtherArms
from telerobot_nodes.operator.console.command_line import CommandLine, Complete
from telerobot_nodes.operator.console.goal import Goal
from telerobot_nodes.operator.console.inbox import GizmoDrag, GizmoMode, Inbox, Refused, Request, Stopped
from telerobot_nodes.operator.console.panel import Panel
from telerobot_nodes.operator.console.readings import ForcePlot, margin_row
from telerobot_nodes.operator.scene import CAMERAS, ArmScene, ArmShapes, Shape, Stage
from telerobot_nodes.operator.view import view
from telerobot_nodes.operator.web import (
    HandPage,
    PictureView,
    Press,
    Served,
    StopBar,
    TokenGate,
    ViewOnly,
    Workspaces,
    server_context,
    start_server,
    stop_server,
    url,
)

STEP_PERIOD = 0.05  # [s] of the node, which draws the arms as often
TEXT_PERIOD = 0.1  # [s] between two drawings of bar and panel, unless what an operator presses for has changed
ALL_OFFERED = frozenset({commands.TimeClutch, commands.TimeRatio, commands.Clear})
PRESSES: dict[Press, Callable[[], commands.Command]] = {
    Press.HALT: commands.Halt,
    Press.ESTOP: commands.EStop,
    Press.RESUME: commands.Resume,
    Press.RESET: commands.Reset,
}


@dataclass(frozen=True)
class ConsoleSetup:
    """Where the console is served and what it offers."""

    host: str = "127.0.0.1"
    port: int = 8080
    offered: frozenset[commands.Kind] = ALL_OFFERED
    hands: Mapping[str, str] = field(default_factory=dict)  # name to show: file
    complete: Complete | None = None  # of the command line; None: there is none
    wake: Callable[[], object] = lambda: None  # from any thread: there are requests
    surroundings: tuple[Shape, ...] = ()  # drawn around the arm
    others: tuple[OtherArm, ...] = ()  # shown beside the arm, and stopped with it
    view: ViewOnly | None = None  # where people may look and not touch
    typed_goals: bool = True  # the tool goes to a goal that is typed, with a plan queue
    workspaces: Workspaces | None = None  # to switch to
    token: str = ""  # that a browser has to show; empty: none
    certificate: Path | None = None  # PEM file; None: the connection is not encrypted
    hand: HandPage | None = None  # a page for a phone or headset


class Console:
    """One console. Raises InvalidValueError when it cannot be served at the address in `setup`."""

    def __init__(self, client: OperatorClient, robot: RobotModel, shapes: ArmShapes, setup: ConsoleSetup) -> None:
        self._client = client
        self._stopped = (client, *(other.client for other in setup.others))  # by HALT and e-stop
        self.inbox = Inbox(wake=setup.wake)
        self._bar = StopBar(self._press)
        self.pictures = PictureView()
        secure = setup.certificate is not None
        gate = TokenGate(setup.token, secure)
        tls = None if setup.certificate is None else server_context(setup.certificate)
        served = Served(self._bar, self.pictures, setup.view, gate, setup.hand, tls)
        self._server = start_server(setup.host, setup.port, served)
        self.address = url(self._server.get_host(), self._server.get_port(), secure)
        self.url = gate.address(self.address)  # with the token: for this host's user
        self.view_url = url(setup.view.host, setup.view.port, secure) if setup.view is not None else ""
        gui = self._server.gui
        gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        gui.set_panel_label("Telerobot")
        gui.main_panel.dock_right()
        self._stage = Stage(self._server, setup.surroundings, [other.base[:3] for other in setup.others])
        self._own = DrawnArm(client, ArmScene(self._server.scene, robot, shapes))
        self._others = OtherArms(self._server.scene, setup.others)
        _add_cameras(gui, self._stage)
        self._panel = Panel(gui, self.inbox, setup.offered, setup.hands)
        self.commands = CommandLine(gui, setup.complete, setup.wake) if setup.complete is not None else None
        typed = setup.typed_goals and commands.Clear in setup.offered  # with a plan queue
        self.goal = Goal(gui, self._server.scene) if typed else None
        self._forces = ForcePlot(gui)
        self._robot = robot
        self._workspaces = setup.workspaces
        self._allowed: frozenset[commands.Kind] | None = None  # None: all that is offered
        self._gizmo = _Gizmo(self._stage.target, self.inbox)
        self._confirmed: tuple[Any, ...] = ()  # as drawn
        self._texts_at = -TEXT_PERIOD  # [s]
        self.drawn_at = -STEP_PERIOD  # [s] time of the latest drawing

    @property
    def browsers(self) -> int:
        """Browsers connected now."""
        return max(len(self._server.get_clients()), self._bar.pages)

    @property
    def gui(self) -> Any:
        """The panel of the pages, for further widgets."""
        return self._server.gui

    @property
    def scene(self) -> Any:
        """The scene of the pages, for further things in it."""
        return self._server.scene

    def allow(self, kinds: Collection[commands.Kind]) -> None:
        """Hide the controls of all other commands, and refuse these; stops are never refused."""
        self._allowed = frozenset(kinds) | {commands.Halt, commands.EStop, commands.Resume, commands.Reset}
        self._panel.allow(self._allowed)

    def show_ahead(self, on: bool, offset: FloatArray) -> None:
        """Draw what the arm is going to do, or not; all of it `offset` (3,) [m] beside in WORLD."""
        self._own.show_ahead(on, offset)

    def step(self, now: float, shown: float | None = None) -> None:
        """Execute the requests of the browsers; draw the state of the client.

        `shown`: time of the client's values [s], where it is not `now`: of a recording.
        """
        self.take_requests(now)
        target = self._gizmo.held_target()
        if target is not None:  # repeated while held still, like a device
            self._client.send_pose_target(target)
        if self.goal is not None:
            self.goal.step(self._client, now, driven=target is not None)
        if self.browsers:
            self.drawn_at = now
            self._draw(now, now if shown is None else shown)

    def take_requests(self, now: float) -> None:
        """Execute the requests of the browsers."""
        for request in self.inbox.take():
            self._act(request, now)

    def close(self) -> None:
        """End the web server."""
        stop_server(self._server)

    def _draw(self, now: float, shown: float) -> None:
        confirmed = self._pressed_for()
        if confirmed != self._confirmed or now - self._texts_at >= TEXT_PERIOD:
            self._confirmed, self._texts_at = confirmed, now
            self._draw_texts(now, shown)
        with self._server.atomic():
            picture = self._own.draw(shown)
            self._others.draw(now)
            self._gizmo.follow(picture.target_pose, picture.head_pose, picture.tool_pose)
        self._own.draw_plan(picture, now)

    def _pressed_for(self) -> tuple[Any, ...]:
        """What an operator waits for after a press: the texts about it wait for no period."""
        robot, queue, notices = self._client.robot, self._client.queue, self._client.notices
        return robot.mode, robot.estop, queue.time_clutch, queue.position_clutch, notices[-1] if notices else None

    def _draw_texts(self, now: float, shown: float) -> None:
        own = view(self._client, shown)
        own = replace(own, rows=(*own.rows, margin_row(self._robot, self._client.robot.joint_position)))
        texts = self._others.beside(own, shown)
        around = (self._workspaces.own, self._workspaces.doors(now)) if self._workspaces is not None else ()
        self._bar.show(markup.bar(texts, self._client.robot.estop, *around))
        with self._server.atomic():
            self._panel.show(texts, now)
            self._forces.show(self._client.robot, shown)

    def _press(self, press: Press) -> None:
        """Of the stop bar, on the web server's thread."""
        command = PRESSES[press]()
        if isinstance(command, commands.Halt | commands.EStop):
            with ExitStack() as stack:  # what keeps the stop of one arm back keeps back no other's
                for client in reversed(self._stopped):
                    stack.callback(client.stop, command, time.monotonic())
            self.inbox.put(Stopped(command))
        else:
            self.inbox.put(command)

    def _act(self, request: Request, now: float) -> None:
        if isinstance(request, GizmoMode):
            self._gizmo.switch(request.on)
        elif isinstance(request, GizmoDrag):
            self._gizmo.hold(request.held)
        elif isinstance(request, commands.PoseTarget):
            self._gizmo.move(request)
        elif isinstance(request, Stopped):
            self._client.note_stop(request.command, now)
        elif isinstance(request, Refused):
            self._client.refuse(request.reason, now)
        elif self._allowed is not None and commands.kind_of(request) not in self._allowed:
            self._client.refuse(f"{request}: is not to be used now", now)
        else:
            self._client.ask(request, now)


def _add_cameras(gui: Any, stage: Stage) -> None:
    """Buttons that move the camera of the page in which they are pressed."""
    places = gui.add_button_group("camera at", tuple(CAMERAS))

    async def pressed(event: Any) -> None:  # a coroutine: on the web server's own thread
        if event.client is not None:
            stage.look(event.client.camera, places.value)

    places.on_click(pressed)


class _Gizmo:
    """The tool target in the scene: it follows the shaped command; while the operator holds it, it is the device."""

    def __init__(self, handle: Any, inbox: Inbox) -> None:
        self._handle = handle
        self._on = self._held = self._placed = False
        self._target: commands.PoseTarget | None = None

        async def dragged(event: Any) -> None:
            if event.phase != "update":
                inbox.put(GizmoDrag(event.phase == "start"))
            inbox.put_newest(commands.PoseTarget(_pose_of(event.target)))

        handle.on_update(dragged)

    def switch(self, on: bool) -> None:
        self._on, self._held, self._placed, self._target = on, False, False, None
        self._handle.visible = False  # until it has a place

    def hold(self, held: bool) -> None:
        self._held = held and self._on
        self._target = None

    def move(self, target: commands.PoseTarget) -> None:
        self._target = target if self._held else None

    def held_target(self) -> commands.PoseTarget | None:
        return self._target if self._held else None

    def follow(self, *poses: FloatArray | None) -> None:
        """Move to the first known pose, while on and not held."""
        pose = next((pose for pose in poses if pose is not None), None)
        if not self._on or self._held or pose is None:
            return
        self._handle.position = pose[:3]
        self._handle.wxyz = (pose[6], pose[3], pose[4], pose[5])
        self._handle.visible = True


def _pose_of(handle: Any) -> FloatArray:
    w, x, y, z = handle.wxyz
    quaternion = np.array((x, y, z, w))
    return np.concatenate((handle.position, quaternion / np.linalg.norm(quaternion)))
