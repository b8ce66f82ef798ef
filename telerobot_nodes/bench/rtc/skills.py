"""Benchmark of the skills: what binding accepts, the executive accepts, with each clause of the language.

Every skill is tried with the arm of `urdf/`, and each primitive checked by the executive's own function. A clause is
right when it is accepted and changes a primitive, or when it is refused by its name before anything moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.decision import Job, ParseText, TryRequest
from telerobot_nodes.rtc.server import Workers
from telerobot_nodes.rtc.skills import Library, Primitive, load_library
from telerobot_nodes.rtc.world import Database, Item, RobotChecks

CONFIG = share_path("config/rtc")

# A sentence for each skill, and what the left arm holds before it.
SENTENCES: dict[str, tuple[str, str]] = {
    "approach": ("approach module", ""),
    "close": ("close door", ""),
    "comply": ("comply left_arm along x y", ""),
    "follow": ("follow survey", ""),
    "grasp": ("grasp module", ""),
    "hold": ("hold left_arm for 2 s", ""),
    "insert": ("insert pin into hole", ""),
    "insert_held": ("insert pin into hole", "pin"),
    "inspect": ("inspect module", ""),
    "level": ("level module", "module"),
    "lift": ("lift module", "module"),
    "locate": ("locate module", ""),
    "look": ("look at dock", ""),
    "move": ("move left_arm to above dock", ""),
    "open": ("open drawer", ""),
    "pick": ("pick module and place on dock", ""),
    "place": ("place module on dock", "module"),
    "polish": ("polish plate for 5 s", ""),
    "pull": ("pull drawer", ""),
    "push": ("push box", ""),
    "release": ("release module", "module"),
    "remove": ("remove pin from hole", ""),
    "retract": ("retract left_arm by 5 cm", ""),
    "return": ("return left_arm to program", ""),
    "seat": ("seat stud in thread", ""),
    "slide": ("slide box by 3 cm", ""),
    "tare": ("tare left_arm", ""),
    "teleoperate": ("teleoperate left_arm", ""),
    "touch": ("touch table", ""),
    "trade": ("trade left_arm to operator", ""),
    "turn": ("turn crank by 90 deg", ""),
    "wait": ("wait for 3 s", ""),
}
# Skills without a sentence: what a reflex does, and the control word `grant ARM to AGENT`.
UNSAID = frozenset(("grant", "react"))
# Other sentences of the same skills, with no clause or with one that only they can keep.
MORE: tuple[tuple[str, str], ...] = (
    ("turn crank", ""),
    ("turn bolt by 90 deg clockwise", ""),
    ("open door by 60 deg", ""),
    ("close drawer", ""),
    ("open gripper by 5 cm with left_arm", ""),
    ("close gripper with left_arm", ""),
    ("move left_arm to home", ""),
    ("move left_arm by 5 cm up", ""),
    ("move left_arm by 5 cm along z frame tool", ""),
    ("move guarded left_arm to above dock", ""),
    ("move left_arm to above dock interpolate task", ""),
    ("teleoperate left_arm in world speed 0.05", ""),
    ("inspect module from shelf", ""),
)
# One text for each clause of the grammar, by the word under which it is refused.
CLAUSES: tuple[tuple[str, str], ...] = (
    ("with", "with left_arm"),
    ("with", "with camera"),
    ("with", "with left_arm and right_arm"),
    ("via operator-intervention", "via operator-intervention"),
    ("via", "via (0.45, 0.0, 0.6)"),
    ("safe-work-range", "maintain safe-work-range"),
    ("avoid-task-region", "maintain avoid-task-region panel_zone"),
    ("avoid-neighbors", "maintain avoid-neighbors"),
    ("pose-during-motion", "maintain pose-during-motion"),
    ("upright", "maintain upright"),
    ("speed", "speed 0.013"),
    ("speed", "speed 3 deg/s"),
    ("acceleration", "acceleration 0.01"),
    ("force", "force 6 N"),
    ("torque", "torque 0.7 Nm"),
    ("clearance", "clearance 2 cm"),
    ("stiffness", "stiffness 700 N/m"),
    ("guarded", "guarded"),
    ("unless", "unless force > 7 N then stop"),
    ("until", "until contact"),
    ("accept", "accept contact"),
    ("accept", "accept timeout"),
    ("timeout", "timeout 17 s"),
    ("retry", "retry 2"),
    ("queued", "queued"),
    ("queued", "no-wait"),
    ("report", "report every 1 s"),
    ("shared", "shared operator x y program z"),
    ("interpolate", "interpolate joint"),
    ("interpolate", "interpolate task"),
    ("mode", "mode position"),
    ("mode", "mode compliant"),
    ("payload", "payload 300 g"),
    ("tool", "tool fingers"),
    ("frame", "frame tool"),
    ("dither", "dither 2 mm"),
    ("as", "as job"),
    ("note", 'note "a remark"'),
)
# Clauses that change the command as a whole, or only check, and need change no primitive.
OF_COMMAND = frozenset(("with", "timeout", "retry", "queued", "report", "as", "note", "accept", "tool"))
_CHECKS_ONLY = frozenset(
    ("safe-work-range", "avoid-task-region", "avoid-neighbors", "pose-during-motion", "upright", "clearance", "payload",
     "interpolate", "mode", "guarded", "force", "torque", "speed 3 deg/s")
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """What `try` says of one sentence, and the primitives that the executive was asked about."""

    text: str
    error: str
    primitives: tuple[Primitive, ...]

    @property
    def works(self) -> bool:
        """True when every step can be planned and the executive takes it."""
        return not self.error


class _Listening:
    """The executive's check, which keeps what it was asked."""

    def __init__(self, check: Any) -> None:
        self._check = check
        self.asked: list[Primitive] = []

    def check_primitive(self, arm: str, primitive: Primitive) -> None:
        """Check and keep."""
        self._check.check_primitive(arm, primitive)
        if primitive.number:  # a preview has none
            self.asked.append(primitive)


class SkillTrials:
    """Tries sentences with the real arm; nothing moves."""

    def __init__(self, folder: Path = CONFIG) -> None:
        from telerobot_nodes.nodes.decision import ExecutiveChecks

        self.library: Library = load_library(folder)
        robots = {name: load_robot("arm") for name in self.library.workcell.arms}
        self._executive = _Listening(ExecutiveChecks(robots))
        self._checks = RobotChecks(robots, executive=self._executive)
        self._home = robots["left_arm"].home

    def database(self, held: str = "", traded: bool = False) -> Database:
        """The workcell with both arms at home; the left one holds `held`, or is the operator's."""
        items = {item.key: item for item in self.library.workcell.items}
        joints = tuple(self._home.tolist())
        for arm in self.library.workcell.arms:
            pose = tuple(self._checks.kinematics.forward(arm, self._home).tolist())
            items |= {f"{arm}.joints": Item(f"{arm}.joints", joints), f"{arm}.pose": Item(f"{arm}.pose", pose)}
        if held:
            grip = (0.0, 0.0, 0.01, 0.0, 1.0, 0.0, 0.0)
            items |= {"left_arm.holds": Item("left_arm.holds", held)}
            items |= {f"{held}.pose": Item(f"{held}.pose", grip, frame="left_arm")}
        if traded:
            items["left_arm.owner"] = Item("left_arm.owner", "operator")
        return Database(items.values())

    def run(self, text: str, held: str = "") -> Trial:
        """Try a sentence."""
        workers = Workers(self.database(held, text.startswith("return")), self._checks)
        self._executive.asked = []
        parsed = workers.run(Job(1, 1, self.library, ParseText(text)), 0.0)
        if parsed.error:
            return Trial(text, parsed.error, ())
        request: Any = parsed.result.request  # type: ignore[union-attr]
        done = workers.run(Job(2, 1, self.library, TryRequest(request)), 0.0)
        trial: Any = done.result
        return Trial(text, done.error or ("" if trial.works else trial.reason), tuple(self._executive.asked))


@dataclass(frozen=True)
class Row:
    """One skill with one clause: what was said, and whether that was right."""

    skill: str
    clause: str
    verdict: str  # done, refused, WRONG
    why: str


def rows(trials: SkillTrials) -> Iterator[Row]:
    """Every skill bare, and with each clause."""
    for text, held in MORE:
        bare = trials.run(text, held)
        yield Row(text, "", "done" if bare.works else "WRONG", bare.error)
    for skill, (text, held) in SENTENCES.items():
        bare = trials.run(text, held)
        yield Row(skill, "", "done" if bare.works else "WRONG", bare.error)
        for name, clause in CLAUSES:
            yield judge(skill, name, clause, bare, trials.run(f"{text} {clause}", held))


def judge(skill: str, name: str, clause: str, bare: Trial, trial: Trial) -> Row:
    """Whether what was said of the clause is true."""
    if not trial.works:
        named = name in trial.error
        return Row(skill, clause, "refused" if named else "WRONG", trial.error)
    if {name, clause} & (OF_COMMAND | _CHECKS_ONLY) or changed(bare.primitives, trial.primitives):
        return Row(skill, clause, "done", "")
    return Row(skill, clause, "WRONG", "accepted, and no primitive is another one")


def changed(before: tuple[Primitive, ...], after: tuple[Primitive, ...]) -> bool:
    """Whether any primitive differs in more than its number."""
    return len(before) != len(after) or any(_print(a) != _print(b) for a, b in zip(before, after, strict=True))


def _print(primitive: Primitive) -> str:
    points = np.round(primitive.trajectory.points, 6).tolist()
    plain = replace(primitive, number=0)
    return f"{plain.executive} {plain.stops} {plain.report} {dict(plain.parameters)} {points} {plain.limit}"


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals. Options: `config` (folder of the skill files).

    With `physics` (starts of each skill) the skills are run in physics instead, with `graph` in physics on the running
    graph; `seed`, `skills` (names, with commas), `limit` [s] after which no start begins (none); `planner=no` leaves
    the planner out of the graph.
    """
    options = options or {}
    if "physics" in options or "graph" in options:
        return _in_physics(options)
    trials = SkillTrials(Path(options.get("config", CONFIG)))
    found = list(rows(trials))
    wrong = [row for row in found if row.verdict == "WRONG"]
    skills = {row.skill for row in found if row.skill in SENTENCES}
    right = skills - {row.skill for row in wrong}
    count: Callable[[str], int] = lambda verdict: sum(row.verdict == verdict for row in found)  # noqa: E731
    figures = {
        "skills": len(skills),
        "clauses": len(CLAUSES),
        "sentences": len(found),
        "done": count("done"),
        "refused_by_name": count("refused"),
        "wrong": {f"{row.skill} {row.clause}".strip(): row.why for row in wrong},
    }
    goals = [
        report.goal("skills accepted or refused rightly, each clause", len(right), "skills", ">=", 32),
        report.goal("wrong sentences", len(wrong), "-", "<=", 0),
    ]
    return report.result(report.conditions(), figures, goals)


def _in_physics(options: Mapping[str, Any]) -> dict[str, Any]:
    from telerobot_nodes.bench.rtc import skill_graph, skill_physics

    only = tuple(filter(None, str(options.get("skills", "")).split(",")))
    unknown = next((name for name in only if name not in SENTENCES), None)
    if unknown is not None:
        raise InvalidValueError("skills", unknown, f"allowed: {', '.join(SENTENCES)}")
    config, seed = Path(options.get("config", CONFIG)), int(options.get("seed", 1))
    limit = float(options.get("limit", 0.0))
    if "graph" in options:
        return skill_graph.run(config, int(options["graph"]), seed, only, is_on(options, "planner"), limit)
    return skill_physics.run(load_library(config), int(options["physics"]), seed, only, limit)
