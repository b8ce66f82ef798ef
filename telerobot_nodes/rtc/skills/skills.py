"""Skills as data: the contents of the files of `config/rtc` as frozen values [JPL-RTC section 4 and figure 4].

These classes are the schema of the files; a `Key` names a field that has another name there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal, TypeAlias

from telerobot_nodes.core.config import OWN_KEY, SOURCE, FileMapping, Key
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.language import Slots, Vocabulary
from telerobot_nodes.rtc.skills.expressions import Expression
from telerobot_nodes.rtc.skills.primitives import Space, Stop
from telerobot_nodes.rtc.skills.resources import Resource
from telerobot_nodes.rtc.world import Item, Validity


class Verdict(Enum):
    """What the analysis unit recommends."""

    CONTINUE = "continue"
    RECOVER = "recover"  # run the next foreseen recovery of the step; JPL: trim
    ABORT = "abort"  # end this command
    GLOBAL = "global"  # end every command
    REACT = "react"  # execute the reflex's action, then end this command or go on


class Then(Enum):
    """How a recovery goes on when its steps have succeeded."""

    RETRY = "retry"  # the step that failed, again
    RESTART = "restart"  # the script from its first step, or from a named one
    CONTINUE = "continue"  # with the step after the one that failed


_NAMESPACE = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
AmountKind: TypeAlias = Literal["", "length", "angle", "mass", "time", "count"]
Role: TypeAlias = Literal["arm", "gripper", "camera", "sensor", "authority", "operator", "program"]


@dataclass(frozen=True)
class PrimitiveSpec:
    """An entry of `primitives.yaml`: everything about a primitive that is not a number of the moment."""

    name: Annotated[str, OWN_KEY]
    doc: str
    role: Role
    executive: str  # one of EXECUTIVES
    success: str  # the outcome it is sent for
    timeout: Annotated[float, Key(low=0.1, high=3600.0)]  # [s]
    law: Literal["position", "compliant", "teleoperation"] = "position"
    space: Space = Space.NONE
    stops: tuple[Stop, ...] = ()
    parameters: Mapping[str, Expression] = field(default_factory=dict)
    predicts: Mapping[str, Expression] = field(default_factory=dict)  # readings a dry run expects
    operator: str = ""  # text of the operator's task
    moves: bool = False  # the arm ends at the target
    joints: bool = False  # the target is joints, not a pose
    speed: Annotated[float, Key(low=0.001, high=5.0)] = 5.0  # [m/s] upper limit, whatever the command asks for
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)


@dataclass(frozen=True)
class WriteRule:
    """A database write of a table row; `key` holds slots in braces."""

    key: Annotated[str, OWN_KEY]
    value: Expression | None = None
    validity: Validity = Validity.VALID
    frame: str = ""


@dataclass(frozen=True)
class Row:
    """One row of an evaluation table, for an outcome; the first whose condition holds is taken."""

    verdict: Verdict
    when: Expression | None = None
    note: str = ""
    writes: tuple[WriteRule, ...] = ()


@dataclass(frozen=True)
class Table:
    """Evaluation table: outcome to rows, the last of each unconditional."""

    name: str
    rows: Mapping[str, tuple[Row, ...]]
    source: FileMapping = field(default_factory=FileMapping, compare=False, repr=False)


@dataclass(frozen=True)
class Demand:
    """A condition with the sentence that is reported when it does not hold."""

    condition: Annotated[Expression, Key("that")]
    message: Annotated[str, Key("else")]
    always: bool = False  # of a step that `until` or `accept` ended, too
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)


@dataclass(frozen=True)
class Step:
    """One line of a script: a primitive to bind and send, or a skill to splice in."""

    name: Annotated[str, Key("step")]
    kind: Annotated[str, Key("do")] = ""
    use: str = ""  # skill spliced in
    arguments: Mapping[str, Expression] = field(default_factory=dict)  # of the skill spliced in
    target: Expression | None = None
    parameters: Mapping[str, Expression] = field(default_factory=dict)
    table: str = ""
    recoveries: tuple[str, ...] = ()  # tried in this order
    disturbs: tuple[str, ...] = ()  # database keys not to be trusted while it runs
    writes: tuple[WriteRule, ...] = ()  # on success, beside those of the table
    adds: Mapping[str, Expression] = field(default_factory=dict)  # measured changes of database items, with any verdict
    keeps: Mapping[str, Expression] = field(default_factory=dict)  # values for later steps, fixed when it has run
    confirms: tuple[Demand, ...] = ()  # what the measurements must show before it counts as done
    when: Expression | None = None  # left out when false
    irreversible: bool = False
    operator: str = ""
    duration: Expression | None = None
    via: bool = False  # passes through the places of a `via` clause
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        if bool(self.kind) == bool(self.use):
            raise InvalidValueError("step", self.name, "a step has either `do`, a primitive, or `use`, a skill")


@dataclass(frozen=True)
class Recovery:
    """An entry of the recovery stack: what to do before the script continues."""

    name: Annotated[str, OWN_KEY]
    then: Then
    steps: tuple[Step, ...] = ()
    from_step: Annotated[str, Key("from")] = ""  # RESTART: first step done again; empty: the first
    doc: str = ""
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        _each_once("steps", self.steps)


@dataclass(frozen=True)
class Branch:
    """A leaf of the decision tree: the script to take when the condition holds."""

    script: str
    when: Expression | None = None
    amount: AmountKind = ""  # of this script's amount; empty: the skill's
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)


@dataclass(frozen=True)
class Skill:
    """A skill: decision tree, plan, scripts, recovery stack."""

    name: Annotated[str, Key("skill")]
    doc: str
    scripts: Mapping[str, tuple[Step, ...]]
    verbs: tuple[str, ...] = ()  # none given: its name, where the language has that verb
    takes: Slots = field(default_factory=Slots)  # what may follow a verb that the language does not have
    performer: Literal["arm", "camera", "none"] = "arm"
    amount: AmountKind = ""  # what the number of the command measures; empty: it takes none
    uses: tuple[str, ...] = ()  # slots whose values are resources
    requires: tuple[Demand, ...] = ()
    defaults: Mapping[str, Expression] = field(default_factory=dict)
    candidates: Mapping[str, Expression] = field(default_factory=dict)  # ranked values to try, best first
    plan: Mapping[str, Expression] = field(default_factory=dict)
    tests: tuple[Demand, ...] = ()
    choose: tuple[Branch, ...] = ()  # none given: the first script
    recoveries: Annotated[Mapping[str, Recovery], Key("recovery_stack")] = field(default_factory=dict)
    owner: Literal["program", "operator", "anybody"] = "program"  # who must have authority over the arm
    reversible: bool = True
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.scripts:
            raise InvalidValueError("scripts", self.scripts, "a skill has at least one script")
        for name, steps in self.scripts.items():
            _each_once(f"scripts.{name}", steps)
        object.__setattr__(self, "choose", self.choose or (Branch(next(iter(self.scripts))),))
        if self.choose[-1].when is not None:
            raise InvalidValueError("choose", self.choose[-1].script, "the last branch has no condition")

    @property
    def amounts(self) -> tuple[str, ...]:
        """Every kind that the number of a command may have, whichever script is taken."""
        kinds = (*self.takes.amount, self.amount, *(branch.amount for branch in self.choose))
        return tuple(dict.fromkeys(kind for kind in kinds if kind))


def _each_once(field: str, steps: tuple[Step, ...]) -> None:
    names = [step.name for step in steps]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidValueError(field, twice, f"two steps are called {twice!r}")


@dataclass(frozen=True)
class Arm:
    """An arm of the workcell."""

    name: Annotated[str, OWN_KEY]
    speed: Annotated[float, Key(low=0.001, high=5.0)]  # [m/s] of the tool
    joint_speed: Annotated[float, Key(low=0.001, high=20.0)]  # [rad/s]
    load: Annotated[float, Key(low=0.0, high=1000.0)]  # [kg]
    gripper: str = ""  # empty: the arm has none
    robot: str = ""  # its model: arm, panda, ur5 or the path of a URDF file; empty: that of the decision unit
    namespace: str = ""  # of the arm's own graph; empty: the decision unit's
    base: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # WORLD of the arm's graph in the workcell's
    home: tuple[float, ...] = ()  # [rad]

    def __post_init__(self) -> None:
        if self.namespace and not _NAMESPACE.fullmatch(self.namespace):
            raise InvalidValueError("namespace", self.namespace, "allowed: letters, digits, _, parts joined by /")


@dataclass(frozen=True)
class Camera:
    """A camera of the workcell."""

    name: Annotated[str, OWN_KEY]
    topic: str = ""  # of telerobot/msg/Obstacles, what it sees; empty: that of hardware_interface


@dataclass(frozen=True)
class Sensor:
    """A sensor that a skill reads: the newest number of a topic, or the number that a service answers."""

    name: Annotated[str, OWN_KEY]
    type: str  # of the message or service, for example std_msgs/msg/Float64
    field: str = "data"  # the number in it; parts of parts with dots
    topic: str = ""
    service: str = ""
    factor: float = 1.0  # to SI
    fresh: Annotated[float, Key(low=0.01, high=3600.0)] = 1.0  # [s] an older message is no reading

    def __post_init__(self) -> None:
        if bool(self.topic) == bool(self.service):
            raise InvalidValueError("topic", self.topic, "a sensor has either a topic or a service")
        kind = "msg" if self.topic else "srv"
        if self.type.count("/") != 2 or self.type.split("/")[1] != kind:
            raise InvalidValueError("type", self.type, f"allowed: PACKAGE/{kind}/NAME")


@dataclass(frozen=True)
class Region:
    """A box, aligned with WORLD."""

    low: tuple[float, ...]  # (3,) [m]
    high: tuple[float, ...]  # (3,) [m]

    def __post_init__(self) -> None:
        corners = zip(self.low, self.high, strict=True)
        if not len(self.low) == len(self.high) == 3 or not all(low < high for low, high in corners):
            raise InvalidValueError("high", self.high, f"three numbers [m]; it is not above {self.low} in every axis")

    def contains(self, point: tuple[float, float, float]) -> bool:
        """True when the point [m] is inside."""
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))


@dataclass(frozen=True)
class Workcell:
    """Arms, devices, resources, regions, first items of the database, and the command-object table."""

    arms: Mapping[str, Arm]
    cameras: Mapping[str, Camera]
    sensors: Mapping[str, Sensor]
    resources: tuple[Resource, ...]
    regions: Mapping[str, Region]
    safe_work_range: str
    paths: Mapping[str, tuple[tuple[float, ...], ...]]
    items: tuple[Item, ...]
    command_objects: Mapping[tuple[str, str], Mapping[str, object]]  # (skill, object or default) to parameters
    vocabulary: Vocabulary
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)


@dataclass(frozen=True)
class Library:
    """The contents of all files, cross-checked."""

    kinds: Mapping[str, PrimitiveSpec]
    tables: Mapping[str, Table]
    skills: Mapping[str, Skill]
    workcell: Workcell

    def skill_for(self, verb: str) -> Skill | None:
        """The skill a verb means."""
        return next((skill for skill in self.skills.values() if verb in (skill.verbs or (skill.name,))), None)
