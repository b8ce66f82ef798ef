"""One task performed by the scripted operator under one condition; how long it took, and what the arm touched.

What belongs here: what each condition shows and lets him do. What must never enter: the tasks, the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from telerobot_nodes.bench.study.delay_rig import STEP, DelayRig
from telerobot_nodes.bench.study.direct_rig import DirectRig
from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.study.design import STUDIED, TOUCH_COST, Act, Goal, Human, ScriptedOperator, Strategy, Task, View

TRIED_BELOW = 0.012  # [m] narrower targets are tried with the position clutch disengaged, by a careful operator
APPROACH = 0.03  # [m] from above, by a careful operator without a position clutch
BRAKE_RATE = 6.0  # [plan s/s]
LONGEST = 1200.0  # [s]
SHOWN_MOTION = 0.02  # [m] of the hand, by which the operator gets to know the delay of his display
SHOWN_GAP = 0.001  # [m]
LOOKS = 5  # by which he gets to know a delay that varies
FIRST, SECOND = "operator", "second"  # agents; the second one waits for the hand-over
MEETING_WIDTH = 0.03  # [m] of the place where control passes
NEXT_SEED = 1000  # added to the seed for the second operator


@dataclass(frozen=True)
class Performance:
    """One task performed."""

    seconds: float  # from the first look to the sight of the actual arm at the last target, touches included
    movements: int
    slips: int
    touches: int  # of the plate, by the actual arm; of a soft one: pressed too hard


def strategies(task: Task, condition: str) -> dict[str, Strategy]:
    """The ways to work under this condition: as it comes, and with care where care is possible."""
    brake, unsure = condition == "d", task.plate_error > 0.0 and condition != "a"
    found = {"plain": Strategy(brake=brake)}
    if brake:
        found["moving on"] = Strategy(brake=True, moves_on=True)
        found["careful"] = Strategy(TRIED_BELOW, brake=True)
    elif not unsure and any(goal.near_wall for goal in task.goals(0, np.zeros(3))):
        found["careful"] = Strategy(approach=APPROACH)
    if unsure:
        found["cautious"] = Strategy(brake=brake, moves_on=brake, caution=task.plate_error)
    return found


def perform(name: str, condition: str, strategy: str, round_trip: float, seed: int) -> Performance:
    """Perform the task `name` over `round_trip` [s]."""
    task = STUDIED[name]
    delay = display_delay(name, condition, round_trip)
    run = _Run(task, condition, round_trip, seed, strategy)
    return run.finish(delay)


@lru_cache(maxsize=64)
def display_delay(name: str, condition: str, round_trip: float) -> float:
    """[s] from the end of a short motion of the hand to its sight on the display of this condition.

    As measured; over a link with jitter or loss the longest of several, for the operator knows how late it may be.
    """
    task = replace(STUDIED[name], model_error=0.0, plate_error=0.0, hands_over=0)
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
    """Rig, task and operators of one performance."""

    def __init__(self, task: Task, condition: str, round_trip: float, seed: int, strategy: str) -> None:
        self._task, self._condition, self._round_trip, self._seed = task, condition, round_trip, seed
        self.rig = self._made_rig()
        self._at = 0  # side of the operator who works
        rest = np.zeros(3)
        self._hands = [rest, rest] if task.hands_over and condition != "a" else [rest]
        while not self.rig.ready or self.rig.now < 2.0 * round_trip + 1.0:
            self.rig.step(*self._hands)
        self._start = self.rig.start[:3]
        self._goals = task.goals(seed, self._start)
        self._strategy = strategies(task, condition)[strategy]
        own = self._goals[: task.hands_over or None]
        self._operator = ScriptedOperator(own, seed, self._strategy, hands_over=task.hands_over > 0)
        self._error = task.error(seed) if condition != "a" else np.zeros(3)
        self._news_at = np.inf  # [s] when the picture shows the targets elsewhere
        self._moved = task.moves is None
        self._touches, self._touching = 0, False
        self._second: Callable[[float], FloatArray] | None = None  # hand of the operator who waits, at a time [s]
        if condition in "cd" and isinstance(self.rig, DelayRig):
            for side in self.rig.sides:
                side.queue.set_time_clutch(self.rig.now, False)

    def _made_rig(self) -> DirectRig | DelayRig:
        task, values = self._task, (self._round_trip, self._seed, _arm(self._task.speed))
        if self._condition == "a":
            return DirectRig(*values, task.jitter, task.loss)
        return DelayRig(*values, task.jitter, task.loss, (FIRST, SECOND) if task.hands_over else (FIRST,))

    @property
    def shown(self) -> FloatArray:
        """(3,) [m] the tool on the display that the operator moves by."""
        if isinstance(self.rig, DirectRig):
            return self.rig.seen_arm[:3]
        return self.rig.sides[self._at].seen_simulation[:3] + self._error

    @property
    def _seen_arm(self) -> FloatArray:
        rig = self.rig
        return (rig.seen_arm if isinstance(rig, DirectRig) else rig.sides[self._at].seen_arm)[:3]

    def finish(self, delay: float) -> Performance:
        """Work until the operators are done; they know the `delay` [s] of their display."""
        rig, task = self.rig, self._task
        begun = rig.now
        if task.hands_over and isinstance(rig, DelayRig):
            rig.sides[1].ask(begun, AuthorityKind.REQUEST)
            self._second = self._made_second(rig, delay)
        self._work(begun, delay)
        movements, slips = self._operator.movements, self._operator.slips
        if task.hands_over and self._operator.done:
            self._hand_over(begun)
            self._work(begun, delay)
            movements, slips = movements + self._operator.movements, slips + self._operator.slips
        taken = rig.now - begun + self._touches * (TOUCH_COST + self._round_trip)
        return Performance(round(taken, 2) if self._operator.done else float("inf"), movements, slips, self._touches)

    def _work(self, begun: float, delay: float) -> None:
        """One operator works until he is done."""
        rig, operator = self.rig, self._operator
        while not operator.done and rig.now - begun < LONGEST:
            self._act(operator.step(rig.now, View(self.shown, delay, self._seen_arm, self._behind(delay))))
            self._hands[self._at] = operator.hand
            self._step()

    def _step(self) -> None:
        if self._second is not None:
            self._hands[1] = self._second(self.rig.now)
        self.rig.step(*self._hands)
        self._watch()

    def _made_second(self, rig: DelayRig, delay: float) -> Callable[[float], FloatArray]:
        """The second operator, who brings his tool to where he will take over while the first one works."""
        meeting = replace(self._goals[self._task.hands_over - 1], width=MEETING_WIDTH)
        operator = ScriptedOperator([meeting], self._seed + NEXT_SEED, Strategy(), hands_over=True)

        def hand(now: float) -> FloatArray:
            side = rig.sides[1]
            if not operator.done:
                operator.step(now, View(side.seen_simulation[:3] + self._error, delay, side.seen_arm[:3], 0.0))
            return operator.hand

        return hand

    def _hand_over(self, begun: float) -> None:
        """The first operator says so, and presses; then the second one presses, or is given the plan."""
        rig, human = self.rig, Human()
        self._wait(human.reaction + human.button)
        hand = self._hands[0]
        if isinstance(rig, DirectRig):
            self._wait(human.reaction + human.button)
        else:
            rig.sides[0].ask(rig.now, AuthorityKind.CONSENT)
            while not rig.sides[1].queue.has_authority and rig.now - begun < LONGEST:
                self._step()
            self._at, self._second = 1, None
            hand = self._hands[1]
        rest = self._goals[self._task.hands_over :]
        self._operator = ScriptedOperator(rest, self._seed + NEXT_SEED, self._strategy)
        self._operator.hand = hand

    def _wait(self, seconds: float) -> None:
        until = self.rig.now + seconds
        while self.rig.now < until:
            self._step()

    def _behind(self, delay: float) -> float:
        """How long the arm may still move [s]: the console tells lead and points that are not executed.

        A hand in synchrony always adds points, so that their number says nothing.
        """
        if isinstance(self.rig, DirectRig):
            return delay
        state = self.rig.sides[self._at].queue.state(self.rig.now)
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
        if isinstance(self.rig, DirectRig):
            return
        now, side = self.rig.now, self.rig.sides[self._at]
        if act is Act.DISENGAGE:
            side.disengage(now)
        elif act is Act.CONNECT:
            side.connect(now)
        elif act is Act.BRAKE:
            side.queue.set_brake(now, BRAKE_RATE)
        elif act is Act.RELEASE:
            side.queue.set_brake(now, 0.0)


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
