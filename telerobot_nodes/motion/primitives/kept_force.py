"""How long a motion kept the forces it was to keep; the ending conditions look at its end only."""

from __future__ import annotations

from telerobot_nodes.motion.law import State, StateSix
from telerobot_nodes.motion.parameters import GcmsfParameters

NEAR = 0.5  # of a setpoint: the largest error of a force that is kept


class KeptForce:
    """Reading `force_kept`: share of the samples in which every force and torque to keep was `NEAR` its setpoint.

    1 where none is to be kept. A setpoint of 0 does not count: it is kept in the air, too.
    """

    def __init__(self, parameters: GcmsfParameters, readings: dict[str, float]) -> None:
        setpoints = parameters.force.force_setpoints
        self._most = [(i, NEAR * abs(wanted)) for i, wanted in enumerate(setpoints) if wanted]
        self._samples = self._kept = 0
        self._readings = readings
        readings["force_kept"] = 1.0

    def watch(self, state: State) -> None:
        """Count a sample of the motion."""
        if not self._most:
            return
        errors = state.six[StateSix.FORCE_ERROR]
        self._samples += 1
        self._kept += 1
        for i, most in self._most:
            if abs(errors[i]) > most:
                self._kept -= 1
                break
        self._readings["force_kept"] = self._kept / self._samples
