"""Tasks of the delay study: in each the controls of the plan queue can win or lose.

What belongs here: targets, walls, and how the world differs from what the operator was shown. What must never enter:
the operator (`operator.py`), the conditions (`conditions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design.operator import Goal

NARROW, WIDE = 0.008, 0.025  # [m] target widths: pick and place; gates of the trace
GATES = 8
PLATE_TARGETS = 8
CLEARANCE = 0.006  # [m] of the targets over the plate
PRESS, PRESS_WIDTH = 0.002, 0.003  # [m] depth in the soft plate that makes the contact, and its tolerance
TOO_DEEP = 0.006  # [m] in the plate: the arm was stopped for too much force
PLATE_ERROR = 0.006  # [m] by which the plate stands higher or lower than it is drawn, at most
SLOW = 0.08  # [-] of the joints' velocities and accelerations: the arm is slower than the hand
MODEL_ERROR = 0.005  # [m] from where the simulated tool is drawn to where the actual one goes

MakeGoals = Callable[[np.random.Generator, FloatArray], list[Goal]]


@dataclass(frozen=True)
class TargetMove:
    """Targets from number `first` on are displaced by `shift` (3,) [m] when the arm passes target `passed`."""

    first: int
    passed: int
    shift: FloatArray


@dataclass(frozen=True)
class Task:
    """One task. `plate` [m]: height, from the tool's start, of a plate that the arm must not touch."""

    title: str
    make_goals: MakeGoals
    speed: float = 1.0  # [-] of the arm's limits
    plate: float | None = None
    moves: TargetMove | None = None
    model_error: float = 0.0  # [m]
    plate_error: float = 0.0  # [m] by which the plate stands higher or lower than the operator is shown, at most
    hands_over: int = 0  # targets of the first operator, the rest is for another; 0: there is one operator
    jitter: float = 0.0  # [-] standard deviation of the one-way delay, of the delay
    loss: float = 0.0  # [-] each way

    def goals(self, seed: int, start: FloatArray) -> list[Goal]:
        """The targets from the tool's `start` (3,) [m], displaced by `seed`."""
        goals = self.make_goals(np.random.default_rng([seed, 7]), start)
        return [replace(goal, check=goal.width == NARROW) for goal in goals] if self.model_error else goals

    def moved(self, goals: list[Goal]) -> list[Goal]:
        """The targets after they have moved."""
        move = self.moves
        if move is None:
            return goals
        return [
            replace(goal, position=goal.position + move.shift) if number >= move.first else goal
            for number, goal in enumerate(goals)
        ]

    def error(self, seed: int) -> FloatArray:
        """(3,) [m] from the actual tool to where the simulated one is drawn."""
        random = np.random.default_rng([seed, 11])
        way = random.normal(size=3)
        height = np.array([0.0, 0.0, self.plate_error * random.uniform(-1.0, 1.0)])
        return np.asarray(self.model_error * way / float(np.linalg.norm(way)) + height)


def trace(random: np.random.Generator, start: FloatArray) -> list[Goal]:
    """Pick, a trace through eight gates, place."""
    side = np.linspace(0.13, -0.13, GATES)
    gates = np.array([[0.04 * np.sin(40.0 * y), y, 0.02 + 0.03 * np.cos(12.0 * y)] for y in side])
    gates += random.uniform(-0.01, 0.01, gates.shape)
    pick, place = np.array([0.05, 0.15, -0.08]), np.array([0.05, -0.15, -0.08])
    return [
        Goal(start + pick, NARROW),
        *(Goal(start + gate, WIDE) for gate in gates),
        Goal(start + place, NARROW),
    ]


def along_plate(random: np.random.Generator, start: FloatArray) -> list[Goal]:
    """Eight targets close over a plate, side by side in no order."""
    plane = np.stack([random.uniform(-0.06, 0.06, PLATE_TARGETS), np.linspace(-0.13, 0.13, PLATE_TARGETS)], axis=1)
    height = PLATE + CLEARANCE
    return [Goal(start + np.array([x, y, height]), NARROW, near_wall=True) for x, y in random.permutation(plane)]


def into_plate(random: np.random.Generator, start: FloatArray) -> list[Goal]:
    """Eight places of a soft plate to press, each to be seen pressed before the next."""
    over = along_plate(random, start)
    depth = np.array([0.0, 0.0, -CLEARANCE - PRESS])
    return [Goal(goal.position + depth, PRESS_WIDTH, check=True, near_wall=True) for goal in over]


PLATE = -0.08  # [m] from the tool's start

TASKS: Mapping[str, Task] = {
    "trace": Task("a trace through gates, with pick and place", trace),
    "slow-arm": Task("the trace with an arm slower than the hand", trace, speed=SLOW),
    "plate": Task("eight targets close over a plate that must not be touched", along_plate, plate=PLATE),
    "moving-target": Task(
        "the trace with the slow arm; the second half of the targets moves under way",
        trace,
        speed=SLOW,
        moves=TargetMove(first=5, passed=2, shift=np.array([0.06, 0.0, 0.0])),
    ),
    "model-error": Task("the trace; the simulated tool is drawn 5 mm beside", trace, model_error=MODEL_ERROR),
    "poor-link": Task("the trace over a link with jitter and loss", trace, jitter=0.2, loss=0.05),
}

# not for people yet: the display shows no force, and two are needed
SCRIPTED: Mapping[str, Task] = {
    "contact": Task(
        "eight contacts with a soft plate that stands up to 6 mm beside where it is drawn",
        into_plate,
        plate=PLATE - TOO_DEEP,
        plate_error=PLATE_ERROR,
    ),
    "hand-over": Task("the trace; after the fifth target another operator goes on", trace, hands_over=5),
}


def reach(random: np.random.Generator, start: FloatArray) -> list[Goal]:
    """Two wide targets above the start."""
    side = random.choice((-1.0, 1.0))
    return [
        Goal(start + np.array([0.0, 0.05 * side, 0.03]), WIDE),
        Goal(start + np.array([0.0, 0.0, 0.06]), WIDE),
    ]


WARM_UP: Mapping[str, Task] = {"reach": Task("two wide targets, to get to know the controls", reach)}


STUDIED: Mapping[str, Task] = {**TASKS, **SCRIPTED}


def task_named(name: str) -> Task:
    """A task of the study, or one to get to know the controls. Raises InvalidValueError."""
    found = TASKS.get(name) or WARM_UP.get(name)
    if found is None:
        raise InvalidValueError("tasks", name, f"allowed: {', '.join((*TASKS, *WARM_UP))}")
    return found
