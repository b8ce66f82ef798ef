"""Skills as data: what the files of `config/rtc` say, as frozen values [JPL-RTC section 4 and figure 4].

What belongs here: the shape of skills, steps, trial stacks, tables. Reading files is `skill_files.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from telerobot_nodes.rtc.database import Item, Validity
from telerobot_nodes.rtc.expressions import Expression
from telerobot_nodes.rtc.primitives import Space, Stop
from telerobot_nodes.rtc.resources import Resource
from telerobot_nodes.rtc.vocabulary import Vocabulary


class Verdict(Enum):
    """What the analysis unit recommends."""

    CONTINUE = "continue"
    TRIM = "trim"  # the next foreseen correction of the step
    ABORT = "abort"  # end this command
    GLOBAL = "global"  # end every command


class Then(Enum):
    """How a trial goes on when its steps have succeeded."""

    RETRY = "retry"  # the step that failed, again
    RESTART = "restart"  # the script from its first step, or from a named one
    CONTINUE = "continue"  # with the step after the one that failed


@dataclass(frozen=True)
class PrimitiveKind:
    """A row of `primitives.yaml`: everything about a primitive that is not a number of the moment."""

    name: str
    doc: str
    role: str  # arm, gripper, camera, authority, operator, program
    executive: str
    law: str
    space: Space
    stops: tuple[Stop, ...]
    success: str  # the outcome it is sent for
    timeout: float  # [s]
    parameters: Mapping[str, Expression] = field(default_factory=dict)
    predicts: Mapping[str, Expression] = field(default_factory=dict)  # readings a dry run expects
    operator: str = ""  # text of the operator's task
    moves: bool = False  # the arm ends at the target
    joints: bool = False  # the target is joints, not a pose
    speed: float = float("inf")  # [m/s] most, whatever the command says


@dataclass(frozen=True)
class WriteRule:
    """A database write of a table row; `key` holds slots in braces."""

    key: str
    value: Expression | None
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


@dataclass(frozen=True)
class Step:
    """One line of a script: a primitive to bind and send, or a skill to splice in."""

    name: str
    kind: str = ""
    use: str = ""  # skill spliced in
    arguments: Mapping[str, Expression] = field(default_factory=dict)  # of the skill spliced in
    target: Expression | None = None
    parameters: Mapping[str, Expression] = field(default_factory=dict)
    table: str = ""
    trims: tuple[str, ...] = ()  # trial stack, tried in this order
    disturbs: tuple[str, ...] = ()  # database keys not to be trusted while it runs
    writes: tuple[WriteRule, ...] = ()  # on success, beside those of the table
    when: Expression | None = None  # left out when false
    irreversible: bool = False
    operator: str = ""
    duration: Expression | None = None
    via: bool = False  # passes through the places of a `via` clause
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Trial:
    """An entry of the trial stack: what to do before going on."""

    name: str
    steps: tuple[Step, ...]
    then: Then
    from_step: str = ""  # RESTART: first step done again; empty: the first
    doc: str = ""


@dataclass(frozen=True)
class Demand:
    """A condition with the sentence that is reported when it does not hold."""

    condition: Expression
    message: str


@dataclass(frozen=True)
class Branch:
    """A leaf of the decision tree: the script to take when the condition holds."""

    script: str
    when: Expression | None = None


@dataclass(frozen=True)
class Skill:
    """A skill: decision tree, plan, scripts, trial stack."""

    name: str
    doc: str
    verbs: tuple[str, ...]
    performer: str  # arm, camera, or empty
    uses: tuple[str, ...]  # slots whose values are resources
    requires: tuple[Demand, ...]
    defaults: Mapping[str, Expression]
    candidates: Mapping[str, Expression]  # ranked values to try, best first
    plan: Mapping[str, Expression]
    tests: tuple[Demand, ...]
    choose: tuple[Branch, ...]
    scripts: Mapping[str, tuple[Step, ...]]
    trials: Mapping[str, Trial]
    owner: str = "program"  # who must have the arm; empty: anybody
    reversible: bool = True
    file: str = ""


@dataclass(frozen=True)
class Arm:
    """An arm of the workcell."""

    name: str
    gripper: str
    speed: float  # [m/s] of the tool
    joint_speed: float  # [rad/s]
    load: float  # [kg]
    namespace: str = ""  # of the arm's own graph; empty: the decision unit's
    base: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # WORLD of the arm's graph in the workcell's


@dataclass(frozen=True)
class Region:
    """A box, aligned with WORLD."""

    low: tuple[float, float, float]  # [m]
    high: tuple[float, float, float]  # [m]

    def contains(self, point: tuple[float, float, float]) -> bool:
        """True when the point [m] is inside."""
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))


@dataclass(frozen=True)
class Workcell:
    """Arms, devices, resources, regions, first items of the database, and the command-object table."""

    arms: Mapping[str, Arm]
    cameras: tuple[str, ...]
    resources: tuple[Resource, ...]
    regions: Mapping[str, Region]
    safe_work_range: str
    paths: Mapping[str, tuple[tuple[float, ...], ...]]
    items: tuple[Item, ...]
    command_objects: Mapping[tuple[str, str], Mapping[str, object]]  # (skill, object or default) to parameters
    vocabulary: Vocabulary


@dataclass(frozen=True)
class Library:
    """Everything the files say, cross-checked."""

    kinds: Mapping[str, PrimitiveKind]
    tables: Mapping[str, Table]
    skills: Mapping[str, Skill]
    workcell: Workcell

    def skill_for(self, verb: str) -> Skill | None:
        """The skill a verb means."""
        return next((skill for skill in self.skills.values() if verb in skill.verbs), None)
