"""The link loses, doubles, reorders, delays and throttles."""

from __future__ import annotations

from functools import partial

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Outcome, Row, at_least, at_most, none
from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import commands

FAR = {"delay": 0.5, "loss": 0.05}
WILD = {"delay": 0.2, "jitter": 0.1, "loss": 0.05, "duplicate": 0.3, "reorder": True}
HALTS = 4
THIN, THIN_DELAY = 2e6, 0.05  # [bit/s], [s]


def far_and_lossy(rig: Rig) -> Outcome:
    """A plan over half a second and 5 % loss each way."""
    rig.network(**FAR)
    rig.spin(2.0)
    rig.drive(1.0)
    once = rig.finish()
    points = rig.operator.operator.queue.head_seq - rig.first + 1
    delays = judge.delays(rig.operator.operations, rig.robot.operations)
    return Outcome(
        "a hand over 0.5 s and 5 % loss each way",
        (
            at_least("points", points, 200),
            none("points lost", once.lost),
            none("points twice or out of order", once.twice + once.out_of_order),
            at_most("operation, first sent to first arrived, p95", judge.p95(delays), 3.0 * FAR["delay"] + 0.2),
        ),
        f"{len(delays)} operations",
    )


def doubled_and_reordered(rig: Rig) -> Outcome:
    """A plan over doubles, jitter and another order."""
    rig.network(**WILD)
    rig.spin(2.0)
    rig.drive(1.0)
    once = rig.finish()
    points = rig.operator.operator.queue.head_seq - rig.first + 1
    return Outcome(
        "a hand over 0.2 s with 0.1 s of jitter, 5 % loss, 30 % doubles, any order",
        (
            at_least("points", points, 200),
            none("points lost", once.lost),
            none("points twice", once.twice),
            none("points out of order", once.out_of_order),
        ),
    )


def halts(rig: Rig) -> Outcome:
    """Halts of an arm in motion over the bad link, each ended by a resume."""
    delays, rests = [], []
    for _ in range(HALTS):
        rig.ready()
        rig.network(**FAR)
        rig.spin(0.5)
        rig.drive(1.0)
        begun, sent = len(rig.trace.loop), rig.now()
        rig.ask(commands.Halt("fault runner"))
        rig.happens(partial(_halted, rig, begun), 10.0)
        heard = [row.time for row in rig.trace.loop[begun:] if row.halted]
        delays.append(min(heard, default=float("inf")) - sent)
        rig.spin(1.0)
        rests.append(judge.rest_after(rig.trace.measured, sent + delays[-1]))
        rig.ask(commands.StopReplay())
        rig.happens(lambda: rig.last["plan_executor/state"]["state"] == ExecutorMode.HALTED, 5.0)
    within = sum(delay <= FAR["delay"] + 0.3 for delay in delays) / len(delays)
    return Outcome(
        f"{len(delays)} halts of an arm in motion over 0.5 s and 5 % loss each way; from the press to the loop's state",
        (
            at_least("halts within d + 0.3 s", within, 0.99),
            at_most("latest halt", max(delays), FAR["delay"] + 1.5),
            at_most("longest until rest after it", max(rests), 1.0),
        ),
        "99 % of so few is all of them",
    )


def _halted(rig: Rig, begun: int) -> bool:
    return any(row.halted for row in rig.trace.loop[begun:])


def thin(rig: Rig) -> Outcome:
    """A plan beside what the graph itself sends, on 2 Mbit/s."""
    rig.network(delay=THIN_DELAY, rate=THIN)
    rig.spin(2.0)
    before, start = rig.relay.bytes(), rig.now()
    rig.drive(1.0)
    once = rig.finish()
    took = rig.now() - start
    delays = judge.delays(rig.operator.operations, rig.robot.operations)
    up, down = (8e-3 * (a - b) / took for a, b in zip(rig.relay.bytes(), before, strict=True))
    return Outcome(
        "a hand over 2 Mbit/s and 0.05 s each way, with what the graph itself sends",
        (
            none("points lost or twice", once.lost + once.twice),
            at_most("operation, first sent to first arrived, p95", judge.p95(delays), THIN_DELAY + 0.1),
            at_most("sent each way, the larger", max(up, down), THIN / 1e3, "kbit/s"),
        ),
        f"{up:.0f} kbit/s up, {down:.0f} kbit/s down",
        untried="bulk beside it: `telerobot bench link` measures that with two link nodes, without the graph",
    )


ROWS = (
    Row(
        4,
        "0.5 s, 5 % loss, 200 points",
        "all executed; p95 latency at most 3 d + 0.2 s; 0 lost",
        far_and_lossy,
    ),
    Row(5, "duplicates, reordering, jitter", "idempotent: executed == sent", doubled_and_reordered),
    Row(26, "stop over a lossy link", "its own path, repeated, latched: within d + 0.3 s in 99 %", halts),
    Row(28, "bulk data on a 2 Mbit/s link", "commands first: command p95 at most d + 0.1 s", thin),
)
