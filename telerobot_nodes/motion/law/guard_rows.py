"""The guard in the law [US5231693]: parts of the tool that must not come nearer to planes than allowed.

Sensor motion, whatever its source, is shortened before it enters the sum: it slows down near a plane and slides along
it (`keep_out`). For everything else, also a nominal motion and the lag of limited joints, `room` says how far the tool
would stay from the planes if the joints were brought to rest now; who steps the law stops it while there is room.

A part is a point or a disc. Points are the corners of a box; two discs are the ends of a cylinder; a ball is a point
whose radius is added to its least distance.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.robot import Chain, Workspace, forward
from telerobot_nodes.core.transforms import turn_back
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawValue
from telerobot_nodes.motion.law.ring import nominal_of_tool

# columns of the rows of `Law.guard`: a plane in WORLD (normal, offset along it), a part in NOM (its middle, and
# axis and radius of a disc; radius 0: a point), its least distance
NORMAL, OFFSET, POINT, LEAST, AXIS, DISC = 0, 3, 4, 7, 8, 11
EDGE = 5e-4  # [m] that sensor motion keeps more than the least distance
APPROACH = 0.15  # [s] time constant of coming nearer: more than joints need to come to rest from full speed
_PLACES = 6  # of the way to rest that are looked at, with its end
_SWEEPS = 4  # over all rows: at an edge or corner several push
_FLAT = 1e-9  # [-] sine of the angle at which a disc is parallel to a plane: every point of its rim is nearest


@njit(cache=True)
def keep_out(law: Law, R: FloatArray, p: FloatArray, step: FloatArray) -> None:
    """Shorten the displacement of NOM `step` (6,), with NOM in WORLD at (R, p), where it would come too near."""
    rows = law.guard
    if len(rows) == 0:
        return
    left = math.exp(-law.value[LawValue.SAMPLE_PERIOD] / APPROACH)
    push, place, moved = np.empty(3), np.empty(3), np.empty(3)
    for _ in range(_SWEEPS):
        pushed = False
        for row in rows:
            now = _nearest(row, R, p, push, place)
            edge = row[LEAST] + EDGE
            least = edge + (now - edge) * left if now > edge else now
            _moved(place, step, moved)
            short = least - now - (push[0] * moved[0] + push[1] * moved[1] + push[2] * moved[2])
            if short > 0.0:
                pushed = True
                for i in range(3):
                    step[i] += short * push[i]
        if not pushed:
            break


@njit(cache=True)
def _nearest(row: FloatArray, R: FloatArray, p: FloatArray, normal: FloatArray, place: FloatArray) -> float:
    """Distance [m] of a row's part from its plane, with NOM in WORLD at (R, p).

    The plane's normal (3,) into `normal`, the part's nearest point (3,) into `place`, both in NOM.
    """
    turn_back(R, row[NORMAL:OFFSET], normal)
    total, along = -row[OFFSET], 0.0
    for i in range(3):
        total += row[NORMAL + i] * p[i] + normal[i] * row[POINT + i]
        along += normal[i] * row[AXIS + i]
        place[i] = row[POINT + i]
    if row[DISC] > 0.0:
        across = math.sqrt(max(1.0 - along * along, 0.0))
        total -= row[DISC] * across
        for i in range(3):
            if across > _FLAT:
                place[i] -= row[DISC] * (normal[i] - along * row[AXIS + i]) / across
    return float(total)


@njit(cache=True)
def _moved(point: FloatArray, step: FloatArray, out: FloatArray) -> None:
    """Motion (3,) in NOM of a point of NOM by a small displacement of NOM."""
    out[0] = step[0] + step[4] * point[2] - step[5] * point[1]
    out[1] = step[1] + step[5] * point[0] - step[3] * point[2]
    out[2] = step[2] + step[3] * point[1] - step[4] * point[0]


@njit(cache=True)
def room(chain: Chain, ws: Workspace, law: Law, q: FloatArray, qd: FloatArray, times: FloatArray) -> float:
    """Least room [m] beyond the allowed distances while joints at `q`, `qd` come to rest within `times` (dof,) [s].

    Each joint decelerates constantly, as in the braking of a primitive.
    """
    at, R, p = np.empty(q.size), np.empty((3, 3)), np.empty(3)
    normal, nearest = np.empty(3), np.empty(3)
    least, longest = math.inf, times.max()
    for place in range(_PLACES + 1):
        for i in range(q.size):
            t = min(longest * place / _PLACES, times[i])
            at[i] = q[i] + qd[i] * (t - 0.5 * t * t / times[i])
        forward(chain, at, ws)
        nominal_of_tool(law, ws.rotation, ws.position, R, p)
        for row in law.guard:
            least = min(least, _nearest(row, R, p, normal, nearest) - row[LEAST])
    return least
