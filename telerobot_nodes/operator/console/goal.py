"""A goal in the scene, typed or designated in RViz2: the tool goes there over the plan when told to [US5231693].

Callbacks of a browser only note what was pressed; the node's thread takes it.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, poses
from telerobot_nodes.operator.client import Move, MoveGoal, OperatorClient, Tone

GO, END = "go there", "end motion"
SPEEDS = (0.01, 0.25)  # [m/s]
PRESSES = 8  # waiting; more are dropped
AXES = 0.1  # [m]


class Goal:
    """Widgets and marker of the goal, and the motion to it. Nothing moves before GO is pressed."""

    def __init__(self, gui: Any, scene: Any) -> None:
        self._pressed: deque[str] = deque(maxlen=PRESSES)
        self._orientation: FloatArray | None = None  # qx qy qz qw in WORLD; None: as the tool is
        self._move: Move | None = None
        self._marker = scene.add_frame("/goal", axes_length=AXES, axes_radius=0.004, visible=False)
        with gui.add_folder("Goal", expand_by_default=False):
            hint = "in WORLD; /clicked_point and /goal_pose of RViz2 set it too"
            self._place = gui.add_vector3("position [m]", (0.0, 0.0, 0.0), step=0.005, hint=hint)
            self._speed = gui.add_slider("speed [m/s]", *SPEEDS, 0.01, 0.1)
            self._buttons = gui.add_button_group("tool", (GO, END), hint="on a straight line over the plan")
        self._place.on_update(self._on_typed)
        self._buttons.on_click(lambda _event: self._pressed.append(self._buttons.value))

    def designate(self, position: object, orientation: object = None) -> None:
        """Show a goal: position (3,) [m], orientation qx qy qz qw in WORLD, None: as the tool is.

        Raises InvalidValueError.
        """
        place = finite_array(position, "goal.position", 3)
        if orientation is not None:
            given = finite_array(orientation, "goal.orientation", 4)
            poses(np.concatenate((place, given)), "goal")
            self._orientation = given / np.linalg.norm(given)
        else:
            self._orientation = None
        self._place.value = tuple(map(float, place))
        self._show()

    def step(self, client: OperatorClient, now: float, driven: bool) -> None:
        """Do what was pressed and send the next target; `driven`: the tool is driven by hand in the scene."""
        while self._pressed:
            press = self._pressed.popleft()
            self._end(client, now)
            if press == GO:
                self._move = Move(MoveGoal(self._place.value, self._orientation, self._speed.value))
                self._move.begin(client, now)
        if driven:
            self._end(client, now)
        if self._move is not None:
            target = self._move.step(client, now)
            if target is not None:
                client.send_pose_target(target)
            self._note(client, now)

    def _end(self, client: OperatorClient, now: float) -> None:
        if self._move is not None:
            self._move.stop(client)
            self._note(client, now)

    def _note(self, client: OperatorClient, now: float) -> None:
        """Record the end of the motion, once."""
        result = self._move.result if self._move is not None else None
        if result is not None:
            self._move = None
            why = f": {result.reason}" if result.reason else ""
            client.note(f"motion to the goal {result.end.value}{why}", Tone.GOOD if result.ok else Tone.BAD, now)

    def _on_typed(self, event: Any) -> None:
        if event.client_id is not None:  # not by `designate`
            self._orientation = None
            self._show()

    def _show(self) -> None:
        self._marker.position = self._place.value
        if self._orientation is not None:
            x, y, z, w = self._orientation
            self._marker.wxyz = (w, x, y, z)
        self._marker.visible = True
