"""Guarded teleoperation [US5231693]: a surface with a guard band that no source of motion takes the tool into."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import GOAL, State
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.primitive_kinds import Guard


class GuardBand:
    """The plane of a `Guard`, for one parameter set; stops NOM's origin at the band, or where it began inside it."""

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

    def push(self, state: State) -> FloatArray | None:
        """Displacement of NOM (6,) that takes it back out of the band; None while it is out."""
        if not self._began:  # the goal of no sample is there yet
            self._began = True
            return None
        R = state.R[GOAL]
        inside = self.band - self._distance(state.p[GOAL] + R @ self._p_nom)
        if inside <= 0.0:
            return None
        out = np.zeros(6)
        out[:3] = inside * (self._R_nom.T @ (R.T @ self._normal))
        return out

    def _distance(self, p_base: FloatArray) -> float:
        """Of a point (3,) [m] in BASE from the plane."""
        return float(self._normal @ (p_base - self._point))
