"""Who may not command: strangers, repeated and altered datagrams, a second operator."""

from __future__ import annotations

import os
import random
from typing import Any

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.messages import operation
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Outcome, Row, at_least, at_most, holds, none

HOSTILE = 1_000
SETTLE = 1.5  # [s] a diagnostics period and more


def _counts(rig: Rig) -> dict[str, int]:
    values = rig.robot.health.get("link", {})
    return {name: int(value) for name, value in values.items() if name.startswith("refused ")}


def _attack(rig: Rig, did: str, datagrams: list[bytes]) -> Outcome:
    """Send datagrams to the robot's link in the middle of a plan."""
    rig.drive(1.0)
    before, at = _counts(rig), rig.now()
    for number, datagram in enumerate(datagrams):
        rig.relay.inject(True, datagram)
        if number % 20 == 0:
            rig.spin(0.01)

    def told() -> bool:
        return sum(_counts(rig).values()) >= sum(before.values()) + len(datagrams)

    alarm = rig.happens(told, 5.0)
    last = rig.now() - at
    once = rig.finish()
    after = _counts(rig)
    counted = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
    return Outcome(
        f"{did}, {len(datagrams)} datagrams to the robot's link in the middle of a plan",
        (
            at_least("refused and counted by reason", sum(counted.values()), len(datagrams)),
            at_most("all of them on diagnostics, after the last", alarm, 1.2),
            none("points lost, twice, or out of order", sum(once)),
            none("changes of the holder of authority", judge.changes_of_holder(rig.trace.holders)),
        ),
        f"counted in {last:.1f} s: {', '.join(f'{name[8:]} {count}' for name, count in counted.items())}",
    )


def stranger(rig: Rig) -> Outcome:
    """Datagrams by somebody without the key."""
    draw = random.Random(22)
    made = [draw.randbytes(draw.randrange(1, 1200)) for _ in range(HOSTILE)]
    return _attack(rig, "noise of 1 to 1,200 bytes from the peer's own address", made)


def replayed(rig: Rig) -> Outcome:
    """Datagrams of the run itself, again and altered."""
    with rig.relay.tap() as taken:
        rig.drive(1.0)
        rig.finish()
        rig.spin(5.0)
    upward = [datagram for up, datagram in taken if up]
    again = (upward * (HOSTILE // max(1, len(upward)) + 1))[: HOSTILE // 2]
    draw = random.Random(23)
    altered = []
    for datagram in again:
        at = draw.randrange(len(datagram))
        altered.append(datagram[:at] + bytes([datagram[at] ^ (1 << draw.randrange(8))]) + datagram[at + 1 :])
    rig.ready()
    return _attack(rig, "datagrams of the last minute, half again as they were, half with one bit turned",
                   again + altered)  # fmt: skip


def two_at_once(rig: Rig) -> Outcome:
    """Somebody else claims, beats and appends in the middle of a plan."""
    rig.drive(1.0)
    state = rig.last["plan_executor/state"]
    holder, epoch = state["authority"], state["epoch"]
    for number in range(HOSTILE // 4):
        for fields in _claims(number, epoch, holder):
            rig.robot.send("authority", fields)
        rig.robot.send("plan_executor/operations", _append(number, epoch))
        if number % 10 == 0:
            rig.spin(0.02)
    once = rig.finish()
    return Outcome(
        f"{HOSTILE // 4} rounds of request, heartbeat, release and take by another agent, and of its points, "
        "on the robot's own topics, in the middle of a plan",
        (
            holds("the holder is the same", rig.last["plan_executor/state"]["authority"] == holder),
            none("changes of the holder of authority or of the epoch", judge.changes_of_holder(rig.trace.holders)),
            none("points lost, twice, or out of order", sum(once)),
        ),
        "a role is a name on the robot's own topics: the agent here is no supervisor, and takes nothing",
    )


def _claims(number: int, epoch: int, holder: str) -> list[dict[str, Any]]:
    agent = f"intruder_{number % 3}_{os.getpid()}"
    return [
        {"kind": kind, "agent": agent, "peer": peer, "epoch": epoch, "number": number + 1}
        for kind, peer in ((0, ""), (5, ""), (4, ""), (3, agent), (1, agent))
    ]


def _append(number: int, epoch: int) -> Any:
    fields = dict(operation())
    (made,) = fields["operations"]
    made.epoch, made.number, made.agent = epoch, number + 10_000, "intruder"
    return fields


ROWS = (
    Row(22, "command or call by a stranger", "ignored, alarm: 0 of 1,000; alarm within d + 1 s", stranger),
    Row(23, "replayed, altered command", "refused: 0 of 1,000", replayed),
    Row(24, "two operators at once", "only the holder of authority acts: 0 from the other", two_at_once),
)
