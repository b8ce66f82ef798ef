"""The arms of a console: the one that it drives, and others that it shows in the same scene and stops with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import OperatorClient, PlanLines, Tone
from telerobot_nodes.operator.scene import ArmScene, ArmShapes
from telerobot_nodes.operator.view import ConsoleView, Row, SceneView, other_plan, plan_lines, scene, view

PLAN_PERIOD = 0.25  # [s] shortest time between two drawings of a plan
IN_ROW = ("lead", "robot data", "authority")  # rows of another arm that the panel shows
NO_CONFLICTS, NO_PATH = np.empty((0, 2, 3)), np.empty((0, 3))
BADNESS = (Tone.GOOD, Tone.QUIET, Tone.PLAIN, Tone.WARN, Tone.BAD)


@dataclass(frozen=True)
class OtherArm:
    """An arm beside the console's own. `base` (7,) [m]: its graph's WORLD in the WORLD of the scene."""

    name: str
    client: OperatorClient
    robot: RobotModel
    shapes: ArmShapes
    base: FloatArray


class DrawnArm:
    """One arm's client, and where it is drawn."""

    def __init__(self, client: OperatorClient, drawing: ArmScene) -> None:
        self._client, self._drawing = client, drawing
        self._plan_version, self._plan_drawn = -1, -PLAN_PERIOD  # [s]
        self._ahead, self._offset = True, np.zeros(3)

    def show_ahead(self, on: bool, offset: FloatArray) -> None:
        """Draw ghosts and the plan ahead, or not; both `offset` (3,) [m] beside in WORLD."""
        self._ahead, self._offset, self._plan_version = on, offset, -1
        self._drawing.place_ghosts(offset)

    def draw(self, shown: float) -> SceneView:
        """Draw the state at `shown` [s] but for the plan; returns it."""
        picture = scene(self._client, shown)
        if not self._ahead:
            picture = replace(picture, estimate=None, head=None, trial=None, head_pose=None, conflicts=NO_CONFLICTS)
            picture = replace(picture, motion=None, motion_path=NO_PATH)
        self._drawing.draw(picture)
        return picture

    def draw_plan(self, picture: SceneView, now: float) -> None:
        """Draw the plan if it has changed, at most every PLAN_PERIOD."""
        if picture.plan_version != self._plan_version and now - self._plan_drawn >= PLAN_PERIOD:
            lines = _moved(plan_lines(self._client), self._offset)
            self._drawing.draw_plan(lines if self._ahead else _executed(lines), other_plan(self._client))
            self._plan_version, self._plan_drawn = picture.plan_version, now


class OtherArms:
    """The arms beside a console's own, below a frame at the base of each."""

    def __init__(self, scene: Any, arms: Sequence[OtherArm]) -> None:
        self._arms = tuple(arms)
        self._drawn = [DrawnArm(arm.client, _placed(scene, arm)) for arm in arms]

    def draw(self, now: float) -> None:
        """Draw their states and plans."""
        for drawn in self._drawn:
            drawn.draw_plan(drawn.draw(now), now)

    def beside(self, own: ConsoleView, now: float) -> ConsoleView:
        """The view of the console's own arm with the states of the others in its banner and below its rows."""
        banner, rows = own.banner, list(own.rows)
        for arm in self._arms:
            other = view(arm.client, now)
            said = {row.label: row.text for row in other.rows if row.label in IN_ROW}
            text = "; ".join((other.banner.text, *(f"{label} {text}" for label, text in said.items())))
            rows.append(Row(arm.name, text, other.banner.tone))
            worst = max(banner.tone, other.banner.tone, key=BADNESS.index)
            banner = Row(banner.label, f"{banner.text} | {arm.name}: {other.banner.text}", worst)
        return replace(own, banner=banner, rows=tuple(rows))


def _executed(lines: PlanLines) -> PlanLines:
    """The plan without what is ahead of the arm."""
    ahead = {name: getattr(lines, name)[:0] for name in ("committed", "ahead", "ahead_timing", "trial")}
    return replace(lines, **ahead)


def _moved(lines: PlanLines, offset: FloatArray) -> PlanLines:
    """The plan with what is ahead of the arm `offset` (3,) [m] beside."""
    return replace(lines, committed=lines.committed + offset, ahead=lines.ahead + offset, trial=lines.trial + offset)


def _placed(scene: Any, arm: OtherArm) -> ArmScene:
    root = f"/{arm.name}"
    x, y, z, w = arm.base[3:]
    scene.add_frame(root, show_axes=False, position=arm.base[:3], wxyz=(w, x, y, z))
    scene.add_label(f"{root}/name", arm.name, position=(0.0, 0.0, 0.05), font_screen_scale=0.9)
    return ArmScene(scene, arm.robot, arm.shapes, root, arm.name)
