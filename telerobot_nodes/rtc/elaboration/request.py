"""From a checked task to a request: skill, performer, slots, constraints, resources [JPL-RTC section 5].

The last part of the command parser; the other workers need only the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.rtc.elaboration.measurable import check_measured
from telerobot_nodes.rtc.language import (
    Accept,
    Action,
    CommandError,
    Condition,
    Guarded,
    Maintain,
    Name,
    Place,
    Quantity,
    Reflex,
    Setting,
    Shared,
    Task,
    Until,
    ViaOperator,
    ViaPlaces,
    With,
    check_amount,
    print_action,
    print_condition,
    print_statement,
)
from telerobot_nodes.rtc.skills import Library, Skill, Workcell
from telerobot_nodes.rtc.world import WORLD, DatabaseError, Validity, View

REPORT_LEAST = 0.05  # [s] between two reports of one command
HEADINGS = {
    "up": (0.0, 0.0, 1.0),
    "down": (0.0, 0.0, -1.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "forward": (1.0, 0.0, 0.0),
    "backward": (-1.0, 0.0, 0.0),
}
AXES = ("x", "y", "z", "rx", "ry", "rz")
OTHER_ARM = "other_arm"  # slot of a skill that two arms do together


class Entity(str):
    """A slot's value that names an entity."""

    __slots__ = ()


@dataclass(frozen=True)
class Rule:
    """A reflex: a condition that is watched for the arm, and its action."""

    condition: Condition
    action: Action

    @property
    def text(self) -> str:
        """The condition as written."""
        return print_condition(self.condition)

    @property
    def does(self) -> str:
        """The action as written."""
        return print_action(self.action)


@dataclass(frozen=True)
class Request:
    """A command understood: skill, slots, constraints, resources; the same for a dry run."""

    task: Task
    text: str
    skill: str
    slots: Mapping[str, object]
    constraints: Mapping[str, float]  # SI
    kept: Mapping[str, str] = field(default_factory=dict)  # constraints without number: region names or ""
    avoided: tuple[str, ...] = ()  # regions
    resources: frozenset[str] = frozenset()
    wait: bool | None = None
    guarded: bool = False
    reflexes: tuple[Rule, ...] = ()
    until: Condition | None = None
    accept: frozenset[str] = frozenset()
    shared: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    via_operator: bool = False
    via: tuple[Place, ...] = ()
    interpolate: str = ""
    mode: str = ""
    tool: str = ""
    retries: int = 0
    timeout: float = 0.0  # [s]; 0: none
    report_every: float = 0.0  # [s]
    label: str = ""
    notes: tuple[str, ...] = ()
    agent: str = "program"  # of the workcell, for which the sender acts


def make_request(task: Task, library: Library, view: View) -> Request:
    """The request of a task whose names were checked; raises CommandError."""
    skill = _skill(task, library)
    if task.amount is not None:
        if not skill.amounts:
            raise CommandError(f"{skill.name} takes no amount", task.amount.at)
        check_amount(task.amount, skill.amounts)
    settings = {c.kind: c.value for c in task.clauses if isinstance(c, Setting) and c.kind != "note"}
    check_measured(task, skill.performer)
    _check_report(task)
    slots = _slots(task, skill, library, view)
    constraints, kept, avoided = _constraints(task)
    for name in ("payload", "dither"):
        if isinstance(quantity := settings.get(name), Quantity):
            constraints[name] = quantity.si
    return Request(
        task=task,
        text=print_statement(task),
        skill=skill.name,
        slots=slots,
        constraints=constraints,
        kept=kept,
        avoided=avoided,
        resources=_resources(skill, slots, library),
        wait={"queued": True, "no-wait": False}.get(str(settings.get("busy", ""))),
        guarded=task.option == "guarded" or any(isinstance(c, Guarded) for c in task.clauses),
        reflexes=tuple(Rule(c.condition, c.action) for c in task.clauses if isinstance(c, Reflex)),
        until=next((c.condition for c in task.clauses if isinstance(c, Until)), None),
        accept=frozenset(r for c in task.clauses if isinstance(c, Accept) for r in c.results),
        shared=next(((c.operator, c.program) for c in task.clauses if isinstance(c, Shared)), None),
        via_operator=any(isinstance(c, ViaOperator) for c in task.clauses),
        via=next((c.places for c in task.clauses if isinstance(c, ViaPlaces)), ()),
        interpolate=str(settings.get("interpolate", "")),
        mode=str(settings.get("mode", "")),
        tool=_text(settings.get("tool")),
        retries=int(_si(settings.get("retry"))),
        timeout=_si(settings.get("timeout")),
        report_every=_si(settings.get("report")),
        label=_text(settings.get("as")),
        notes=tuple(str(c.value) for c in task.clauses if isinstance(c, Setting) and c.kind == "note"),
    )


def _check_report(task: Task) -> None:
    """Raise CommandError where reports are asked for more often than anybody reads them."""
    for clause in task.clauses:
        if isinstance(clause, Setting) and clause.kind == "report" and _si(clause.value) < REPORT_LEAST:
            raise CommandError(f"report every {_si(clause.value):g} s: allowed: {REPORT_LEAST:g} s or more", clause.at)


def _si(value: object) -> float:
    return value.si if isinstance(value, Quantity) else 0.0


def _text(value: object) -> str:
    return value.text if isinstance(value, Name) else ""


def _skill(task: Task, library: Library) -> Skill:
    if task.verb == "perform" and task.target is not None:
        skill = library.skills.get(task.target.text)
    else:
        skill = library.skill_for(task.verb)
    if skill is None:
        raise CommandError(f"no skill file is for the verb {task.verb!r}", task.at)
    return skill


def _slots(task: Task, skill: Skill, library: Library, view: View) -> dict[str, object]:
    cell = library.workcell
    slots: dict[str, object] = {"option": task.option, "relation": task.relation}
    frame = next((c.value for c in task.clauses if isinstance(c, Setting) and c.kind == "frame"), None)
    slots["frame_name"] = _text(frame) or WORLD
    slots["point"] = task.point.text if task.point else ""
    performers = [name.text for clause in task.clauses if isinstance(clause, With) for name in clause.names]
    target = task.target.text if task.target and task.verb != "perform" else ""
    place = task.place.name.text if task.place and task.place.name and task.place.kind != "pose" else ""
    if target and target not in cell.arms:
        slots["object"] = Entity(target)
        if target in cell.paths:
            slots["path"] = Entity(target)
    elif task.verb in ("approach", "inspect", "look") and place:
        slots["object"] = Entity(place)
    if place:
        slots["place"] = Entity(place)
    if skill.performer == "arm":
        arm = _arm(task, target, performers, skill.uses, library, view)
        slots["arm"] = Entity(arm)
        if gripper := cell.arms[arm].gripper:
            slots["gripper"] = Entity(gripper)
        elif "gripper" in skill.uses:
            raise CommandError(f"{arm} has no gripper, and {task.verb} needs one", task.at)
        slots["arms"] = tuple(p for p in performers if p in cell.arms) or (arm,)
        slots |= _second_arm(task, arm, skill, cell)
    cameras = [name for name in performers if name in cell.cameras] or list(cell.cameras)[:1]
    if cameras:
        slots["camera"] = Entity(cameras[0])
    slots["has_source"] = task.source is not None
    slots["has_amount"] = task.amount is not None
    if task.amount is not None:
        slots["amount"] = task.amount.si
    slots |= {amount.name: amount.quantity.si for amount in task.amounts}
    if task.direction is not None:
        slots["direction_of"] = task.direction
    if task.axes:
        slots["axes"] = tuple(1.0 if axis in task.axes else 0.0 for axis in AXES)
    return slots


def _second_arm(task: Task, arm: str, skill: Skill, cell: Workcell) -> dict[str, object]:
    """The other arm of a skill for two, and its gripper. Raises CommandError where the command names none."""
    if OTHER_ARM not in skill.uses:
        return {}
    named = [name.text for clause in task.clauses if isinstance(clause, With) for name in clause.names]
    others = [name for name in dict.fromkeys(named) if name in cell.arms and name != arm]
    if len(others) != 1:
        raise CommandError(f"{skill.name} is done by two arms; name both: with {arm} and ARM", task.at)
    gripper = cell.arms[others[0]].gripper
    if not gripper and "other_gripper" in skill.uses:
        raise CommandError(f"{others[0]} has no gripper, and {task.verb} needs one", task.at)
    slots: dict[str, object] = {OTHER_ARM: Entity(others[0])}
    return slots | ({"other_gripper": Entity(gripper)} if gripper else {})


def _arm(task: Task, target: str, performers: list[str], uses: tuple[str, ...], library: Library, view: View) -> str:
    """The arm named; else the one that holds the object; else the nearest with a known pose; else the first.

    An arm without gripper only where none is used.
    """
    arms = library.workcell.arms
    named = [name for name in performers if name in arms] + [target] * (target in arms)
    if named:
        return named[0]
    others = [name for name in performers if name not in library.workcell.cameras]
    if others:
        raise CommandError(f"{others[0]!r} is no arm and {task.verb} needs one", task.at)
    if not arms:
        raise CommandError("the workcell has no arm", task.at)
    holder = next((arm for arm in arms if target and _value(view, f"{arm}.holds") == target), None)
    fit = [name for name, arm in arms.items() if arm.gripper or "gripper" not in uses] or list(arms)
    return holder or min(fit, key=lambda arm: _distance(view, arm, target))


def _value(view: View, key: str) -> object:
    return view.read(key, Validity.SUSPECT) if view.has(key) else None


def _distance(view: View, arm: str, target: str) -> float:
    if not view.has(f"{arm}.pose"):
        return float("inf")
    try:
        return float(np.linalg.norm(view.pose(arm)[:3] - view.pose(target or WORLD, Validity.SUSPECT)[:3]))
    except DatabaseError:
        return float("inf")


def _constraints(task: Task) -> tuple[dict[str, float], dict[str, str], tuple[str, ...]]:
    numbers: dict[str, float] = {}
    kept: dict[str, str] = {}
    avoided = []
    for clause in task.clauses:
        for item in clause.constraints if isinstance(clause, Maintain) else ():
            if item.kind == "avoid-task-region" and item.name is not None:
                avoided.append(item.name.text)
            elif item.kind == "avoid-neighbors":
                kept[item.kind] = ""
                if item.quantity is not None:
                    numbers["clearance"] = max(numbers.get("clearance", 0.0), item.quantity.si)
            elif item.kind == "speed" and item.quantity is not None and item.quantity.dimension == "angular speed":
                numbers["turn_speed"] = item.quantity.si
            elif item.quantity is not None:
                numbers[item.kind] = max(item.quantity.si, numbers.get(item.kind, 0.0))
            else:
                kept[item.kind] = item.name.text if item.name else ""
    return numbers, kept, tuple(avoided)


def _resources(skill: Skill, slots: Mapping[str, object], library: Library) -> frozenset[str]:
    """The skill's own and those of every skill spliced into it; objects that are parts of others with them."""
    slots_used = set(skill.uses)
    names = {str(slots[slot]) for slot in slots_used if slot in slots and str(slots[slot])}
    if "arm" in slots_used:
        names |= set(slots.get("arms", ()))  # type: ignore[call-overload]
    known = {resource.name for resource in library.workcell.resources}
    return frozenset(names & known)
