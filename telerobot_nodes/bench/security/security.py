"""The link under attack: nine ways in, each tried a thousand times, and what security costs.

Two real link nodes with a key in two ROS domains, a network of this process between them in which the attacker sits,
and a probe on each side. He reads, keeps and sends whatever he likes; genuine messages go on meanwhile. The nine:
noise; a sender whom the hosts file does not name; commands without a key; with another key; replays; replays of an
earlier session to a host that was started again; altered datagrams; commands kept back until they have expired; and
datagrams of a host that has the key and not the role. Besides them, what a host with an operator's key does not get.
Options: `count` of each attack, `seconds` and `blocks` of the measurement of the cost (0: none), `domain` (this and the
next three are used), `seed`.
"""

from __future__ import annotations

import timeit
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.link import LinkRig, link_rig
from telerobot_nodes.bench.security import judge
from telerobot_nodes.bench.security.attacker import LOAD, TAKES, Attacker, Load, commands
from telerobot_nodes.bench.security.judge import Attack
from telerobot_nodes.link import Frame, Kind, decode, encode
from telerobot_nodes.link.roles import KeyRole

SETTLE = 0.5  # [s] before a block


def run(options: Mapping[str, str]) -> dict[str, Any]:
    """Try the attacks, and measure the cost."""
    count, seed = int(options.get("count", 1_000)), int(options.get("seed", 1))
    seconds, blocks = float(options.get("seconds", 6.0)), int(options.get("blocks", 4))
    domain = int(options.get("domain", 90))
    conditions = report.conditions(seed)
    conditions["link"] = "two link nodes, udp, HMAC-SHA256 of 16 bytes, DDS on both sides included, no delay"
    conditions["key"] = "of an operator, with a role"
    conditions["without_security"] = "no key in the hosts file: the same code is computed with an empty key"
    figures: dict[str, Any] = {}
    goals: list[dict[str, Any]] = []
    with link_rig(domain, commands(), role=KeyRole.OPERATOR) as rig:
        attacker = Attacker(rig, count, seed)
        for name, attack in attacker.attacks():
            figures[name] = judge.figures_of(attack)
            goals += judge.goals_of(name, attack)
            _tell(name, attack)
        opened, fresh = attacker.restarted()
        figures["earlier session, opened by replayed hellos"] = judge.figures_of(opened)
        goals += judge.goals_of("earlier session", opened)
        _tell("earlier session", opened)
        figures["fresh_under_replays_s"] = fresh
        goals.append(report.goal("a host started again is fresh under replayed hellos", fresh, "s", "<=", 5.0))
        takes = attacker.takes()
        figures["takes_of_an_operators_host"] = {**takes._asdict(), "sent": TAKES}
        goals += judge.goals_of_takes(takes._asdict(), TAKES)
        print(f"TAKE of an operator's host: {takes}", flush=True)
    if seconds and blocks:
        figures["cost"] = _cost(domain, seconds, blocks)
        goals += judge.goals_of_cost(figures["cost"])
    return report.result(conditions, figures, goals)


def _tell(name: str, attack: Attack) -> None:
    counted = ", ".join(f"{reason} {number}" for reason, number in attack.refused.items())
    print(
        f"{name}: {attack.sent} sent, {attack.accepted} accepted, {counted}; alarm {attack.alarm_s:.2f} s", flush=True
    )


def _cost(domain: int, seconds: float, blocks: int) -> dict[str, float]:
    """Delay and processor time with and without a key, in turns, both links alive."""
    measured: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    role = KeyRole.OPERATOR
    with link_rig(domain, commands(), role=role) as on, link_rig(domain + 2, commands(), keyed=False) as off:
        rigs = {True: on, False: off}
        for block in range(2 * blocks):
            keyed = block % 2 == (block // 2) % 2  # on off off on: what drifts is on both sides
            measured[keyed].append(_block(rigs[keyed], seconds))
        key = on.key
    return {**judge.cost(measured[True], measured[False]), **{f"code_us_{n}": v for n, v in _code(key).items()}}


def _block(rig: LinkRig, seconds: float) -> tuple[float, float]:
    """Median delay of all crossings [s], and processor time of both links [s]."""
    load = Load(rig, LOAD)
    load.run(SETTLE)
    rig.forget()
    before = _cpu(rig)
    load.run(seconds)
    delays = [delay for traffic in rig.arrivals.values() for delay in traffic.delays()]
    return float(np.median(delays)), _cpu(rig) - before


def _cpu(rig: LinkRig) -> float:
    return sum(side.processor_time() for side in rig.sides.values())


def _coded(frame: Frame, key: bytes, encrypted: bool = False) -> object:
    return decode(encode(frame, key, encrypted), key, encrypted)


def _code(key: bytes, repeats: int = 5_000) -> dict[str, float]:
    """Time to make and to check a datagram of 400 B [us]: without a key, with one, encrypted."""
    frame = Frame(Kind.DATA, 1, b"12345678", 1, 1, 0.0, bytes(400))
    found = {}
    for name, used, encrypted in (("with_key", key, False), ("without_key", b"", False), ("encrypted", key, True)):
        made = partial(_coded, frame, used, encrypted)
        took = min(timeit.repeat(made, number=repeats, repeat=5))
        found[name] = round(1e6 * took / repeats, 2)
    return found
