"""The link between two hosts: delay of each kind of message, halts, cuts, bulk on a thin network.

Two real link nodes in two ROS domains, a network of this process between them, and a probe on each side. Options:
`seconds` of traffic, `halts`, `cuts`, `delay` [s] and `loss` [-] each way, `domain` (this and the next are used).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.link.relay import Relay
from telerobot_nodes.bench.link.two_hosts import Side, write_hosts
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.link import LinkSettings
from telerobot_nodes.runtime import join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import LinkProbe, Traffic

READY_LIMIT = 60.0  # [s]
HALT, OPERATIONS = "halt", "plan_executor/operations"
TELEOP, STATE = "gcmsf_control/teleop_cmds", "plan_executor/state"
REPORTS, WORLD = "rtc_decision_unit/reports", "cspace_planner/world"
Load = tuple[tuple[str, bool, float, int], ...]
LOAD: Load = (  # topic, from the robot, rate [Hz], bytes: about those of a run
    (OPERATIONS, False, 25.0, 400),
    (TELEOP, False, 50.0, 20),
    (STATE, True, 20.0, 100),
    (REPORTS, True, 4.0, 300),
    (WORLD, True, 0.5, 20_000),
)
HALT_PERIOD, REPEAT = 0.5, 0.05  # [s] between halts, between repetitions of one
STEP = 0.005  # [s]
CUT = 10.0  # [s]
SETTLE = 12.0  # [s] after a step of the delay, in which increments expire
THIN, THIN_DELAY = 2e6, 0.05  # [bit/s], [s]
BULK = (WORLD, True, 2.0, 200_000)  # more than the thin network carries


class Rig:
    """Two link nodes, a network, and a probe on each side."""

    def __init__(self, relay: Relay, robot: LinkProbe, operator: LinkProbe) -> None:
        self.relay, self.robot, self.operator = relay, robot, operator
        self._numbers: dict[str, int] = {}
        self.arrivals = {name: self._far(upward).listen(name) for name, upward in _directions().items()}

    def now(self) -> float:
        """Host monotonic time [s]."""
        return self.robot.now()

    def spin(self) -> None:
        """Receive on both sides for STEP."""
        self.robot.spin(0.5 * STEP)
        self.operator.spin(0.5 * STEP)

    def until(self, ready: Callable[[], bool], limit: float, what: str) -> float:
        """Receive until `ready`; how long it took [s]. Raises TelerobotError."""
        start = self.now()
        while not ready():
            if self.now() - start > limit:
                raise TelerobotError(f"{what}: not within {limit:g} s")
            self.spin()
        return self.now() - start

    def are(self, state: LinkState) -> bool:
        """Whether both hosts report so."""
        return self.robot.state is state and self.operator.state is state

    def send(self, name: str, size: int) -> int:
        """Send a new message of a topic; its number."""
        self._numbers[name] = number = self._numbers.get(name, 0) + 1
        self.repeat(name, number, size)
        return number

    def repeat(self, name: str, number: int, size: int = 0) -> None:
        """Send a message of this number, perhaps again."""
        near = self.operator if _directions()[name] else self.robot
        near.send(name, number, "x" * size, self.arrivals[name])

    def forget(self) -> None:
        """Begin a measurement."""
        for traffic in self.arrivals.values():
            traffic.sent.clear()
            traffic.arrived.clear()
            traffic.twice = 0

    def _far(self, upward: bool) -> LinkProbe:
        return self.robot if upward else self.operator


def run(options: Mapping[str, str]) -> dict[str, Any]:
    """Measure delays, halts, cuts and a thin network."""
    seconds, halts = float(options.get("seconds", 60.0)), int(options.get("halts", 200))
    cuts, domain = int(options.get("cuts", 3)), int(options.get("domain", 90))
    bad = LinkSettings(delay=float(options.get("delay", 0.5)), loss=float(options.get("loss", 0.05)))
    conditions = report.conditions()
    conditions["network"] = {"delay_s": bad.delay, "loss": bad.loss, "thin_bit_s": THIN, "thin_delay_s": THIN_DELAY}
    conditions["engine"] = "udp, HMAC-SHA256, both nodes on this machine, DDS on both sides included"
    with _rig(domain, 0.0) as rig:
        figures: dict[str, Any] = {"clean": _traffic(rig, LinkSettings(), seconds)}
        figures["bad"] = _traffic(rig, bad, seconds)
        figures["halts"] = _halts(rig, bad, halts)
        figures["cuts"] = [_cut(rig, bad) for _ in range(cuts)]
        figures["half_open"] = [_half_open(rig, bad, up) for up in (True, False)]
    with _rig(domain, 0.9 * THIN) as rig:
        load = (*(row for row in LOAD if row[0] != WORLD), BULK)
        figures["thin"] = _traffic(rig, LinkSettings(delay=THIN_DELAY), seconds, load, THIN)
    return report.result(conditions, figures, _goals(figures, bad))


def _goals(figures: dict[str, Any], bad: LinkSettings) -> list[dict[str, Any]]:
    d, halts = bad.delay, figures["halts"]
    stale = max((cut["stale_s"] for cut in figures["cuts"]), default=float("nan"))
    fresh = max((cut["fresh_s"] for cut in figures["cuts"]), default=float("nan"))
    return [
        report.goal("halts within d + 0.3 s", halts["within"], "-", ">=", 0.99),
        report.goal("latest halt", halts["latest_s"], "s", "<=", d + 1.5),
        report.goal("stale after a cut, both sides", stale, "s", "<=", d + 0.5),
        report.goal("fresh after a cut of 10 s, both sides", fresh, "s", "<=", d + 1.5),
        report.goal("half-open known to both sides", max(figures["half_open"]), "s", "<=", d + 1.0),
        report.goal("reports lost at a bad link", figures["bad"][REPORTS]["lost"], "-", "==", 0),
        report.goal(
            "increments that arrive at a bad link", _share(figures["bad"][TELEOP]), "-", ">=", 1.0 - 2.0 * bad.loss
        ),
        report.goal("messages twice", sum(row["twice"] for row in figures["bad"].values()), "-", "==", 0),
        report.goal(
            "operations beside bulk at 2 Mbit/s, p95", figures["thin"][OPERATIONS]["p95_s"], "s", "<=", THIN_DELAY + 0.1
        ),
        report.goal("bulk that arrives at 2 Mbit/s", figures["thin"][WORLD]["arrived"], "-", ">=", 1),
        report.goal("state beside bulk at 2 Mbit/s, p95", figures["thin"][STATE]["p95_s"], "s", "<=", THIN_DELAY + 0.1),
    ]


def _traffic(rig: Rig, settings: LinkSettings, seconds: float, load: Load = LOAD, rate: float = 0.0) -> dict[str, Any]:
    """Delays of every topic under a load; `rate` [bit/s] of the network, 0: any."""
    rig.relay.set(settings, rate)
    settled = rig.now() + SETTLE
    rig.until(lambda: rig.now() > settled and rig.are(LinkState.FRESH), READY_LIMIT, "both hosts fresh")
    rig.forget()
    bytes_before, start = rig.relay.bytes(), rig.now()
    due = {name: start for name, *_ in load}
    while rig.now() - start < seconds:
        for name, _, frequency, size in load:
            if rig.now() >= due[name]:
                due[name] += 1.0 / frequency
                rig.send(name, size)
        rig.spin()
    took = rig.now() - start
    carried = [8e-3 * (after - before) / took for after, before in zip(rig.relay.bytes(), bytes_before, strict=True)]
    end = rig.now() + 4.0 * settings.delay + 3.0
    while rig.now() < end:
        rig.spin()
    rows = {name: _row(rig.arrivals[name]) for name, *_ in load}
    rows[OPERATIONS]["up_kbit_s"], rows[STATE]["down_kbit_s"] = (round(rate, 1) for rate in carried)
    return rows


def _share(row: dict[str, Any]) -> float:
    return float(row["arrived"] / max(1, row["sent"]))


def _row(traffic: Traffic) -> dict[str, Any]:
    delays = traffic.delays()
    p50, p95, p99 = np.percentile(delays, (50, 95, 99)) if delays else (np.nan,) * 3
    return {
        "sent": len(traffic.sent),
        "arrived": len(delays),
        "lost": len(traffic.sent) - len(delays),
        "twice": traffic.twice,
        "p50_s": round(float(p50), 4),
        "p95_s": round(float(p95), 4),
        "p99_s": round(float(p99), 4),
        "max_s": round(max(delays, default=float("nan")), 4),
    }


def _halts(rig: Rig, settings: LinkSettings, count: int) -> dict[str, Any]:
    """Halts as their senders send them, repeated until they are known to have arrived."""
    rig.relay.set(settings)
    rig.until(lambda: rig.are(LinkState.FRESH), READY_LIMIT, "both hosts fresh")
    rig.forget()
    start, open_ = rig.now(), dict[int, float]()
    traffic = rig.arrivals[HALT]
    sent = 0
    while sent < count or open_:
        now = rig.now()
        if sent < count and now - start >= sent * HALT_PERIOD:
            open_[rig.send(HALT, 40)] = now
            sent += 1
        for number, last in list(open_.items()):
            confirmed = now - traffic.arrived.get(number, now) > settings.delay  # its receipt is back by then
            if confirmed or now - traffic.sent[number] > 30.0:
                del open_[number]
            elif now - last >= REPEAT:
                open_[number] = now
                rig.repeat(HALT, number, 40)
        rig.spin()
    delays = traffic.delays()
    within = sum(delay <= settings.delay + 0.3 for delay in delays) / count
    return {
        "count": count,
        "arrived": len(delays),
        "within": within,
        "p50_s": float(np.median(delays)),
        "latest_s": max(delays) if len(delays) == count else float("inf"),
    }


def _cut(rig: Rig, settings: LinkSettings) -> dict[str, float]:
    """A cut of both ways: when each host reports it, and when it is over."""
    rig.relay.set(LinkSettings(delay=settings.delay, up=False, down=False))
    start = rig.now()
    stale = rig.until(lambda: rig.are(LinkState.STALE), CUT, "both hosts stale")
    rig.until(lambda: rig.now() - start >= CUT, 2.0 * CUT, "the cut")
    rig.relay.set(settings)
    return {"stale_s": stale, "fresh_s": rig.until(lambda: rig.are(LinkState.FRESH), 30.0, "both hosts fresh")}


def _half_open(rig: Rig, settings: LinkSettings, up: bool) -> float:
    """One way is cut; the time until both hosts know [s]."""
    rig.relay.set(LinkSettings(delay=settings.delay, up=up, down=not up))
    deaf, mute = (rig.operator, rig.robot) if up else (rig.robot, rig.operator)
    known = rig.until(
        lambda: deaf.state is LinkState.STALE and mute.state is LinkState.HALF_OPEN, 30.0, "half-open on both hosts"
    )
    rig.relay.set(settings)
    rig.until(lambda: rig.are(LinkState.FRESH), 30.0, "both hosts fresh")
    return known


def _directions() -> dict[str, bool]:
    return {HALT: True, **{name: not down for name, down, *_ in LOAD}}


@contextmanager
def _rig(domain: int, rate: float) -> Iterator[Rig]:
    join_graph()
    from telerobot_nodes.nodes.probes import LinkProbe

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        relay, files = write_hosts(folder, rate=rate)
        sides = [
            Side(role, at, ("run", "link", "--graph", role, "--hosts", str(files[role])), "link ready", folder / role)
            for at, role in ((domain, "robot"), (domain + 1, "operator"))
        ]
        try:
            for side in sides:
                side.start()
            for side in sides:
                side.wait_ready(READY_LIMIT)
            with LinkProbe(domain, "") as robot, LinkProbe(domain + 1, OPERATOR_SIDE) as operator, relay:
                rig = Rig(relay, robot, operator)
                rig.until(lambda: rig.are(LinkState.FRESH), READY_LIMIT, "both hosts fresh")
                yield rig
        finally:
            for side in sides:
                side.stop()
            relay.close()
