"""Settings of a study with people; all of its people have the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design.conditions import CONDITIONS
from telerobot_nodes.study.design.order import Trial, order_of
from telerobot_nodes.study.design.tasks import TASKS, task_named

DELAYS = (0.0, 1.0, 4.0)  # [s] round trip
LONGEST_DELAY = 60.0  # [s]
LIMIT = 300.0  # [s] longest trial
SEEDS = (0, 2**32 - 1)


@dataclass(frozen=True)
class StudySettings:
    """What is tried; validated when made. Raises InvalidValueError naming the field."""

    tasks: tuple[str, ...] = tuple(TASKS)
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    delays: tuple[float, ...] = DELAYS
    seed: int = 1
    limit: float = LIMIT  # [s] longest trial
    robot: str = "arm"
    scripted: bool = False  # by a scripted operator, to try the study through

    def __post_init__(self) -> None:
        for name in ("tasks", "conditions", "delays"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            _each_once(name, getattr(self, name))
        for task in self.tasks:
            task_named(task)
        for condition in self.conditions:
            if condition not in CONDITIONS:
                raise InvalidValueError("conditions", condition, f"allowed: {', '.join(CONDITIONS)}")
        for delay in self.delays:
            if not isfinite(delay) or not 0.0 <= delay <= LONGEST_DELAY:
                raise InvalidValueError("delays", delay, f"allowed: 0 .. {LONGEST_DELAY:g} [s], with commas")
        in_range(self.seed, "seed", *SEEDS)
        in_range(self.limit, "limit", 1.0, 3600.0, "s")
        if not self.robot:
            raise InvalidValueError("robot", self.robot, "allowed: a robot's name, a URDF file or an arm file")

    def order(self, person: int) -> tuple[Trial, ...]:
        """The trials of a person, who is counted from 0."""
        return order_of(self.tasks, self.conditions, self.delays, self.seed, person)


def _each_once(name: str, values: Sequence[object]) -> None:
    if not values:
        raise InvalidValueError(name, "none", "allowed: at least one")
    for value in values:
        if values.count(value) > 1:
            raise InvalidValueError(name, value, "allowed: each once")
