"""One task performed by the scripted operator under one condition; how long it took, and what the arm touched.

What belongs here: what each condition shows and lets him do. What must never enter: the tasks, the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from telerobot_nodes.bench.study.delay_rig import STEP, DelayRig
from telerobot_nodes.bench.study.direct_rig import DirectRig
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.study.design import TASKS, TOUCH_COST, Act, Goal, ScriptedOperator, Strategy, Task, View

TRIED_BELOW = 0.012  # [m] narrower targets are tried with the position clutch disengaged, by a careful operator
APPROACH = 0.03  # [m] from above, by a careful operator without a position clutch
BRAKE_RATE = 6.0  # [plan s/s]
LONGEST = 1200.0  # [s]
SHOWN_MOTION = 0.02  # [m] of the hand, by which the operator gets to know the delay of his display
SHOWN_GAP = 0.001  # [m]
LOOKS = 5  # by which he gets to know a delay that varies


@dataclass(frozen=True)
class Performance:
    """One task performed."""

    seconds: float  # from the first look to the sight of the actual arm at the last target, touches included
    movements: int
    slips: int
    touches: int  # of the plate, by the actual arm


def strategies(task: Task, condition: str) -> dict[str, Strategy]:
    """The ways to work under this condition: as it comes, and with care where care is possible."""
    found = {"plain": Strategy(brake=condition == "d")}
    if condition == "d":
        found["careful"] = Strategy(TRIED_BELOW, True)
    elif any(goal.near_wall for goal in task.goals(0, np.zeros(3))):
        found["careful"] = Strategy(approach=APPROACH)
    return found


def perform(name: str, condition: str, strategy: str, round_trip: float, seed: int) -> Performance:
    """Perform the task `name` over `round_trip` [s]."""
    task = TASKS[name]
    delay = display_delay(name, condition, round_trip)
    run = _Run(task, condition, round_trip, seed, strategy)
    return run.finish(delay)


@lru_cache(maxsize=64)
def display_delay(name: str, condition: str, round_trip: float) -> float:
    """[s] from the end of a short motion of the hand to its sight on the display of this condition.

    As measured; over a link with jitter or loss the longest of several, for the operator knows how late it may be.
    """
    task = replace(TASKS[name], model_error=0.0)
    tried = range(LOOKS if task.jitter or task.loss else 1)
    return max(_measured_delay(task, condition, round_trip, seed) for seed in tried)


def _measured_delay(task: Task, condition: str, round_trip: float, seed: int) -> float:
    run = _Run(task, condition, round_trip, seed, "plain")
    before, moved, late = run.shown.copy(), np.array([0.0, SHOWN_MOTION, 0.0]), 0.0
    for u in np.linspace(0.0, 1.0, round(0.5 / STEP)):
        run.rig.step(moved * u**3 * (10.0 - 15.0 * u + 6.0 * u * u))
    while float(np.linalg.norm(run.shown - before - moved)) > SHOWN_GAP and late < LONGEST:
        run.rig.step(moved)
        late += STEP
    return late


class _Run:
    """Rig, task and operator of one performance."""

    def __init__(self, task: Task, condition: str, round_trip: float, seed: int, strategy: str) -> None:
        kind = DirectRig if condition == "a" else DelayRig
        self.rig: DirectRig | DelayRig = kind(round_trip, seed, _arm(task.speed), task.jitter, task.loss)
        self._task, self._condition, self._round_trip = task, condition, round_trip
        while not self.rig.ready or self.rig.now < 2.0 * round_trip + 1.0:
            self.rig.step(np.zeros(3))
        self._start = self.rig.start[:3]
        self._goals = task.goals(seed, self._start)
        self._operator = ScriptedOperator(self._goals, seed, strategies(task, condition)[strategy])
        self._error = task.error(seed) if condition != "a" else np.zeros(3)
        self._news_at = np.inf  # [s] when the picture shows the targets elsewhere
        self._moved = task.moves is None
        self._touches, self._touching = 0, False
        if condition in "cd" and isinstance(self.rig, DelayRig):
            self.rig.queue.set_time_clutch(self.rig.now, False)

    @property
    def shown(self) -> FloatArray:
        """(3,) [m] the tool on the display that the operator moves by."""
        if isinstance(self.rig, DirectRig):
            return self.rig.seen_arm[:3]
        return self.rig.seen_simulation[:3] + self._error

    def finish(self, delay: float) -> Performance:
        """Work until the operator is done; he knows the `delay` [s] of his display."""
        rig, operator = self.rig, self._operator
        begun = rig.now
        while not operator.done and rig.now - begun < LONGEST:
            self._act(operator.step(rig.now, View(self.shown, delay, rig.seen_arm[:3], self._behind(delay))))
            rig.step(operator.hand)
            self._watch()
        taken = rig.now - begun + self._touches * (TOUCH_COST + self._round_trip)
        return Performance(
            round(taken, 2) if operator.done else float("inf"),
            operator.movements,
            operator.slips,
            self._touches,
        )

    def _behind(self, delay: float) -> float:
        """How long the arm may still move [s]: the console tells lead and points that are not executed.

        A hand in synchrony always adds points, so that their number says nothing.
        """
        if isinstance(self.rig, DirectRig):
            return delay
        state = self.rig.queue.state(self.rig.now)
        if state.time_clutch:
            return max(self._round_trip, state.lead)
        return float("inf") if state.length else 0.0

    def _watch(self) -> None:
        """Touches of the plate, and targets that move."""
        arm, task = self.rig.arm[:3], self._task
        if task.plate is not None:
            below = bool(arm[2] < self._start[2] + task.plate)
            self._touches += below and not self._touching
            self._touching = below
        if not self._moved and task.moves is not None and _at(arm, self._goals[task.moves.passed]):
            self._moved, self._news_at = True, self.rig.now + 0.5 * self._round_trip
        if self.rig.now >= self._news_at:
            self._news_at = np.inf
            self._operator.see_moved(task.moved(self._goals))

    def _act(self, act: Act) -> None:
        rig = self.rig
        if isinstance(rig, DirectRig):
            return
        if act is Act.DISENGAGE:
            rig.disengage()
        elif act is Act.CONNECT:
            rig.connect()
        elif act is Act.BRAKE:
            rig.queue.set_brake(rig.now, BRAKE_RATE)
        elif act is Act.RELEASE:
            rig.queue.set_brake(rig.now, 0.0)


def _at(arm: FloatArray, goal: Goal) -> bool:
    return float(np.linalg.norm(arm - goal.position)) < goal.width


@lru_cache(maxsize=4)
def _arm(speed: float) -> RobotModel:
    """The arm with `speed` [-] of its limits."""
    robot = load_robot("arm")
    limits = robot.limits
    slow = replace(
        limits,
        velocity=speed * limits.velocity,
        acceleration=speed * limits.acceleration,
        jerk=speed * limits.jerk,
    )
    return replace(robot, limits=slow)
