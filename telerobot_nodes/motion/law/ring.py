"""The ring equation [GCMSF]: trBase trTn trNom trDel trDrive = trBase trTnDest trNom, solved for trTn.

What belongs here: how sensor motion enters the equation, with its sign, and its solution trTn. The nominal place of NOM
in WORLD is trTnDest trNom trDrive^-1 (`trajectory.py`); sensor motion moves NOM from there by trDel^-1, so

    WORLD_NOM = nominal trDel^-1,    BASE_TN = trBase^-1 WORLD_NOM trNom^-1.

The state keeps trDel^-1 (StateFrame.DEL_INVERSE).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.transforms import (
    compose,
    copy,
    copy_rotation,
    invert,
    length,
    rotation_into,
    straighten,
    vector_into,
)
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawFrame, State, StateFrame, StateValue


@njit(cache=True)
def accumulate(R: FloatArray, p: FloatArray, step: FloatArray) -> None:
    """Move NOM by the displacement `step` (6,) seen in NOM: trDel <- step^-1 trDel, with (R, p) = trDel^-1.

    The sign of sensor motion is decided here only: a positive x in `step` moves NOM along its x axis.
    """
    S, Rn, pn = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    rotation_into(step[3:], S)
    compose(R, p, S, step[:3], Rn, pn)
    straighten(Rn)
    copy_rotation(Rn, R)
    copy(pn, p)


@njit(cache=True, inline="always")  # passing the state to a function costs as much as the product
def nom_in_world(state: State, R: FloatArray, p: FloatArray) -> None:
    """NOM in WORLD, with the sensor motion so far, into (R, p)."""
    R_del, p_del = state.R[StateFrame.DEL_INVERSE], state.p[StateFrame.DEL_INVERSE]
    compose(state.R[StateFrame.NOMINAL], state.p[StateFrame.NOMINAL], R_del, p_del, R, p)


@njit(cache=True)
def solve_ring(law: Law, state: State) -> None:
    """Solve for TN in BASE, into StateFrame.GOAL; size of trDel into TRANS and ANGLE."""
    R, p = np.empty((3, 3)), np.empty(3)
    Ri, pi = np.empty((3, 3)), np.empty(3)
    nom_in_world(state, R, p)
    invert(law.R[LawFrame.NOM], law.p[LawFrame.NOM], Ri, pi)
    Rt, pt = np.empty((3, 3)), np.empty(3)
    compose(R, p, Ri, pi, Rt, pt)  # WORLD_TN
    invert(law.R[LawFrame.BASE], law.p[LawFrame.BASE], Ri, pi)
    compose(Ri, pi, Rt, pt, state.R[StateFrame.GOAL], state.p[StateFrame.GOAL])
    invert(state.R[StateFrame.DEL_INVERSE], state.p[StateFrame.DEL_INVERSE], R, p)
    state.value[StateValue.TRANS] = length(p)
    state.value[StateValue.ANGLE] = vector_into(R, pi)


@njit(cache=True)
def nominal_of_tool(law: Law, R_tn: FloatArray, p_tn: FloatArray, R: FloatArray, p: FloatArray) -> None:
    """NOM in WORLD, trBase trTn trNom, into (R, p) for TN at (R_tn, p_tn) in BASE."""
    Rw, pw = np.empty((3, 3)), np.empty(3)
    compose(law.R[LawFrame.BASE], law.p[LawFrame.BASE], R_tn, p_tn, Rw, pw)
    compose(Rw, pw, law.R[LawFrame.NOM], law.p[LawFrame.NOM], R, p)


@njit(cache=True)
def absorb(law: Law, state: State, R_tn: FloatArray, p_tn: FloatArray) -> None:
    """Set trDel to its value with TN at (R_tn, p_tn) in BASE: what the arm could not do is not done later."""
    R, p = np.empty((3, 3)), np.empty(3)
    nominal_of_tool(law, R_tn, p_tn, R, p)
    Ri, pi = np.empty((3, 3)), np.empty(3)
    invert(state.R[StateFrame.NOMINAL], state.p[StateFrame.NOMINAL], Ri, pi)
    compose(Ri, pi, R, p, state.R[StateFrame.DEL_INVERSE], state.p[StateFrame.DEL_INVERSE])
