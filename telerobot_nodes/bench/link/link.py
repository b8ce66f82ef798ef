"""The link between two hosts: delay of each kind of message, halts, cuts, bulk on a thin network.

Two real link nodes in two ROS domains, a network of this process between them, and a probe on each side. Options:
`seconds` of traffic, `halts`, `cuts`, `delay` [s] and `loss` [-] each way, `domain` (this and the next are used).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.link.rig import READY_LIMIT, LinkRig, link_rig
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link import LinkSettings

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import Traffic

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
CUT = 10.0  # [s]
SETTLE = 12.0  # [s] after a step of the delay, in which increments expire
THIN, THIN_DELAY = 2e6, 0.05  # [bit/s], [s]
BULK = (WORLD, True, 2.0, 200_000)  # more than the thin network carries


def run(options: Mapping[str, str]) -> dict[str, Any]:
    """Measure delays, halts, cuts and a thin network."""
    seconds, halts = float(options.get("seconds", 60.0)), int(options.get("halts", 200))
    cuts, domain = int(options.get("cuts", 3)), int(options.get("domain", 90))
    bad = LinkSettings(delay=float(options.get("delay", 0.5)), loss=float(options.get("loss", 0.05)))
    conditions = report.conditions()
    conditions["network"] = {"delay_s": bad.delay, "loss": bad.loss, "thin_bit_s": THIN, "thin_delay_s": THIN_DELAY}
    conditions["engine"] = "udp, HMAC-SHA256, both nodes on this machine, DDS on both sides included"
    with link_rig(domain, _directions()) as rig:
        figures: dict[str, Any] = {"clean": _traffic(rig, LinkSettings(), seconds)}
        figures["bad"] = _traffic(rig, bad, seconds)
        figures["halts"] = _halts(rig, bad, halts)
        figures["cuts"] = [_cut(rig, bad) for _ in range(cuts)]
        figures["half_open"] = [_half_open(rig, bad, up) for up in (True, False)]
    with link_rig(domain, _directions(), 0.9 * THIN) as rig:
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


def _traffic(
    rig: LinkRig, settings: LinkSettings, seconds: float, load: Load = LOAD, rate: float = 0.0
) -> dict[str, Any]:
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


def _halts(rig: LinkRig, settings: LinkSettings, count: int) -> dict[str, Any]:
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


def _cut(rig: LinkRig, settings: LinkSettings) -> dict[str, float]:
    """A cut of both ways: when each host reports it, and when it is over."""
    rig.relay.set(LinkSettings(delay=settings.delay, up=False, down=False))
    start = rig.now()
    stale = rig.until(lambda: rig.are(LinkState.STALE), CUT, "both hosts stale")
    rig.until(lambda: rig.now() - start >= CUT, 2.0 * CUT, "the cut")
    rig.relay.set(settings)
    return {"stale_s": stale, "fresh_s": rig.until(lambda: rig.are(LinkState.FRESH), 30.0, "both hosts fresh")}


def _half_open(rig: LinkRig, settings: LinkSettings, up: bool) -> float:
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
