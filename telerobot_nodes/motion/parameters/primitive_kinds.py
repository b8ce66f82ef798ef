"""The primitives of the executive, as a table [US5231693]: presets, required, allowed and own parameters of each.

What belongs here: numbers and names. Every primitive is a parameter set of the same control law [GCMSF], some with
a few parameters of their own. What must never enter: computation of motion.
"""

# ruff: noqa: RUF009

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters.parameter_fields import Group, Vector, choice, number, pose, vector
from telerobot_nodes.motion.parameters.parameters import FIELDS, GcmsfParameters, parameters_from

MOST_POINTS = 32  # of the tool that a guard looks at
SEPARATE = ("tr_tn_dest", "tr_rel_dest", "joint_dest", "via_points")  # at most one of them


@dataclasses.dataclass(frozen=True)
class Relative(Group):
    """Relative motion: the destination is computed when the primitive begins."""

    tr_rel_dest: Vector = pose("", "NOM at the end, seen from NOM where it begins; empty: none", empty=True)


@dataclasses.dataclass(frozen=True)
class Touch(Group):
    """Move to touch. The forward thresholds are `max_force_thres`, `max_torque_thres`, the speed `time_vel_val`."""

    back_off: str = choice("", "reverse", ("reverse", "safety", "return"), "until when to back off after the touch")
    reverse_force_thres: float = number("", 1.0, "N", 0.0, 1e4, "reverse: back off until below; 0: not looked at")
    reverse_torque_thres: float = number("", 0.0, "N m", 0.0, 1e4, "reverse: the same of torque")
    safety_force_thres: float = number("", 40.0, "N", 0.0, 1e4, "backing off stops above, once it was below; 0: none")
    safety_torque_thres: float = number("", 0.0, "N m", 0.0, 1e4, "the same of torque")
    reverse_vel: float = number("", 0.01, "m/s and rad/s", 1e-4, 10.0, "speed of backing off")


@dataclasses.dataclass(frozen=True)
class Grasp(Group):
    """Grasps. Without a width a compliant grasp closes until it holds something."""

    grip_width: float = number("", 0.0, "m", 0.0, 1.0, "opening wanted")
    grip_force: float = number("", 20.0, "N", 0.0, 1e3, "most force between the fingers; 0: the gripper's own most")
    grip_speed: float = number("", 0.05, "m/s", 1e-3, 1.0, "of the opening")
    grip_tolerance: float = number("", 0.002, "m", 1e-5, 0.1, "of the width; a grasp thinner than this is empty")
    grip_time: float = number("", 0.3, "s", 0.02, 10.0, "fingers that rest as long are at rest")


@dataclasses.dataclass(frozen=True)
class Path(Group):
    """A path of the joints, at rest at each via point, timed inside velocity, acceleration and jerk limits."""

    via_points: Vector = vector("", (), "rad", -100.0, 100.0, "joints of the points after the start, flat", empty=True)
    path_speed: float = number("", 0.5, "-", 1e-3, 1.0, "share of the joints' velocity limits")


@dataclasses.dataclass(frozen=True)
class Guard(Group):
    """A plane and a box in WORLD that the tool must not leave, whatever moves it."""

    guard_plane: Vector = vector(
        "", (), "m, -", -100.0, 100.0, "point, normal to the side of the tool, in WORLD; empty: none", empty=True
    )
    guard_box: Vector = vector(
        "", (), "m", -100.0, 100.0, "lower, upper corner in WORLD of the box around the tool; empty: none", empty=True
    )
    guard_band: float = number("", 0.01, "m", 0.0, 10.0, "distance kept from plane and box")
    guard_points: Vector = vector(
        "", (), "m", -10.0, 10.0, "points of what the hand holds in NOM, x y z of each; the hand is known", empty=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("guard_plane", "guard_box"):
            if getattr(self, name) and len(getattr(self, name)) != 6:
                raise InvalidValueError(f"{name} (length)", len(getattr(self, name)), "allowed: 6 values, or none")
        if self.guard_plane and not sum(x * x for x in self.guard_plane[3:]) > 0.0:
            raise InvalidValueError("guard_plane[3:]", self.guard_plane[3:], "allowed: a normal that is not zero")
        for i, (low, high) in enumerate(zip(self.guard_box[:3], self.guard_box[3:], strict=True)):
            if not low < high:
                raise InvalidValueError(f"guard_box[{i + 3}]", high, f"allowed: above {low:g}, the lower corner")
        if len(self.guard_points) % 3 or len(self.guard_points) > 3 * MOST_POINTS:
            allowed = f"allowed: x y z of at most {MOST_POINTS} points"
            raise InvalidValueError("guard_points (length)", len(self.guard_points), allowed)


@dataclasses.dataclass(frozen=True)
class Reflect(Group):
    """Force back to the operator's hand, of a primitive that the hand moves."""

    reflect_gain: float = number("", 1.0, "-", 0.0, 100.0, "force at the hand per force at the tool")


OWN: dict[str, type[Group]] = {
    "relative": Relative,
    "touch": Touch,
    "grasp": Grasp,
    "path": Path,
    "guard": Guard,
    "reflect": Reflect,
}
OWN_OF = {entry.name: group for group, cls in OWN.items() for entry in dataclasses.fields(cls)}  # type: ignore[arg-type]

_FELT = ("tr_sense", "max_force_thres", "max_torque_thres", "frozen_time")
_PLAIN = ("system", "joints", "teleoperation", "fusion")


@dataclasses.dataclass(frozen=True)
class PrimitiveKind:
    """One primitive. `groups` and `fields` of the law are allowed; one parameter of `needs` is required."""

    name: str
    doc: str
    groups: tuple[str, ...]
    fields: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()  # at least one of them above 0
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    gripper: bool = False

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """Names of all allowed parameters."""
        law = [n for n, row in FIELDS.items() if row.group in self.groups or n in self.fields]
        return (*law, *(name for name, group in OWN_OF.items() if group in self.own))


_WHOLE = tuple(dict.fromkeys(row.group for row in FIELDS.values()))
_PATH = ("tr_tn_dest", "tr_nom", "time_vel_sel", "time_vel_val", "acc_time", "max_acceleration")

_KINDS = (
    PrimitiveKind(
        "cartesian_guarded",
        "Straight motion of NOM until the destination or a force or torque threshold.",
        _PLAIN,
        (*_PATH, *_FELT, "end_time"),
        ("relative", "guard", "reflect"),
        needs=("tr_tn_dest", "tr_rel_dest"),
        defaults={"max_force_thres": 10.0, "max_torque_thres": 3.0},
    ),
    PrimitiveKind(
        "joint_guarded",
        "The same, interpolated in joint space to joint angles.",
        ("system", "joints"),
        ("joint_dest", *_PATH[2:], *_FELT),
        ("guard",),
        needs=("joint_dest",),
        defaults={"max_force_thres": 10.0, "max_torque_thres": 3.0, "time_vel_val": 0.3},
    ),
    PrimitiveKind(
        "joint_path",
        "A collision-free path of the joints, planned before; force and torque thresholds stop it.",
        ("system", "joints"),
        _FELT,
        ("path", "guard"),
        needs=("via_points",),
        defaults={"max_force_thres": 20.0, "max_torque_thres": 5.0},
    ),
    PrimitiveKind(
        "move_to_touch",
        "Straight motion until a force or torque threshold, then backing off.",
        ("system", "joints"),
        (*_PATH, *_FELT),
        ("relative", "touch", "guard"),
        needs=("tr_tn_dest", "tr_rel_dest"),
        positive=("max_force_thres", "max_torque_thres"),
        defaults={"max_force_thres": 5.0, "max_torque_thres": 0.0, "time_vel_val": 0.01, "acc_time": 0.1},
    ),
    PrimitiveKind(
        "gcm",
        "Generalized compliant motion: every source of motion, monitor and ending condition of the law.",
        _WHOLE,
        (),
        ("relative", "guard", "reflect"),
    ),
    PrimitiveKind(
        "compliant_grasp",
        "Closes the gripper while the arm yields to contact forces.",
        ("system", "joints", "fusion", "force"),
        ("tr_nom",),
        ("grasp", "guard"),
        defaults={
            "comply_vect": (True,) * 6,
            "force_gains": (5e-4, 5e-4, 5e-4, 2e-2, 2e-2, 2e-2),
            "end_time": 3600.0,
        },
        gripper=True,
    ),
    PrimitiveKind(
        "free_grasp",
        "Opens or closes the gripper to a width; the arm holds still.",
        ("system", "joints"),
        _FELT,
        ("grasp",),
        needs=("grip_width",),
        defaults={"end_time": 3600.0, "grip_speed": 0.1},
        gripper=True,
    ),
    PrimitiveKind(
        "force_reflecting_teleoperation",
        "The operator's hand moves the tool and feels what it touches; thresholds, guard band and limits hold.",
        (*_PLAIN, "springs", "force"),
        ("tr_nom", "end_time"),
        ("guard", "reflect"),
        defaults={"sel_vect_tp": (True,) * 6, "end_time": 3600.0, "max_force_thres": 30.0, "max_torque_thres": 6.0},
    ),
)
KINDS: Mapping[str, PrimitiveKind] = MappingProxyType({kind.name: kind for kind in _KINDS})
ALIASES = {"compliant_motion": "gcm", "teleoperation": "force_reflecting_teleoperation"}


@dataclasses.dataclass(frozen=True)
class KindValues:
    """The whole set of one primitive: parameters of the law, and groups of its own."""

    kind: PrimitiveKind
    law: GcmsfParameters
    relative: Relative
    touch: Touch
    grasp: Grasp
    path: Path
    guard: Guard
    reflect: Reflect


def kind_named(name: str) -> PrimitiveKind:
    """The primitive of this name. Raises InvalidValueError."""
    kind = KINDS.get(ALIASES.get(name, name))
    if kind is None:
        raise InvalidValueError("name", name, f"allowed: {', '.join((*KINDS, *ALIASES))}")
    return kind


def values_of(name: str, values: Mapping[str, Any]) -> KindValues:
    """The checked set of the primitive `name` with these values, and its defaults for the rest.

    Raises InvalidValueError naming field, value and what is allowed.
    """
    kind = kind_named(name)
    for field in values:
        if field not in kind.allowed:
            raise InvalidValueError(field, values[field], f"allowed for {kind.name}: {', '.join(kind.allowed)}")
    given = [field for field in SEPARATE if _is_given(values.get(field))]
    if len(given) > 1:
        raise InvalidValueError(given[1], values[given[1]], f"allowed: none, when {given[0]} is given")
    if kind.needs and not any(_is_given(values.get(field)) for field in kind.needs):
        raise InvalidValueError(" or ".join(kind.needs), None, f"required by {kind.name}")
    whole = {**kind.defaults, **values}
    own = {
        group: cls(**{field: value for field, value in whole.items() if OWN_OF.get(field) == group})
        for group, cls in OWN.items()
    }
    law = parameters_from({field: value for field, value in whole.items() if field in FIELDS})
    if kind.positive and not any(law.flat()[field] > 0.0 for field in kind.positive):
        raise InvalidValueError(kind.positive[0], 0.0, f"allowed: above 0, where {kind.positive[1]} is 0")
    return KindValues(kind, law, **own)  # type: ignore[arg-type]


def _is_given(value: object) -> bool:
    """True for a given value; an empty list counts as none."""
    return value is not None and not (isinstance(value, (list, tuple)) and len(value) == 0)


def markdown_kinds() -> str:
    """The table of primitives for the docs, and that of their own parameters."""
    lines = ["| primitive | what it does | needs | presets |", "|---|---|---|---|"]
    for kind in KINDS.values():
        presets = ", ".join(f"`{name}` {_short(value)}" for name, value in kind.defaults.items())
        needs = " or ".join(f"`{name}`" for name in kind.needs) or "-"
        lines.append(f"| `{kind.name}` | {kind.doc} | {needs} | {presets or '-'} |")
    lines += ["", "| of | field | unit | default | meaning |", "|---|---|---|---|---|"]
    for cls in OWN.values():
        users = ", ".join(f"`{kind.name}`" for kind in KINDS.values() if cls in _own(kind))
        for entry in dataclasses.fields(cls):  # type: ignore[arg-type]
            info = entry.metadata["parameter"]
            default = "none" if entry.default == () else _short(entry.default)
            lines.append(f"| {users} | `{entry.name}` | {info.unit or '-'} | {default} | {info.doc} |")
    return "\n".join(lines) + "\n"


def _own(kind: PrimitiveKind) -> list[type[Group]]:
    return [OWN[group] for group in kind.own]


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(_short(item) for item in value)
    return str(int(value)) if isinstance(value, bool) else str(value)
