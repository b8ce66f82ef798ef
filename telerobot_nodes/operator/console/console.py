"""The browser console: web server, stage, panel and gizmo on one operator client.

The owner calls `step` each STEP_PERIOD, on one thread. Without a browser connected nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.operator import commands
from telerobot_nodes.operator.client import OperatorClient
from telerobot_nodes.operator.console import server as web
from telerobot_nodes.operator.console.command_line import CommandLine, Complete
from telerobot_nodes.operator.console.inbox import GizmoDrag, GizmoMode, Inbox, Refused, Request
from telerobot_nodes.operator.console.panel import Panel
from telerobot_nodes.operator.console.stage import Stage, StageShapes
from telerobot_nodes.operator.view_model import other_plan, plan_lines, scene, view

STEP_PERIOD = 0.04  # [s] for the owner: a person's command waits no longer
DRAW_PERIOD = 0.1  # [s] shortest time between two drawings
PLAN_PERIOD = 0.25  # [s] shortest time between two drawings of the plan
ALL_OFFERED = frozenset({commands.TimeClutch, commands.TimeRatio, commands.Clear})


@dataclass(frozen=True)
class ConsoleSetup:
    """Where the console is served and what it offers."""

    host: str = "127.0.0.1"
    port: int = 8080
    offered: frozenset[commands.Kind] = ALL_OFFERED
    hands: Mapping[str, str] = field(default_factory=dict)  # name to show: file
    complete: Complete | None = None  # of the command line; None: there is none


class Console:
    """One console. Raises InvalidValueError when it cannot be served where `setup` says."""

    def __init__(self, client: OperatorClient, robot: RobotModel, shapes: StageShapes, setup: ConsoleSetup) -> None:
        self._client = client
        self.inbox = Inbox()
        self._server = web.start_server(setup.host, setup.port)
        self.url = web.url(self._server)
        gui = self._server.gui
        gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        gui.set_panel_label("Telerobot")
        gui.main_panel.dock_right()
        self._stage = Stage(self._server, robot, shapes)
        self._panel = Panel(gui, self.inbox, setup.offered, setup.hands)
        self.commands = CommandLine(gui, setup.complete) if setup.complete is not None else None
        self._gizmo = _Gizmo(self._stage.target, self.inbox)
        self._drawn = -DRAW_PERIOD  # [s]
        self._plan_drawn = (-1, -PLAN_PERIOD)  # version, time [s]

    @property
    def browsers(self) -> int:
        """Browsers connected now."""
        return len(self._server.get_clients())

    def step(self, now: float) -> None:
        """Act on what the browsers asked for; show them what the client knows, when it is time."""
        for request in self.inbox.take():
            self._act(request, now)
        target = self._gizmo.held_target()
        if target is not None:  # repeated while held still, as any device would
            self._client.send_pose_target(target)
        if self.browsers and now - self._drawn >= DRAW_PERIOD:
            self._drawn = now
            self._draw(now)

    def close(self) -> None:
        """End the web server."""
        web.stop_server(self._server)

    def _draw(self, now: float) -> None:
        picture = scene(self._client, now)
        with self._server.atomic():
            self._panel.show(view(self._client, now), now)
            self._stage.draw(picture)
            self._gizmo.follow(picture.target_pose, picture.head_pose, picture.tool_pose)
        version, drawn = self._plan_drawn
        if picture.plan_version != version and now - drawn >= PLAN_PERIOD:
            self._stage.draw_plan(plan_lines(self._client), other_plan(self._client))
            self._plan_drawn = (picture.plan_version, now)

    def _act(self, request: Request, now: float) -> None:
        if isinstance(request, GizmoMode):
            self._gizmo.switch(request.on)
        elif isinstance(request, GizmoDrag):
            self._gizmo.hold(request.held)
        elif isinstance(request, commands.PoseTarget):
            self._gizmo.move(request)
        elif isinstance(request, Refused):
            self._client.refuse(request.reason, now)
        else:
            self._client.ask(request, now)


class _Gizmo:
    """The tool target in the scene: follows the shaped command until it is held; held, it is the device."""

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
        """While on and not held: sit at the first pose known."""
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
