"""Guarded teleoperation [US5231693]: a plane with a guard band that the tool must not enter (virtual fixture)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import State, StateFrame
from telerobot_nodes.motion.parameters import GcmsfParameters, Guard


class GuardBand:
    """The plane of a `Guard`; keeps the origin of NOM out of the band, or no deeper than where it began."""

    def __init__(self, guard: Guard, parameters: GcmsfParameters, T_base_tn: pin.SE3) -> None:
        T_base_world = parameters.system.se3("tr_base").inverse()
        T_nom = parameters.trajectory.se3("tr_nom")
        plane = np.array(guard.guard_plane)
        self._point = T_base_world.act(plane[:3])
        self._normal = T_base_world.rotation @ (plane[3:] / np.linalg.norm(plane[3:]))
        self._p_nom, self._R_nom = T_nom.translation.copy(), T_nom.rotation.copy()
        start = self._distance((T_base_tn * T_nom).translation)
        self.band = min(guard.guard_band, start)  # [m]
        self._began = False

    def displacement(self, state: State) -> FloatArray | None:
        """Displacement of NOM (6,) [m], [rad] that takes it back out of the band; None outside the band."""
        if not self._began:  # the first sample has no goal yet
            self._began = True
            return None
        R = state.R[StateFrame.GOAL]
        inside = self.band - self._distance(state.p[StateFrame.GOAL] + R @ self._p_nom)
        if inside <= 0.0:
            return None
        out = np.zeros(6)
        out[:3] = inside * (self._R_nom.T @ (R.T @ self._normal))
        return out

    def _distance(self, p_base: FloatArray) -> float:
        """Distance [m] of a point (3,) [m] in BASE from the plane."""
        return float(self._normal @ (p_base - self._point))
