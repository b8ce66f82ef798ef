"""The check of a macro before anything is sent: every step with the numbers it would have now [US5231693]."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros.binding import BoundStep, steps_of
from telerobot_nodes.macros.bound_values import Context, expressions_of
from telerobot_nodes.macros.macro import CONTEXT, Macro, MacroStep
from telerobot_nodes.macros.macro_files import MacroFolder
from telerobot_nodes.motion.primitives import PrimitiveRequest, check_request

ABSOLUTE = ("tr_tn_dest", "joint_dest", "via_points")
RELATIVE = ("tr_rel_dest",)
HERE = frozenset(("tool", "arm"))  # a destination computed from them is relative


def motion_of(values: Mapping[str, object]) -> str:
    """The motion of a macro whose first step has these values: absolute when they name a place of their own."""
    return "absolute" if set(values) & set(ABSOLUTE) else "relative"


def check_macro(
    folder: MacroFolder, name: str, robot: RobotModel, arguments: Mapping[str, object], context: Context | None = None
) -> tuple[BoundStep, ...]:
    """The steps as `robot` would get them, each checked as the robot does; None: of an arm at home, anything seen.

    Poses out of reach are found when a step begins. Raises InvalidValueError, NoMacroError, ParameterFileError.
    """
    moving: set[str] = set()
    for macro in folder.closure(name):  # those that are used come before those that use them
        found = list(_destinations(folder, macro, moving))
        _check_motion(macro, found)
        moving |= {macro.name} if found else set()
    known = context or _sample(robot)
    steps = tuple(steps_of(folder, name, arguments, lambda: known))
    for number, step in enumerate(steps, 1):
        if step.step.primitive:
            _check_primitive(robot, step, number)
    return steps


def check_whole(folder: MacroFolder, name: str) -> None:
    """Refuse a macro that cannot be sent as one sequence: one of a text, or of what is only known later.

    Raises ParameterFileError at the line of the step, NoMacroError.
    """
    for step in (step for macro in folder.closure(name) for step in macro.steps):
        if step.text:
            step.source.reject("text", "allowed in a sequence that is sent as one: primitives, and macros of them")
        for key, value in step.values.items():
            late = {word for expression in expressions_of(value) for word in expression.names} & set(CONTEXT)
            if late:
                names = ", ".join(sorted(late))
                step.reject(key, f"{names}: allowed in a sequence that is sent as one: the macro's parameters")


def _check_primitive(robot: RobotModel, step: BoundStep, number: int) -> None:
    try:
        check_request(robot, PrimitiveRequest(number, step.step.primitive, step.values))
    except InvalidValueError as error:
        step.reject(error)


def _check_motion(macro: Macro, found: Sequence[tuple[MacroStep, bool]]) -> None:
    """Refuse a relative macro with an absolute step, and an absolute one that begins with a relative step."""
    if macro.motion == "absolute" and found and not found[0][1]:
        found[0][0].reject("step", f"{macro.name} is absolute; its first motion has a {' or '.join(ABSOLUTE)}")
    for step, absolute in found:
        if macro.motion == "relative" and absolute:
            step.reject("step", f"{macro.name} is relative; allowed: {RELATIVE[0]}, or values of tool, arm")


def _destinations(folder: MacroFolder, macro: Macro, moving: Collection[str]) -> Iterator[tuple[MacroStep, bool]]:
    """Steps that move somewhere, and whether to a place that does not depend on where the arm is.

    `moving`: names of the macros, of those it uses, that move somewhere.
    """
    for step in macro.steps:
        if step.macro:
            if step.macro in moving:
                yield step, folder.get(step.macro).motion == "absolute"
        elif key := next((key for key in (*ABSOLUTE, *RELATIVE) if key in step.values), None):
            names = {name for expression in expressions_of(step.values[key]) for name in expression.names}
            yield step, key in ABSOLUTE and not names & HERE


class _AnyObject(Mapping[str, Any]):
    """A scene in which every object is where the tool is: what is asked for is not known before it is sent."""

    def __init__(self, pose: Any) -> None:
        self._found = {"pose": pose}

    def __getitem__(self, name: str) -> Any:
        return self._found

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1


def _sample(robot: RobotModel) -> Context:
    pose = pose_from_se3(robot.forward(robot.home))
    return Context(pose, robot.home, _AnyObject(pose), tuple(pose.tolist()))
