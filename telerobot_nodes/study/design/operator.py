"""A scripted operator: reaction time, aimed movements by Fitts's law, move and wait when the result must be seen.

What belongs here: what a person does given what a display shows. What must never enter: the arm, the plan, the link;
the operator knows only `View`.

Model and sources, the same in every condition:
- Reaction: 0.24 s from seeing to moving (perceive, decide, act) [CardMoranNewell1983].
- An aimed movement of distance D takes a + b log2(1 + D / We), a = 0.1 s, b = 0.2 s/bit (about 5 bit/s) [Fitts1954, in
  the form of MacKenzie1992], along a minimum-jerk path [FlashHogan1985].
- Without sight of the result it scatters with sigma = 5 % of D, at least 1 mm [SchmidtEtAl1979], so We = 4.13 sigma;
  the remaining error is corrected by further movements [MeyerEtAl1988].
- The operator waits for the end of a movement before the next one: with a delayed display this is move and wait
  [Ferrell1965]. The operator knows the display's delay, waits for it and then for the picture to stand still.
- A button takes 0.28 s [CardMoranNewell1980].
- Slips: with a given probability the first movement to a target, or to the place from which it is approached, goes to a
  wrong place. They are drawn by target and attempt, alike in every condition and for every strategy.
- Where the actual arm comes to rest beside a target that the simulated one has reached, the operator aims as far to the
  other side from then on.
- Near a wall a careful operator approaches from above, or lays the movement on a trial path where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from telerobot_nodes.core.values import FloatArray

STILL_SPEED = 0.003  # [m/s] the picture stands still below it
APPROACH_WIDTH = 0.03  # [m] of the place above a target near a wall
DOUBT = 2.0  # [s] longer than the arm is behind: it rests elsewhere
BACK = 0.01  # [m] so near the simulated tool is back where the operator wants it


@dataclass(frozen=True)
class Human:
    """Parameters of the operator model."""

    reaction: float = 0.24  # [s]
    fitts_a: float = 0.1  # [s]
    fitts_b: float = 0.2  # [s/bit]
    scatter: float = 0.05  # [-] of the distance
    least_scatter: float = 0.001  # [m]
    button: float = 0.28  # [s]
    settle: float = 0.2  # [s] the picture must stand still
    slip: float = 0.1  # [-] probability per target
    slip_distance: float = 0.06  # [m]


@dataclass(frozen=True)
class Goal:
    """A target of the tool."""

    position: FloatArray  # (3,) [m] WORLD
    width: float  # [m] diameter of the target
    check: bool = False  # the real arm must be seen there before the operator continues
    near_wall: bool = False  # a movement that ends beside it may touch a wall
    approach: bool = False  # a place above the next target, from which that is approached


@dataclass(frozen=True)
class Strategy:
    """The controls that a condition lets the operator use."""

    position_clutch_below: float = 0.0  # [m] narrower targets, and those near a wall, are tried on the trial path first
    brake: bool = False  # what was drawn in vain is taken back with the time brake
    moves_on: bool = False  # from a wrong movement, instead of taking it back
    caution: float = 0.0  # [m] above a target, to begin with, where a plate may stand higher than it is drawn
    approach: float = 0.0  # [m] height from which targets near a wall are approached; 0: at once

    def tries(self, goal: Goal) -> bool:
        """True when the movement to this target is laid on a trial path."""
        return self.position_clutch_below > 0.0 and (goal.near_wall or goal.width < self.position_clutch_below)

    def ways(self, goals: Sequence[Goal]) -> list[Goal]:
        """The targets with those from which they are approached."""
        if not self.approach:
            return list(goals)
        above = np.array([0.0, 0.0, self.approach])
        return [
            step
            for goal in goals
            for step in (
                (Goal(goal.position + above, APPROACH_WIDTH, approach=True), goal) if goal.near_wall else (goal,)
            )
        ]


@dataclass(frozen=True)
class View:
    """The picture that the operator sees."""

    tool: FloatArray  # (3,) [m] of the display in use: delayed arm, or simulated arm
    delay: float  # [s] from moving the hand to seeing it there, as displayed
    arm: FloatArray  # (3,) [m] of the real arm, delayed
    behind: float  # [s] until the real arm has shown all, as the display tells


class Act(Enum):
    """Actions of the operator besides moving the hand."""

    NONE = "nothing"
    DISENGAGE = "disengage the position clutch"
    CONNECT = "engage the position clutch with a connecting path"
    BRAKE = "hold the time brake"
    RELEASE = "release the time brake"


class _Doing(Enum):
    BEGIN = 0  # about to begin the next goal
    REACT = 1
    MOVE = 2
    WATCH = 3
    PRESS = 4  # about to hold the brake
    BRAKE = 5
    CONNECT = 6
    CONFIRM = 7
    DONE = 8


class ScriptedOperator:
    """Works through `goals`; `hand` (3,) [m] is the hand's position in the device's coordinates."""

    def __init__(
        self,
        goals: Sequence[Goal],
        seed: int,
        strategy: Strategy,
        human: Human | None = None,
        hands_over: bool = False,
    ) -> None:
        """`hands_over`: done at the last goal on the display; the sight of the actual arm there is another's."""
        self.human = human or Human()
        self._hands_over = hands_over
        self.hand = np.zeros(3)
        self.movements = 0
        self.slips = 0
        self._goals = strategy.ways(goals)
        self._strategy = strategy
        self._takes_back_slips = strategy.brake and not strategy.moves_on
        self._seed = seed
        self._attempts = [0] * len(self._goals)
        self._bias = np.array([0.0, 0.0, strategy.caution])  # [m] from a target to where the operator aims
        self._moved_from: int | None = None  # first target that has moved since the operator was there
        self._random = np.random.default_rng(seed)
        self._number = 0
        self._doing = _Doing.BEGIN
        self._since = 0.0
        self._until = 0.0
        self._start = self._end = self.hand
        self._returns_to = np.zeros(3)
        self._after_brake = _Doing.REACT
        self._slip = np.zeros(3)  # [m] error of the first movement to the goal
        self._slipped = False
        self._tried = False
        self._aims = 0  # movements to this goal
        self._viewed = -np.inf
        self._seen = np.full(3, np.inf)
        self._still_since = 0.0

    @property
    def done(self) -> bool:
        """True once the operator has seen the actual arm at the last goal."""
        return self._doing is _Doing.DONE

    def see_moved(self, goals: Sequence[Goal]) -> None:
        """The picture shows the targets elsewhere: those already passed among them are done again."""
        moved = self._strategy.ways(goals)
        changed = [
            n
            for n, (old, new) in enumerate(zip(self._goals, moved, strict=True))
            if np.any(old.position != new.position)
        ]
        self._goals = moved
        if changed and self._number > changed[0]:
            self._moved_from = changed[0]

    def step(self, now: float, view: View) -> Act:
        """Return the action at `now` [s] and update `hand`. Call about every 20 ms."""
        self._watch_stillness(now, self._picture(view))
        act = Act.NONE
        if self._doing is _Doing.MOVE:
            self._move(now, view)
        elif now >= self._until:
            act = self._decide(now, view)
        return act

    def _decide(self, now: float, view: View) -> Act:
        if self._doing is _Doing.BEGIN:
            return self._begin(now, view)
        if self._doing is _Doing.REACT:
            self._aim(now, view)
        elif self._doing is _Doing.WATCH:
            return self._judge(now, view)
        elif self._doing is _Doing.PRESS:
            self._still_since = now
            self._turn(_Doing.BRAKE, now)
            return Act.BRAKE
        elif self._doing is _Doing.BRAKE:
            return self._braked(now, view)
        elif self._doing is _Doing.CONNECT:
            self._tried = False
            self._next(now, self.human.button)
            return Act.CONNECT
        elif self._doing is _Doing.CONFIRM:
            self._confirm(now, view)
        return Act.NONE

    def _begin(self, now: float, view: View) -> Act:
        if self._moved_from is not None:
            self._go_back(now)
            return Act.NONE
        goal = self._goals[self._number]
        self._returns_to = np.array(view.tool)
        self._random, first = self._drawn()
        self._attempts[self._number] += 1
        angle = self._random.uniform(0.0, 2.0 * np.pi)
        self._slipped = first and bool(self._random.random() < self.human.slip)
        self._slip = self.human.slip_distance * np.array([np.cos(angle), np.sin(angle), 0.0]) * self._slipped
        self._aims = 0
        self.slips += int(self._slipped)
        self._tried = self._strategy.tries(goal)
        self._turn(_Doing.REACT, now + self.human.reaction + (self.human.button if self._tried else 0.0))
        return Act.DISENGAGE if self._tried else Act.NONE

    def _drawn(self) -> tuple[np.random.Generator, bool]:
        """Chance of this attempt, by target; False: the first movement to the target was its approach."""
        target = sum(not goal.approach for goal in self._goals[: self._number])
        attempt = self._attempts[self._number]
        descends = attempt == 0 and self._number > 0 and self._goals[self._number - 1].approach
        return np.random.default_rng([self._seed, target, attempt, *[1] * descends]), not descends

    def _aim(self, now: float, view: View) -> None:
        human = self.human
        way = self._goals[self._number].position + self._bias - view.tool + (self._slip if self._aims == 0 else 0.0)
        self._aims += 1
        distance = float(np.linalg.norm(way))
        sigma = max(human.scatter * distance, human.least_scatter) / np.sqrt(3.0)
        self._start = self.hand
        self._end = self.hand + way + self._random.normal(0.0, sigma, 3)
        width = 4.13 * max(human.scatter * distance, human.least_scatter)
        self._since = now
        self._until = now + human.fitts_a + human.fitts_b * np.log2(1.0 + distance / width)
        self._doing = _Doing.MOVE
        self.movements += 1

    def _move(self, now: float, view: View) -> None:
        u = min((now - self._since) / (self._until - self._since), 1.0)
        self.hand = self._start + (self._end - self._start) * u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        if u >= 1.0:
            self._turn(_Doing.WATCH, now + view.delay)
            self._still_since = self._until

    def _judge(self, now: float, view: View) -> Act:
        if now - self._still_since < self.human.settle:
            return Act.NONE
        goal = self._goals[self._number]
        gap = float(np.linalg.norm(view.tool - goal.position - self._bias))
        if gap <= 0.5 * goal.width:
            if self._tried:
                self._turn(_Doing.CONNECT, now + self.human.reaction + self.human.button)
            else:
                self._next(now, self.human.reaction)
        elif self._takes_back_slips and self._slipped and not self._tried:
            self._press_brake(now, then=_Doing.REACT)
        else:
            self._slipped = False
            self._turn(_Doing.REACT, now + self.human.reaction)
        return Act.NONE

    def _braked(self, now: float, view: View) -> Act:
        back = float(np.linalg.norm(view.tool - self._returns_to)) < BACK
        if not back and now - self._still_since < 2.0 * self.human.settle:
            return Act.NONE
        self._slipped = False
        self._turn(self._after_brake, now + self.human.button)
        return Act.RELEASE  # he has seen it come

    def _go_back(self, now: float) -> None:
        """To the first target that moved: along the plan, un-planning it, where there is a brake."""
        first, self._moved_from = self._moved_from or 0, None
        self._number = first
        self._returns_to = self._goals[first - 1].position + self._bias if first else self._returns_to
        if self._strategy.brake:
            self._press_brake(now, then=_Doing.BEGIN)

    def _press_brake(self, now: float, then: _Doing) -> None:
        self._after_brake = then
        self._turn(_Doing.PRESS, now + self.human.reaction + self.human.button)

    def _next(self, now: float, pause: float) -> None:
        goal = self._goals[self._number]
        last = self._number == len(self._goals) - 1
        if last and self._hands_over:
            self._turn(_Doing.DONE, now + pause)
            return
        if goal.check or last:
            self._turn(_Doing.CONFIRM, now + pause)
            return
        self._number += 1
        self._turn(_Doing.BEGIN, now + pause)

    def _confirm(self, now: float, view: View) -> None:
        """Wait until the actual arm is seen at the goal; correct if it rests elsewhere."""
        goal = self._goals[self._number]
        there = float(np.linalg.norm(view.arm - goal.position)) <= 0.5 * goal.width
        still = now - self._still_since
        if self._moved_from is not None:
            self._turn(_Doing.BEGIN, now)
        elif not there and still > view.behind + DOUBT:  # it rests elsewhere: move again, as far to the other side
            if float(np.linalg.norm(view.tool - goal.position - self._bias)) <= 0.5 * goal.width:
                self._bias = self._bias + goal.position - view.arm
            self._turn(_Doing.BEGIN, now)
        elif there and still >= self.human.settle:
            self._confirmed(now)

    def _confirmed(self, now: float) -> None:
        if self._number == len(self._goals) - 1:
            self._doing = _Doing.DONE
            return
        self._number += 1
        self._turn(_Doing.BEGIN, now)

    def _turn(self, doing: _Doing, until: float) -> None:
        self._doing, self._until = doing, until

    def _picture(self, view: View) -> FloatArray:
        return view.arm if self._doing is _Doing.CONFIRM else view.tool

    def _watch_stillness(self, now: float, picture: FloatArray) -> None:
        """Record since when the picture stands still; it is sampled every 50 ms."""
        if now - self._viewed < 0.05:
            return
        moved = float(np.linalg.norm(picture - self._seen))
        self._seen = np.array(picture)
        self._viewed = now
        if moved > STILL_SPEED * 0.05:
            self._still_since = now
