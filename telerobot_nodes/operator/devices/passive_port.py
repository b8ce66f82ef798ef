"""A passive port in the time domain for the force on a hand, with an energy observer [HannafordRyu2002].

A force that comes back late may push the hand before the hand has done any work: the tool then leaves what it touched,
the force vanishes, the hand returns, and so on with growing motion. Behind this port a late force only limits a spring
between the hand and a slider: a hand that presses on loads the spring, up to the force; a hand that yields gets back
what it put in; where the force falls, the slider slips. So the force grows with the hand's own motion only, and the
hand touches a passive device whatever lies behind (delay, jitter, losses, a plan, clutches, a stiff wall). The observer
keeps the account of the work, force held times distance moved; a controller takes the force away where sampling made a
debt.

Measured against a controller alone, which lets the whole force pass until the account is empty: at 100 Hz it switches
the force on and off, loses some energy each time, and a hand on 13 N feels 4 N. Why not wave variables
[NiemeyerSlotine1991]: they need both directions as waves, so the robot would move otherwise than the operator drew,
with a drift after each loss, and their impedance would have to fit the hand. The price of the port: a force that
arrives while the hand is still is felt only as the hand presses on, by force / stiffness.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray

RELEASE = 0.05  # [s] time constant with which a stored energy may be given back
DEFICIT = 0.024  # [J] given too much, by motion between two samples, at which no force is left; half: still all
_SLOW = 1e-12  # squared speed below which no power flows


class PassivePort:
    """Force, or torque, of one device towards one hand, in three degrees of freedom.

    `largest` [N] or [N m]: of the force on the hand; `stiffness` [N/m] or [N m/rad]: of the spring; `tank` [J]: largest
    energy kept for later; `damping` [N s/m] or [N m s/rad]: largest that recovers a debt.
    """

    def __init__(self, largest: float, stiffness: float, tank: float, damping: float) -> None:
        self.energy = 0.0  # [J] work of the hand on the device so far: the observer
        self._largest, self._stiffness, self._most, self._damping = largest, stiffness, tank, damping
        self._tank = 0.0  # [J] that may be given back
        self._pressed = np.zeros(3)  # [m] or [rad] deflection of the springs
        self._sign = np.zeros(3)  # of the force that each held
        self._force = np.zeros(3)

    def forget(self) -> None:
        """Keep nothing of what the hand did before: after a time in which it was not watched."""
        self._tank = min(self._tank, 0.0)
        self._pressed = np.zeros(3)

    def force(self, wanted: FloatArray, velocity: FloatArray, period: float) -> FloatArray:
        """The force (3,) on the hand until the next call: as much of `wanted` as the hand presses against.

        `velocity` (3,) of the hand: mean of the `period` [s] since the last call.
        """
        taken = -float(self._force @ velocity) * period
        self.energy += taken
        self._tank = min(self._tank + taken, self._most)
        self._force = self._without_debt(
            self._sprung(_limited(wanted, self._largest), velocity * period), velocity, period
        )
        return self._force.copy()

    def _sprung(self, wanted: FloatArray, moved: FloatArray) -> FloatArray:
        """Force of the springs, one along each axis, after the hand `moved`: as `wanted`, and no larger."""
        sign = np.sign(wanted)
        loaded = np.where(sign == self._sign, self._pressed, 0.0)
        self._sign = sign
        self._pressed = np.clip(loaded - sign * moved, 0.0, np.abs(wanted) / self._stiffness)
        force: FloatArray = self._stiffness * self._pressed * sign
        return force

    def _without_debt(self, force: FloatArray, velocity: FloatArray, period: float) -> FloatArray:
        """The force without what would give more than the account holds, and with damping while it is in debt."""
        out = force * min(max(2.0 + 2.0 * self._tank / DEFICIT, 0.0), 1.0)
        given, allowed = float(out @ velocity), self._tank / max(RELEASE, period)
        squared = float(velocity @ velocity)
        if given > allowed and squared > _SLOW:
            excess = min(given - allowed, max(given, 0.0) + self._damping * squared)
            out = out - excess / squared * velocity
        return _limited(out, self._largest)


def _limited(vector: FloatArray, largest: float) -> FloatArray:
    size = float(np.linalg.norm(vector))
    return vector * (largest / size) if size > largest else vector
