"""A device that is moved in space, such as a phone or a headset's controller, as the operator's hand.

Its poses count while its dead man's button is held. When it is held anew, elsewhere, the motion goes on from where it
was let go, as with a mouse that is lifted.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from telerobot_nodes.core.values import FloatArray, finite, poses

GAP = 0.3  # [s] without a pose after which the device counts as let go; that of the queue
DRIFT = 1e-3  # [s/s] by which two clocks may drift apart
_WORLD_FROM_XR = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class RemoteClock:
    """Times of another host's clock on this one's: the message that travelled the shortest tells the difference.

    It has to hear some messages before its times are good to a few milliseconds.
    """

    def __init__(self) -> None:
        self._behind = np.inf  # [s] of the other clock, with the shortest way
        self._heard = 0.0  # [s]
        self._told = -np.inf  # [s] latest time returned

    def here(self, time: float, received: float) -> float:
        """When, on this host's clock [s], it was `time` there, of a message `received` now.

        Not after that, and not before what was returned last.
        """
        behind = received - time
        if abs(behind - self._behind) > 1.0:
            self._behind = behind  # the other clock was set
        self._behind = min(self._behind + DRIFT * max(received - self._heard, 0.0), behind)
        self._heard = received
        self._told = max(self._told, time + self._behind)
        return self._told


class TrackedHand:
    """Motion of the device while it is held, as one pose that never jumps where it is held anew."""

    def __init__(self) -> None:
        self._pose: FloatArray | None = None  # latest given
        self._start: FloatArray | None = None  # (2, 7): of the device and given, when it was held; None: it is not
        self._taken = -np.inf  # [s]

    def move(self, taken: float, pose: object) -> FloatArray:
        """The hand's pose (7,) for one of the held device, `taken` at this time [s]; axes of both: WORLD's.

        Raises InvalidValueError naming the field.
        """
        device = poses(pose, "pose")[0]
        if self._start is None or finite(taken, "taken") - self._taken > GAP:
            self._start = np.array((device, device if self._pose is None else self._pose))
        self._taken = taken
        self._pose = _moved(self._start[1], self._start[0], device)
        return self._pose

    def let_go(self) -> None:
        """The button was let go: what the device does from now on does not count."""
        self._start = None


class HeldPoses:
    """Poses of a held device, for whoever receives them: their velocity, and whether they count."""

    def __init__(self) -> None:
        self._latest: tuple[float, FloatArray] | None = None  # when taken [s], and pose
        self._received = -np.inf  # [s]
        self._counts = True

    def receive(self, now: float, taken: float, pose: FloatArray) -> FloatArray | None:
        """Velocity (6,) [m/s, rad/s] since the pose before, WORLD axes, zero for the first; None: it does not count."""
        anew = now - self._received > GAP
        self._counts |= anew
        before, self._latest, self._received = (None if anew else self._latest), (taken, pose), now
        if not self._counts:
            return None
        if before is None or taken <= before[0]:
            return np.zeros(6)
        turned = (_turn(pose) * _turn(before[1]).inv()).as_rotvec()
        return np.concatenate((pose[:3] - before[1][:3], turned)) / (taken - before[0])

    def let_go(self) -> None:
        """Nothing counts any more until the device was let go."""
        self._counts = False

    def fell_silent(self, now: float) -> bool:
        """True once, when the device was let go."""
        silent = self._latest is not None and now - self._received > GAP
        if silent:
            self._latest = None
        return silent


def world_from_xr(pose: object) -> FloatArray:
    """A pose of WebXR (x right, y up, z back) in axes x forward, y left, z up. Raises InvalidValueError."""
    given = poses(pose, "pose")[0]
    return np.concatenate((_WORLD_FROM_XR @ given[:3], _WORLD_FROM_XR @ given[3:6], given[6:]))


def _moved(base: FloatArray, start: FloatArray, now: FloatArray) -> FloatArray:
    turned = _turn(now) * _turn(start).inv() * _turn(base)
    return np.concatenate((base[:3] + now[:3] - start[:3], turned.as_quat()))


def _turn(pose: FloatArray) -> Rotation:
    return Rotation.from_quat(pose[3:])
