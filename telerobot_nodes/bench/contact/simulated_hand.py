"""A simulated hand on a haptic device: mass, spring and damper towards where the person wants it, and a reaction.

The person wants to press with a force. As long as less is felt, after the time of a reaction, the place where the hand
is wanted moves on into the surface; when more is felt, it moves back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray

STEP = 0.001  # [s]


@dataclass(frozen=True)
class Person:
    """Numbers of a hand that holds a handle lightly, and of its person."""

    mass: float = 1.0  # [kg] hand and handle
    stiffness: float = 300.0  # [N/m] of the arm
    damping: float = 25.0  # [N s/m]
    reaction: float = 0.2  # [s]
    speed: float = 0.004  # [m/s] of feeling forward
    force: float = 10.0  # [N] wanted


class SimulatedHand:
    """Place (3,) [m] of one hand, stepped every STEP; it presses along -z."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.place, self.velocity = np.zeros(3), np.zeros(3)
        self.work = 0.0  # [J] of the hand on the device, exactly
        self._wanted = np.zeros(3)
        self._felt = deque([0.0] * max(round(person.reaction / STEP), 1))

    def step(self, force: FloatArray) -> None:
        """Advance by STEP under the device's force (3,) [N]."""
        person, before = self.person, self.place.copy()
        self._felt.append(float(force[2]))
        missing = (person.force - self._felt.popleft()) / person.force
        self._wanted[2] -= person.speed * min(max(missing, -1.0), 1.0) * STEP
        pull = person.stiffness * (self._wanted - self.place) - person.damping * self.velocity
        self.velocity += (pull + force) / person.mass * STEP
        self.place += self.velocity * STEP
        self.work -= float(force @ (self.place - before))
