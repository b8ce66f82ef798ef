"""What one host knows of another: when it sent last, whether it receives from this host, how far away it is.

Ages are differences of one clock: the clocks of two hosts are never compared. How late a message is, is judged by the
shortest way of the last seconds; how long that way is does not matter.
"""

from __future__ import annotations

import math

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link.link_states import LinkEvent, after

REFUSED_SILENCE = 2.0  # [s] more: a peer that is refused sends fewer datagrams that count
UNKNOWN_ROUND_TRIP = 2.0  # [s] in which a peer that was just met may answer
ROUND_TRIP_MEMORY = 20.0  # [s] over which the shortest round trip is taken
WAY_MEMORY = 5.0  # [s] the shortest way: after a step of the delay, what expires does so for twice this at most


class Shortest:
    """Least value of the last `memory` seconds, or of twice that."""

    def __init__(self, memory: float) -> None:
        self._memory = memory
        self._since = -math.inf
        self._now = self._before = math.inf

    def add(self, now: float, value: float) -> None:
        """Take a value."""
        if now - self._since > self._memory:
            self._before, self._now, self._since = self._now, math.inf, now
        self._now = min(self._now, value)

    @property
    def value(self) -> float:
        """Infinite: none yet."""
        return min(self._now, self._before)


class PeerWatch:
    """Heartbeats of one peer, and the state they lead to."""

    def __init__(self, stale_after: float) -> None:
        self.state = LinkState.WAITING
        self.mismatch = ""  # why its handshake does not fit
        self.peer_age = math.inf  # [s] since it received from this host, as it reported last
        self.peer_refused = 0  # what it has refused since its alarm was raised, as it reported last; 0: no alarm
        self._stale_after = stale_after
        self._heard = -math.inf
        self._heard_since = math.inf
        self._round_trip = Shortest(ROUND_TRIP_MEMORY)
        self._way = Shortest(WAY_MEMORY)  # arrival minus stamp: shortest way, plus the difference of the clocks
        self.beat_stamp = 0.0  # [s] of its latest beat, on its clock
        self.beat_arrived = -math.inf

    def meet(self, now: float) -> None:
        """A session with it was opened: its clock is another."""
        self.peer_age, self.peer_refused = math.inf, 0
        self._way, self._round_trip = Shortest(WAY_MEMORY), Shortest(ROUND_TRIP_MEMORY)
        self.beat_stamp, self.beat_arrived = 0.0, -math.inf
        self._heard_since = now
        self.hear(now)

    def hear(self, now: float) -> None:
        """Anything of the open session has arrived."""
        if now - self._heard > self._stale_after:
            self._heard_since, self.peer_age = now, math.inf
        self._heard = now

    def on_beat(self, now: float, stamp: float, age: float, echo: float | None, held: float, refused: int) -> None:
        """A beat with its stamp, its age of this host, this host's own beat that it echoes, and what it refuses."""
        self._way.add(now, now - stamp)
        if stamp > self.beat_stamp:
            self.beat_stamp, self.beat_arrived, self.peer_age, self.peer_refused = stamp, now, age, refused
        if echo is not None and echo <= now:
            self._round_trip.add(now, max(0.0, now - echo - held))

    def update(self, now: float) -> bool:
        """Take the state that is right now; whether it is another."""
        before, self.state = self.state, after(self.state, self._event(now))
        return self.state is not before

    def _event(self, now: float) -> LinkEvent:
        if self.age(now) > self._stale_after + (REFUSED_SILENCE if self.mismatch else 0.0):
            return LinkEvent.SILENT
        if self.mismatch:
            return LinkEvent.MISMATCH
        if self.peer_age <= self._stale_after:
            return LinkEvent.ECHOED
        grace = self._stale_after + (self.round_trip if self.round_trip >= 0.0 else UNKNOWN_ROUND_TRIP)
        said = math.isfinite(self.peer_age) and self.state is LinkState.FRESH
        deaf = said or now - self._heard_since > grace
        return LinkEvent.DEAF if deaf else LinkEvent.HEARD

    def age(self, now: float) -> float:
        """Seconds since something was received from it; infinite: never."""
        return now - self._heard

    def silence(self, now: float) -> float:
        """Seconds in which one of the two hosts has received nothing from the other, as far as known here."""
        return max(self.age(now), self.peer_age)

    @property
    def round_trip(self) -> float:
        """Shortest recent round trip [s]; negative: not known."""
        return self._round_trip.value if math.isfinite(self._round_trip.value) else -1.0

    def lateness(self, now: float, stamp: float) -> float:
        """Seconds by which a message with this stamp is behind one that took the shortest way; 0: not known."""
        return max(0.0, now - stamp - self._way.value) if math.isfinite(self._way.value) else 0.0
