"""Ending conditions [GCMSF]: moving averages of samples 200 ms apart, over `test_time`, each below its limit."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import State, StateFrame, StateSix, StateValue
from telerobot_nodes.motion.parameters import END_BITS, GcmsfParameters

SAMPLE_PERIOD = 0.2  # [s]


class EndingConditions:
    """The ending conditions of a parameter set, sampled from the law's state during the ending segment."""

    def __init__(self, parameters: GcmsfParameters) -> None:
        ending = parameters.ending
        self.select = ending.select
        self.limits = np.array([getattr(ending, name) for name in END_BITS])
        self._chosen = np.array([bool(ending.select & bit) for bit in END_BITS.values()])
        self._position_dofs = ~np.array(parameters.force.sel_vect_fc)
        self._springs_turn = any(parameters.springs.sel_vect_sp[3:])
        self._rows = np.zeros((max(round(ending.test_time / SAMPLE_PERIOD), 1), len(END_BITS)))
        self._count = 0
        self._last = np.full(4, np.nan)
        self._next = -np.inf

    def begin(self, now: float) -> None:
        """Begin the ending segment at `now` [s] without samples."""
        self._count = 0
        self._last[:] = np.nan
        self._next = now

    @property
    def averages(self) -> FloatArray:
        """Moving averages (8,) in the order of the bits; NaN until `test_time` has been sampled."""
        if self._count < len(self._rows):
            return np.full(len(END_BITS), np.nan)
        mean: FloatArray = self._rows.mean(axis=0)
        return mean

    @property
    def satisfied(self) -> bool:
        """True when at least one condition is selected and all selected conditions hold."""
        if not self.select or self._count < len(self._rows):
            return False
        return bool((self.averages <= self.limits)[self._chosen].all())

    def sample(self, now: float, state: State) -> bool:
        """Take a sample if one is due; returns whether it was."""
        if now < self._next - 1e-9:
            return False
        self._next += SAMPLE_PERIOD
        errors = ending_errors(state, self._position_dofs, self._springs_turn)
        rates = np.abs(errors - self._last) / SAMPLE_PERIOD
        first = bool(np.isnan(self._last).any())
        self._last[:] = errors
        if first:  # no rate yet
            return True
        row = self._rows[self._count % len(self._rows)]
        row[:2], row[2:4], row[4:6], row[6:] = errors[:2], rates[:2], errors[2:], rates[2:]
        self._count += 1
        return True


def ending_errors(state: State, position_dofs: FloatArray, springs_turn: bool) -> FloatArray:
    """Offset [m] of the position DOFs, rotation [rad], force error [N], torque error [N m] of the law's state.

    The rotation is that of the orientation spring if there is one, else the angle of trDel. Force errors include only
    force-controlled degrees of freedom, in SENSE.
    """
    R, p = state.R[StateFrame.DEL_INVERSE], state.p[StateFrame.DEL_INVERSE]
    offset = -(R.T @ p)
    angle = np.linalg.norm(state.six[StateSix.SPRING]) if springs_turn else state.value[StateValue.ANGLE]
    error = np.where(position_dofs, 0.0, state.six[StateSix.FORCE_ERROR])
    return np.array(
        [np.linalg.norm(offset[position_dofs[:3]]), angle, np.linalg.norm(error[:3]), np.linalg.norm(error[3:])]
    )
