"""Where the names of a skill's expressions come from: slots, plan, steps done, database, tables [JPL-RTC section 4].

Values are computed when asked for, so an early step may need a later one's (numeric backtracking): the later is
computed first. A value that only a running step can measure raises NotYetKnownError and is bound at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import OutOfReachError
from telerobot_nodes.rtc.elaboration.places import direction_vector, place_frame, place_joints, place_pose
from telerobot_nodes.rtc.elaboration.request import Entity, Request
from telerobot_nodes.rtc.skills import (
    Expression,
    ExpressionError,
    Library,
    NotYetKnownError,
    Skill,
    Step,
    Thing,
    compose,
    evaluate,
    inverse,
)
from telerobot_nodes.rtc.world import Checks, DatabaseError, Validity, View

Results = Mapping[str, Mapping[str, object]]  # qualified step name to the result of its report


@dataclass(frozen=True)
class Frame:
    """One use of a skill inside a command: its slots, the candidates chosen, the names of its steps."""

    skill: Skill
    prefix: str  # of qualified step names: "" or "grasp."
    slots: Mapping[str, object]
    steps: Mapping[str, Step]
    chosen: Mapping[str, object] = field(default_factory=dict)


class Environment:
    """The scope of one frame at one moment; made for one job and thrown away."""

    def __init__(
        self,
        frame: Frame,
        request: Request,
        library: Library,
        view: View,
        checks: Checks,
        results: Results,
        extra: Mapping[str, object] | None = None,
        planning: bool = False,
        least: Validity = Validity.VALID,
    ) -> None:
        """`least`: poses of the database below it are not used."""
        self.frame = frame
        self.request = request
        self.library: Library = library
        self.view: View = view
        self.checks = checks
        self.results = results
        self.planning = planning  # the arm is not yet where the steps before will bring it
        self._least = least
        self._extra = dict(extra or {})
        self._memo: dict[str, object] = {}
        self._active: list[str] = []

    def evaluate(self, expression: Expression) -> Any:
        """The value of an expression here; raises ExpressionError or NotYetKnownError."""
        try:
            return evaluate(expression, self)
        except DatabaseError as error:
            raise ExpressionError(f"{expression.text!r}: {error}") from error

    def lookup(self, name: str) -> object:
        """The value of a name; raises ExpressionError or NotYetKnownError."""
        if name in self._extra:
            return self._extra[name]
        for source in (self.frame.chosen, self.frame.slots):
            if name in source:
                return self._thing(source[name])
        if name in self.frame.steps:
            return Thing(name, self._step_attribute)
        if name in self.request.constraints:
            return self.request.constraints[name]
        if name in self._memo:
            return self._memo[name]
        self._memo[name] = value = self._computed(name)
        return value

    def call(self, name: str, arguments: list[Any]) -> object:
        """Functions that read the world."""
        return getattr(self, f"_call_{name}")(*arguments)

    def text(self, template: str) -> str:
        """A text with slots in braces filled in; raises ExpressionError for an unknown one."""
        names: dict[str, object] = {str(k): v for k, v in (*self.frame.slots.items(), *self.frame.chosen.items())}
        if "{held}" in template:
            names["held"] = self.lookup("held")
        try:
            return template.format_map(names)
        except (KeyError, ValueError, IndexError) as error:
            raise ExpressionError(f"{template!r}: the command names no {error}") from None

    def _computed(self, name: str) -> object:
        if name == "direction" and self.request.task.direction is not None:
            return _SLOT_VALUES[name](self)  # the command's value comes before the skill's default
        for source in (self.frame.skill.plan, self.frame.skill.defaults):
            if name in source:
                return self._guarded(name, source[name])
        if name in _SLOT_VALUES:
            return _SLOT_VALUES[name](self)
        raise ExpressionError(f"the command has no {name.replace('_', ' ')}")

    def _guarded(self, name: str, expression: Expression) -> object:
        if name in self._active:
            raise ExpressionError(f"values need each other: {' -> '.join((*self._active, name))}")
        self._active.append(name)
        try:
            return self.evaluate(expression)
        finally:
            self._active.pop()

    def _thing(self, value: object) -> object:
        return Thing(value, self._entity_attribute) if isinstance(value, Entity) else value

    def _entity_attribute(self, entity: str, attribute: str) -> object:
        table = self.library.workcell.command_objects
        for skill in (self.frame.skill.name, *spliced(self.frame.skill)):
            for key in ((skill, entity), (skill, "default")):
                if attribute in table.get(key, {}):
                    return table[key][attribute]
        arm = self.library.workcell.arms.get(entity)
        if arm is not None and attribute in ("speed", "joint_speed", "load", "gripper"):
            value = getattr(arm, attribute)
            return Thing(value, self._entity_attribute) if attribute == "gripper" else value
        try:
            value = self.view.read(f"{entity}.{attribute}")
        except DatabaseError as error:
            raise ExpressionError(f"command-object table and database: {error}") from error
        return value

    def _step_attribute(self, name: str, attribute: str) -> object:
        if attribute == "target":
            step = self.frame.steps[name]
            if step.target is None:
                raise ExpressionError(f"step {name} has no target")
            return self._guarded(f"{name}.target", step.target)
        result = self.results.get(self.frame.prefix + name)
        if result is None or attribute not in result:
            raise NotYetKnownError(f"{name}.{attribute} is known when the step has run")
        return result[attribute]

    def _call_pose(self, entity: str) -> FloatArray:
        return self.view.pose(entity, self._least)

    def _call_relative(self, a: str, b: str) -> FloatArray:
        if self.planning and a in self.library.workcell.arms and self.view.read(f"{a}.holds") != b:
            raise NotYetKnownError(f"how {a} holds {b} is known when it does")
        return compose(inverse(self.view.pose(a)), self.view.pose(b))

    def _call_has(self, entity: str, attribute: str) -> bool:
        try:
            self._entity_attribute(entity, attribute)
        except ExpressionError:
            return False
        return True

    def _call_trusted(self, entity: str) -> bool:
        try:
            self.view.pose(entity)
        except DatabaseError:
            return False
        return True

    def _call_last(self, entity: str, attribute: str) -> float:
        """The last number known of an entity, however far it may be trusted; 0 when there never was one."""
        key = f"{entity}.{attribute}"
        value = self.view.item(key).value if self.view.has(key) else 0.0
        return value if isinstance(value, float) else 0.0

    def _call_reachable(self, arm: str, pose: FloatArray) -> bool:
        try:
            self.checks.kinematics.solve(arm, np.asarray(pose), self.joints(arm))
        except OutOfReachError:
            return False
        return True

    def joints(self, arm: str) -> FloatArray:
        """Joints of an arm as confirmed; raises DatabaseError."""
        return np.asarray(self.view.read(f"{arm}.joints"), dtype=np.float64)

    def maybe(self, name: str, default: float) -> float:
        """A number by name, or the default where it has no value."""
        try:
            value = self.lookup(name)
        except (ExpressionError, DatabaseError):
            return default
        return float(value) if isinstance(value, (int, float)) else default  # type: ignore[arg-type]


def spliced(skill: Skill) -> tuple[str, ...]:
    """Skills that are parts of this one; their rows of the command-object table serve it too."""
    return tuple(dict.fromkeys(step.use for steps in skill.scripts.values() for step in steps if step.use))


def _here(env: Environment) -> object:
    if env.planning:
        raise NotYetKnownError("where the arm is then is known when the steps before have run")
    return env.view.pose(str(env.lookup("arm")))


def _path(env: Environment) -> object:
    name = str(env.lookup("object"))
    return env.library.workcell.paths[name]


# Slots that are computed from the words of the command when an expression asks for them.
_SLOT_VALUES: dict[str, Any] = {
    "place_pose": lambda env: place_pose(env.request.task.place, env),
    "place_frame": lambda env: place_frame(env.request.task.place, env),
    "place_joints": lambda env: place_joints(env.request.task.place, env),
    "source_pose": lambda env: place_pose(env.request.task.source, env),
    "direction": lambda env: direction_vector(env.request.task.direction, env),
    "here": _here,
    "began": _here,  # of a step that is tried again: where it was tried first
    "path_poses": _path,
    "operator": lambda env: env.request.via_operator,
    "place_kind": lambda env: env.request.task.place.kind if env.request.task.place else "",
    "interpolate": lambda env: env.request.interpolate,
    "guarded": lambda env: env.request.guarded,
    "held": lambda env: str(env.lookup("arm").attribute("holds")),  # type: ignore[attr-defined]
    "place": lambda env: "",
    "object": lambda env: "",
    "axes": lambda env: (1.0,) * 6,
}
SLOT_NAMES = frozenset(_SLOT_VALUES)
