"""How fast plan points are sent: as fast as the link carries them, so that a stop behind them arrives at once.

What belongs here: the rate, from what was sent and acknowledged. What must never enter: operations, clocks.

The link's bandwidth is not known. A rate is proven when what was sent at that rate came back without having waited;
then several times as much is tried. So a wide link is found in one round trip. When acknowledgements come later than
the link's delay explains, points wait somewhere on the link: the rate is set below what was delivered, so that they
leave, and raised in small steps from then on. Both ideas are those of BBR [CardwellChengGunn2016].

Jitter must not be taken for points that wait. Round trips that vary by themselves fall as often as they rise; while
points gather on the link, they rise only. So how far they fall tells how much jitter there is. Where less is sent than
is allowed, as by a hand, points gather slowly if at all. There more jitter is believed, and the rate is lowered only
when round trips have been long for as long as the least one.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from telerobot_nodes.errors import InvalidValueError

SPAN = 0.1  # [s] over which the rate of sending is measured while the bandwidth is not known
LONG_SPAN = 0.5  # [s] over which it is, later, and the rate of delivery
USED = 0.7  # [-] share of the rate that was sent, for a higher one to be worth a trial
FORGET = 20.0  # [s] after which the least round trip is measured anew
DRAIN = 0.8  # [-] of the rate of delivery, while points wait on the link
SETTLE = 5.0  # [s] in which points that wait become fewer
SHORTER = 0.5 * (1.0 - DRAIN) * SETTLE  # [s] by which the round trip is shorter then, at least
PROOF = 3  # acknowledgements without having waited, one after the other, that prove a rate: with jitter, one may be luck
LOSS = 0.7  # [-] of the rate that is kept when something was lost
FALLS = 10.0  # [-] jitter explains this many mean falls of the round trip: 5.6 standard deviations of a normal one
MOST_JITTER = 0.4  # [s] that is explained so: what a stop may come later on a thin link whose messages differ in size
UNUSED_JITTER = 0.5  # [-] of the least round trip, the same where less is sent than is allowed
REMEMBERED = 32  # round trips in the mean


@dataclass(frozen=True)
class RateConfig:
    """Bounds of the rate; validated when made."""

    first: float = 30_000.0  # [B/s] until a rate is proven: the thinnest link that is at once used well
    least: float = 2_000.0  # [B/s]
    most: float = 5_000_000.0  # [B/s]
    burst: float = 5_000.0  # [B] sent at once after a rest
    waiting: float = 0.12  # [s] beyond the least round trip: points wait on the link; reports and polls explain less
    gain: float = 8.0  # [-] of a proven rate, tried next
    careful: float = 1.15  # [-] the same, once points have waited on the link

    def __post_init__(self) -> None:
        if not 0.0 < self.least <= self.first <= self.most < float("inf"):
            allowed = "allowed: 0 < least <= first <= most"
            raise InvalidValueError("rate.least, first, most", (self.least, self.first, self.most), allowed)


@dataclass
class _Slow:
    """A round trip that has become longer: points of ours that wait, or the link."""

    due: float  # [s] what is looked at next was sent after it
    rate: float  # [B/s] before
    round_trip: float = -1.0  # [s] at the first look


class _Jitter:
    """How much round trips vary by themselves, from how far they fall: points that wait make them rise only."""

    def __init__(self) -> None:
        self._last = math.nan  # [s]
        self._fall, self._count = 0.0, 0  # [s] mean, and of how many

    def add(self, round_trip: float) -> None:
        """Note the next round trip [s]."""
        if not math.isnan(self._last):
            self._count = min(self._count + 1, REMEMBERED)
            self._fall += (max(self._last - round_trip, 0.0) - self._fall) / self._count
        self._last = round_trip

    @property
    def explains(self) -> float:
        """Time [s] beyond the least round trip that needs no other reason."""
        return FALLS * self._fall


class SendRate:
    """Credit [B] for points. Times `now` [s] of one monotonic clock."""

    def __init__(self, config: RateConfig | None = None) -> None:
        self._config = config or RateConfig()
        self.rate = self._config.first  # [B/s]
        self._gain = self._config.gain
        self._credit = self._config.burst
        self._credited = -1.0  # [s] up to when
        self._sent: deque[tuple[float, float]] = deque([(-1.0, 0.0)])  # time [s], total [B]
        self._delivered: deque[tuple[float, float]] = deque()
        self._delivered_total = 0.0
        self._flying = 0.0  # [B] sent and not acknowledged
        self._least: list[float] = []  # least round trips [s] of this and of the last FORGET seconds
        self._least_since = -1.0
        self._changed = -1.0  # [s] when the rate was lowered last
        self._noticed = math.inf  # [s] since when round trips are longer than delay and jitter explain
        self._slow: _Slow | None = None
        self._jitter = _Jitter()
        self._clean = 0  # latest acknowledgements that came without having waited

    def credit(self, now: float) -> float:
        """Bytes of points that may be sent again now; negative after something larger was sent."""
        if self._credited >= 0.0:
            most = max(self._config.burst, SPAN * self.rate)
            self._credit = min(self._credit + self.rate * max(now - self._credited, 0.0), most)
        self._credited = now
        return self._credit

    def room(self, now: float) -> float:
        """Bytes of new points that may be sent now: a link that is thinner than known, or cut, is not filled further."""
        most = self.rate * (min(self._least) + LONG_SPAN) + self._config.burst if self._least else float("inf")
        return min(self.credit(now), most - self._flying)

    @property
    def drain_time(self) -> float:
        """Time [s] that the points on their way need at the rate."""
        return self._flying / self.rate

    def sent(self, now: float, size: float, again: bool = False) -> None:
        """Note that `size` bytes of points were sent; `again`: not for the first time."""
        self.credit(now)
        self._credit -= size
        self._flying += 0.0 if again else size
        self._sent.append((now, self._sent[-1][1] + size))

    def acknowledged(
        self,
        now: float,
        size: float,
        sent: float,
        round_trip: float,
        lost: float = math.nan,
        carried: float = math.nan,
    ) -> None:
        """Note that `size` bytes, the newest sent at `sent` [s], are confirmed.

        `round_trip` [s] on the link; nan: not known. `lost` [s]: of those that were lost, when the newest was sent
        first; nan: none was. `carried`: bytes that the link had to carry for them, all copies; nan: `size`.
        """
        self._flying -= size
        self._delivered_total += size if math.isnan(carried) else carried
        self._delivered.append((now, self._delivered_total))
        while len(self._delivered) > 2 and self._delivered[0][0] < now - max([LONG_SPAN, *self._least]):
            self._delivered.popleft()
        waited = not math.isnan(round_trip) and self._waited(now, sent, round_trip)
        if not math.isnan(lost):
            self._lower(now, lost, LOSS * self.rate)
        elif waited:
            self._gain = self._config.careful
            self._drain(now, sent, round_trip - min(self._least))
        elif self._gain > self._config.careful:
            self._clean = 0 if round_trip > self._longest() else self._clean + 1
            if self._clean >= PROOF:
                self.rate = min(max(self.rate, self._gain * self._rate_at(sent, SPAN)), self._config.most)
        elif sent >= self._changed and self._rate_at(sent, LONG_SPAN) > USED * self.rate:
            self.rate = min(self._gain * self.rate, self._config.most)
            self._changed = now

    def _lower(self, now: float, first_sent: float, rate: float) -> None:
        """Lower the rate; once for all that was sent before it was lowered."""
        if first_sent >= self._changed:
            self.rate = max(min(rate, self.rate), self._config.least)
            self._changed = now
            self._credit = min(self._credit, 0.0)

    def _drain(self, now: float, sent: float, waited: float) -> None:
        """Lower the rate below that of delivery, once that is known; until then, once, a little.

        `waited` [s]: by the newest points, on the link.
        """
        delivery = self._delivery(waited)
        if delivery < 0.0:
            self._lower(now, sent, DRAIN * self.rate)
        elif DRAIN * delivery < self.rate:
            self._lower(now, now, DRAIN * delivery)

    def _waited(self, now: float, sent: float, round_trip: float) -> bool:
        """True when `round_trip` [s] is longer than the link's delay explains."""
        if not self._least or now - self._least_since > FORGET:
            self._least = [*self._least[-1:], round_trip]
            self._least_since = now
        self._least[-1] = min(self._least[-1], round_trip)
        self._jitter.add(round_trip)
        used = self._is_used(sent)
        most = MOST_JITTER if used else max(MOST_JITTER, UNUSED_JITTER * min(self._least))
        if round_trip <= self._longest() + min(self._jitter.explains, most):
            self._slow, self._noticed = None, math.inf
            return False
        self._noticed = min(self._noticed, now)
        if now < self._noticed + min(self._least) and not used:
            return False
        return not self._delay_grew(now, sent, round_trip)

    def _is_used(self, sent: float) -> bool:
        """True when about as much was sent up to `sent` [s] as was allowed, by the rate or by what was on its way.

        So is more than the first rate: more than a hand needs, and it fills a thin link before a round trip is over.
        """
        much = min(USED * self.rate, self._config.first)
        return self._rate_at(sent, LONG_SPAN) >= much or self.drain_time >= USED * min(self._least)

    def _longest(self) -> float:
        """Round trip [s] without jitter of what has not waited."""
        return min(self._least, default=math.inf) + self._config.waiting

    def _delay_grew(self, now: float, sent: float, round_trip: float) -> bool:
        """True when the link itself has become slower: points of ours that waited would be fewer by now.

        Two round trips are compared: of what was sent once the rate had been lowered, and SETTLE later.
        """
        slow = self._slow = self._slow or _Slow(now, self.rate)
        if sent <= slow.due:
            return False
        if slow.round_trip < 0.0:
            slow.due, slow.round_trip = sent + SETTLE, round_trip
            return False
        self._slow = None
        if round_trip <= slow.round_trip - SHORTER:
            return False
        self._least, self.rate = [round_trip], max(self.rate, slow.rate)
        return True

    def _rate_at(self, time: float, span: float) -> float:
        """Rate of sending [B/s] over the `span` [s] up to `time` [s]; what was sent long before is forgotten."""
        while len(self._sent) > 1 and self._sent[1][0] < time - LONG_SPAN:
            self._sent.popleft()
        return (self._total(time) - self._total(time - span)) / span

    def _total(self, time: float) -> float:
        """Bytes sent up to `time` [s]."""
        return next((total for at, total in reversed(self._sent) if at <= time), self._sent[0][1])

    def _delivery(self, waited: float) -> float:
        """Rate of delivery [B/s] over LONG_SPAN, or for as long as the newest points `waited` [s]; negative: not known.

        The link was busy meanwhile. On a thin one two acknowledgements are further apart than LONG_SPAN.
        """
        ended, total = self._delivered[-1]
        span = max(LONG_SPAN, waited)
        begun, before = next(one for one in self._delivered if one[0] >= ended - span)
        return (total - before) / (ended - begun) if ended - begun > SPAN else -1.0
