"""Which steps a clause of a command acts on: a clause that no step can keep is refused, by its name [JPL-RTC 3.1].

One row for each clause. Clauses that are the decision unit's own (timeout, retry, queued, report, as, note) act on the
command as a whole and have no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from telerobot_nodes.rtc.elaboration.elaborator import ElaborationError, PlannedStep, Script
from telerobot_nodes.rtc.elaboration.request import OTHER_ARM, Request
from telerobot_nodes.rtc.language import With
from telerobot_nodes.rtc.skills import Expression, Library, Skill, Space

UNTOUCHED = ("cartesian_guarded", "joint_guarded")  # executives of motions that expect no contact
COMPLIANT = "compliant_motion"
BY_HAND = "teleoperation"
_FEELS_NOTHING = ("sense", "tare")
_YIELDS = frozenset(("comply_vect", "sel_vect_fc"))

# Parameters that a clause sets, for the refusals of the executive.
_SETS = {
    "shared": ("sel_vect_tp", "tele_gains", "sel_vect_sp"),
    "stiffness": ("spring_gains", "sel_vect_sp"),
    "dither": ("dither_mag", "dither_wave"),
    "force": ("max_force_thres", "force_setpoints", "grip_force"),
    "guarded": ("max_force_thres",),
    "torque": ("max_torque_thres",),
    "unless": ("max_force_thres", "max_torque_thres"),
    "timeout": ("end_time",),
    "acceleration": ("acc_time", "time_vel_val"),
    "speed": ("time_vel_val", "max_tele_vel"),
    "by": ("grip_width",),
}


class _Row(NamedTuple):
    name: str
    acts_on: Callable[[PlannedStep, Request], bool]
    lacking: str  # what no step of the skill does
    every: bool = False  # all steps that move the arm, not one of them


def of_program(planned: PlannedStep, request: Request) -> bool:
    """An arm's step that the executive performs, not a person step by step."""
    return planned.kind.role == "arm" and not request.via_operator


def feels(planned: PlannedStep, request: Request) -> bool:
    """A step whose force and torque the executive watches."""
    return of_program(planned, request) and planned.kind.executive not in _FEELS_NOTHING


def moves(planned: PlannedStep, request: Request) -> bool:
    """A step along a path that the binder computes and checks."""
    return of_program(planned, request) and planned.kind.space is not Space.NONE and planned.step.target is not None


def by_hand(planned: PlannedStep, request: Request) -> bool:
    """A step in which the operator's device moves the arm."""
    return feels(planned, request) and (
        planned.kind.executive == BY_HAND or (request.shared is not None and planned.kind.executive == COMPLIANT)
    )


def law_of(planned: PlannedStep) -> str:
    """The law of control of a step: position, compliant, teleoperation."""
    yields = _YIELDS & {*planned.kind.parameters, *planned.step.parameters}
    return "compliant" if planned.kind.executive == COMPLIANT and yields else planned.kind.law


def _grips(planned: PlannedStep, request: Request) -> bool:
    return planned.kind.role == "gripper" and not request.via_operator and "force" in _names(planned)


def _names(planned: PlannedStep) -> set[str]:
    return {name for expression in planned.step.parameters.values() for name in expression.names}


def _compliant(planned: PlannedStep, request: Request) -> bool:
    return of_program(planned, request) and planned.kind.executive == COMPLIANT


def _mode(planned: PlannedStep, request: Request) -> bool:
    return not of_program(planned, request) or law_of(planned) == request.mode


_PATH = "a motion along a path"
_CONSTRAINTS: dict[str, _Row] = {
    "speed": _Row("speed", lambda p, r: moves(p, r) or by_hand(p, r), "a motion"),
    "turn_speed": _Row("speed", lambda p, r: moves(p, r) or by_hand(p, r), "a motion"),
    "acceleration": _Row("acceleration", moves, _PATH),
    "force": _Row("force", lambda p, r: feels(p, r) or _grips(p, r), "a motion whose force is measured"),
    "torque": _Row("torque", feels, "a motion whose torque is measured"),
    "clearance": _Row(
        "clearance", lambda p, r: moves(p, r) and p.kind.executive in UNTOUCHED, "a motion clear of objects"
    ),
    "stiffness": _Row("stiffness", _compliant, "compliant motion"),
    "payload": _Row("payload", moves, _PATH),
    "dither": _Row("dither", _compliant, "compliant motion"),
}
_KEPT = {
    "safe-work-range": _Row("safe-work-range", moves, _PATH),
    "avoid-neighbors": _CONSTRAINTS["clearance"]._replace(name="avoid-neighbors"),
    "pose-during-motion": _Row("pose-during-motion", moves, _PATH),
    "upright": _Row("upright", moves, _PATH),
}
_AVOIDED = _Row("avoid-task-region", moves, _PATH)
_REFLEX = _Row("unless", feels, "a motion of the arm")
_UNTIL = _Row("until", lambda p, r: feels(p, r) or p.kind.role == "program", "a motion or a wait")
_GUARDED = _Row("guarded", feels, "a motion whose force is measured")
_SHARED = _Row("shared", _compliant, "compliant motion")
_VIA = _Row("via", lambda p, r: moves(p, r) and p.step.via, "a motion past other places")
_OPERATOR = _Row("via operator-intervention", lambda p, r: p.kind.role in ("arm", "gripper"), "a step of an arm")
_TOOL = _Row("tool", lambda p, r: p.kind.role in ("arm", "gripper"), "a step of an arm")
_SLOTS = {  # the part of the sentence, and the names by which a skill uses it
    "by": ("has_amount", {"amount", "has_amount"}),
    "a direction": ("direction_of", {"direction"}),
    "along": ("axes", {"axes"}),
    "at": ("point", {"grasp_point"}),
}
_PLACE_NAMES = frozenset(("place", "place_pose", "place_frame", "place_joints", "place_kind"))


def check_clauses(script: Script, request: Request, library: Library) -> None:
    """Raise ElaborationError at the first clause or part of the sentence that no step of the script acts on."""
    skill = library.skills[request.skill]
    for row in _rows(request):
        if not any(row.acts_on(planned, request) for planned in script.steps):
            raise ElaborationError(f"{row.name}: {skill.name} has no step for it; allowed: with {row.lacking}")
    _check_slots(skill, request, library)
    _check_performers(script, skill, request)
    _check_spaces(script, request)
    if request.mode and request.mode != "compliant" and not all(_mode(p, request) for p in script.steps):
        raise ElaborationError(f"mode: {skill.name} is compliant in a step; allowed: compliant")
    _check_hand(script, request)
    _check_person(script, request)
    known = {stop.outcome for planned in script.steps for stop in planned.kind.stops if stop.action == "stop"}
    for outcome in sorted(request.accept - known):
        raise ElaborationError(f"accept: {outcome!r} is no result of {skill.name}; allowed: {', '.join(sorted(known))}")


def named(field: str, request: Request) -> str:
    """The clause of the request that set a parameter of the executive, as `clause: `; empty when none did."""
    given = {*request.constraints, *(name for name, on in _flags(request) if on)}
    field = field.partition("[")[0].partition(" ")[0]
    return next((f"{clause}: " for clause, fields in _SETS.items() if field in fields and clause in given), "")


def _flags(request: Request) -> tuple[tuple[str, bool], ...]:
    return (
        ("shared", request.shared is not None),
        ("guarded", request.guarded),
        ("unless", bool(request.reflexes)),
        ("timeout", bool(request.timeout)),
        ("by", bool(request.slots.get("has_amount"))),
    )


def _rows(request: Request) -> Iterator[_Row]:
    yield from (_CONSTRAINTS[name] for name in request.constraints if name in _CONSTRAINTS)
    yield from (_KEPT[name] for name in request.kept)
    for row, given in (
        (_AVOIDED, request.avoided),
        (_REFLEX, request.reflexes),
        (_UNTIL, request.until),
        (_GUARDED, request.guarded),
        (_SHARED, request.shared),
        (_VIA, request.via),
        (_OPERATOR, request.via_operator),
        (_TOOL, request.tool),
    ):
        if given:
            yield row
    if request.mode == "compliant":
        yield _Row("mode", lambda p, r: of_program(p, r) and law_of(p) == "compliant", "compliant motion")


def _check_slots(skill: Skill, request: Request, library: Library) -> None:
    used = names_of(skill, library)
    for part, (slot, names) in _SLOTS.items():
        if request.slots.get(slot) and not used & names:
            raise ElaborationError(f"{part}: {skill.name} does not use it")
    task = request.task
    if task.place is not None and task.target is not None and not used & _PLACE_NAMES:
        raise ElaborationError(f"{task.relation or 'place'}: {skill.name} does not use a place")
    if request.slots["frame_name"] != "world" and (task.direction is None or task.direction.kind == "toward"):
        raise ElaborationError(f"frame: {skill.name} has no direction along an axis here")


def names_of(skill: Skill, library: Library) -> set[str]:
    """Every name in the expressions of a skill and of those spliced into it."""
    found: set[str] = set()
    steps = [
        step for steps in (*skill.scripts.values(), *(r.steps for r in skill.recoveries.values())) for step in steps
    ]
    parts = [
        *skill.plan.values(),
        *skill.defaults.values(),
        *skill.candidates.values(),
        *(branch.when for branch in skill.choose),
        *(demand.condition for demand in (*skill.requires, *skill.tests)),
        *(e for s in steps for e in (s.target, s.when, s.duration, *s.parameters.values(), *s.arguments.values())),
    ]
    found |= set(skill.candidates)
    for part in parts:
        found |= part.names if isinstance(part, Expression) else frozenset()
    for step in steps:
        found |= names_of(library.skills[step.use], library) if step.use else set()
    return found


def _check_performers(script: Script, skill: Skill, request: Request) -> None:
    names = [name.text for clause in request.task.clauses if isinstance(clause, With) for name in clause.names]
    roles = {planned.kind.role for planned in script.steps}
    roles |= {planned.kind.role for _, steps in script.recoveries.values() for planned in steps}
    arms = [str(arm) for arm in request.slots.get("arms", ())]  # type: ignore[attr-defined]
    used = arms[: 2 if OTHER_ARM in skill.uses else 1] + ([str(request.slots["camera"])] if "camera" in roles else [])
    for name in names:
        if name not in used:
            raise ElaborationError(f"with: {skill.name} has nothing for {name} to do; it is done by {', '.join(used)}")


def _check_spaces(script: Script, request: Request) -> None:
    for planned in script.steps:
        if request.interpolate and moves(planned, request) and planned.kind.space.value != request.interpolate:
            space = planned.kind.space.value
            raise ElaborationError(f"interpolate: step {planned.name} is straight in {space} space, no other")
    if request.interpolate and not any(moves(planned, request) for planned in script.steps):
        raise ElaborationError(f"interpolate: {request.skill} has no step for it; allowed: with {_PATH}")


def _check_person(script: Script, request: Request) -> None:
    """What only the arm's own motion measures is not known of a step that a person performs."""
    for planned in script.steps if request.via_operator else ():
        values = [rule.value for rule in planned.step.writes if rule.value is not None]
        if any(("measured", "track") in value.attributes for value in values):
            raise ElaborationError(
                f"via operator-intervention: step {planned.name} enters the path that the arm has measured, and a "
                "person's result has none"
            )


def _check_hand(script: Script, request: Request) -> None:
    """What only a computed path can keep is not kept while a hand moves the arm."""
    kept = [*(name for name in request.kept if name in _KEPT), *(["avoid-task-region"] if request.avoided else [])]
    if "clearance" in request.constraints:
        kept.append("clearance")
    for planned in script.steps:
        if kept and by_hand(planned, request):
            raise ElaborationError(f"{kept[0]}: the operator's hand moves the arm in step {planned.name}")
