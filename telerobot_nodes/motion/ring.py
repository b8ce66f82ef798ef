"""The ring equation [GCMSF]: trBase trTn trNom trDel trDrive = trBase trTnDest trNom, solved for trTn.

What belongs here: where sensor motion goes in, with its sign, and where trTn comes out. The nominal place of NOM in
WORLD is trTnDest trNom trDrive^-1 (`trajectory.py`); sensor motion moves NOM from there by trDel^-1, so

    WORLD_NOM = nominal trDel^-1,    BASE_TN = trBase^-1 WORLD_NOM trNom^-1.

trDel^-1 is what is kept (`state.del_inverse`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import (
    ANGLE,
    BASE,
    DEL_INVERSE,
    GOAL,
    NOM,
    NOMINAL,
    TRANS,
    Law,
    State,
)
from telerobot_nodes.motion.transforms import (
    compose,
    copy,
    copy_rotation,
    invert,
    length,
    rotation_into,
    straighten,
    vector_into,
)


@njit(cache=True)
def accumulate(R: FloatArray, p: FloatArray, step: FloatArray) -> None:
    """Move NOM by `step` (6,), a displacement seen in NOM: trDel <- step^-1 trDel, kept as (R, p) = trDel^-1.

    The one place where the sign of sensor motion is decided: a positive x in `step` moves NOM along its x.
    """
    S, Rn, pn = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    rotation_into(step[3:], S)
    compose(R, p, S, step[:3], Rn, pn)
    straighten(Rn)
    copy_rotation(Rn, R)
    copy(pn, p)


@njit(cache=True)
def solve_ring(law: Law, state: State) -> None:
    """TN wanted in BASE into `state.goal` from NOM's nominal place and trDel; size of trDel into `trans`, `angle`."""
    R, p = np.empty((3, 3)), np.empty(3)
    Ri, pi = np.empty((3, 3)), np.empty(3)
    compose(state.R[NOMINAL], state.p[NOMINAL], state.R[DEL_INVERSE], state.p[DEL_INVERSE], R, p)  # WORLD_NOM
    invert(law.R[NOM], law.p[NOM], Ri, pi)
    Rt, pt = np.empty((3, 3)), np.empty(3)
    compose(R, p, Ri, pi, Rt, pt)  # WORLD_TN
    invert(law.R[BASE], law.p[BASE], Ri, pi)
    compose(Ri, pi, Rt, pt, state.R[GOAL], state.p[GOAL])
    invert(state.R[DEL_INVERSE], state.p[DEL_INVERSE], R, p)
    state.value[TRANS] = length(p)
    state.value[ANGLE] = vector_into(R, pi)


@njit(cache=True)
def nominal_of_tool(law: Law, R_tn: FloatArray, p_tn: FloatArray, R: FloatArray, p: FloatArray) -> None:
    """WORLD_NOM into (R, p) of a BASE_TN: trBase trTn trNom."""
    Rw, pw = np.empty((3, 3)), np.empty(3)
    compose(law.R[BASE], law.p[BASE], R_tn, p_tn, Rw, pw)
    compose(Rw, pw, law.R[NOM], law.p[NOM], R, p)


@njit(cache=True)
def absorb(law: Law, state: State, R_tn: FloatArray, p_tn: FloatArray) -> None:
    """Make trDel what it is when TN is at (R_tn, p_tn) in BASE: what the arm could not do is not wanted later."""
    R, p = np.empty((3, 3)), np.empty(3)
    nominal_of_tool(law, R_tn, p_tn, R, p)
    Ri, pi = np.empty((3, 3)), np.empty(3)
    invert(state.R[NOMINAL], state.p[NOMINAL], Ri, pi)
    compose(Ri, pi, R, p, state.R[DEL_INVERSE], state.p[DEL_INVERSE])
