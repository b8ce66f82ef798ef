"""Somebody in the network between two hosts: what he records, what he keeps back, what he sends."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from telerobot_nodes import graph
from telerobot_nodes.bench.link import LinkRig
from telerobot_nodes.bench.security import datagrams as made
from telerobot_nodes.bench.security import judge
from telerobot_nodes.bench.security.judge import Attack
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link import Data, Frame, Kind, LinkSettings, decode

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import LinkProbe

Rows = tuple[tuple[str, float, int], ...]
TELEOP, OPERATIONS = "gcmsf_control/teleop_cmds", "plan_executor/operations"
UP = ("halt", "estop", "authority", OPERATIONS, TELEOP, "rtc_decision_unit/commands")
DOWN = ("plan_executor/state", "rtc_decision_unit/reports", "gcmsf_control/report")
LOAD: Rows = (  # topic, rate [Hz], bytes: genuine messages that go on
    (OPERATIONS, 25.0, 400),
    (TELEOP, 50.0, 20),
    ("halt", 4.0, 40),
    ("plan_executor/state", 20.0, 100),
    ("rtc_decision_unit/reports", 4.0, 300),
)
RECORDED = 3.0  # [s] of traffic that the attacker has
KEPT_FROM = 500_000  # first number of the messages that he keeps back
KEPT_RATE = 200.0  # [Hz]
EXPIRED = 6.0  # [s] after which every motion command has expired
AT_ONCE = 10  # datagrams between two looks at what arrives
SETTLE = 1.3  # [s] a diagnostics period and more
PATIENCE = 4.0  # [s] for the counts
FRESH_LIMIT, READY_LIMIT = 30.0, 60.0  # [s]
TAKES = 10  # requests of each kind
REQUEST, TAKE = 0, 3  # in Authority.msg


class Takes(NamedTuple):
    """Of TAKES messages each, how many reached the robot's graph; and how many were refused, by reason."""

    as_supervisor: int
    in_its_name: int
    requests: int
    refused: Mapping[str, int]


def commands() -> dict[str, bool]:
    """The topics whose arrivals are watched, to the robot or not."""
    return {name: name in UP for name in (*UP, *DOWN)}


class Load:
    """Genuine messages at their rates."""

    def __init__(self, rig: LinkRig, rows: Rows) -> None:
        self._rig, self._rows = rig, rows
        self._due = {name: rig.now() for name, *_ in rows}

    def step(self) -> None:
        """Send what is due, and receive."""
        now = self._rig.now()
        for name, rate, size in self._rows:
            if now >= self._due[name]:
                self._due[name] = max(self._due[name] + 1.0 / rate, now - 0.1)
                self._rig.send(name, size)
        self._rig.spin()

    def run(self, seconds: float) -> None:
        """Go on for so long."""
        end = self._rig.now() + seconds
        while self._rig.now() < end:
            self.step()


class Attacker:
    """Reads everything that passes a rig's network, keeps back what he likes, and sends in the hosts' names."""

    def __init__(self, rig: LinkRig, count: int, seed: int) -> None:
        """`count` datagrams of each attack."""
        self._rig, self._count, self._draw = rig, count, Random(seed)
        self._topic = {entry.name: at for at, entry in enumerate(graph.crossing())}
        with rig.relay.tap() as taken:
            Load(rig, LOAD).run(RECORDED)
        self._recorded = {way: [datagram for up, datagram in taken if up is way] for way in (True, False)}

    def attacks(self) -> Iterator[tuple[str, Attack]]:
        """The attacks on an open session, one after the other, each with its name."""
        for upward, host in ((True, "robot"), (False, "operator")):
            yield f"noise to the {host}", self._hit("random bytes", made.noise(self._draw, self._count), upward)
            yield f"no key, to the {host}", self._forged(upward, b"")
            yield f"another key, to the {host}", self._forged(upward, self._draw.randbytes(32))
            again = made.repeated(self._recorded[upward], self._count)
            yield f"replays to the {host}", self._hit("recorded datagrams of this session", again, upward)
            changed = made.altered(self._draw, self._recorded[upward], self._count)
            did = "recorded datagrams with a bit turned, truncated, extended, spliced"
            yield f"altered, to the {host}", self._hit(did, changed, upward)
        share = max(1, self._count // 4)
        kept, since = self._kept_back(self._count + share), self._rig.now()
        kept, unused = kept[:-share], kept[-share:]
        did = "fresh authentic datagrams from another address"
        yield "strange address", self._hit(did, kept, True, source=self._rig.relay.host(True))
        yield "wrong role", self._wrong_role(unused)
        while self._rig.now() - since < EXPIRED:
            self._rig.spin()
        yield "expired", self._hit("authentic motion commands, kept back until they had expired", kept, True)

    def _forged(self, upward: bool, key: bytes) -> Attack:
        rig = self._rig
        sample = made.opened(self._recorded[upward], rig.key)[-1]
        near: LinkProbe = rig.far(not upward)
        wanted = [
            made.Command(self._topic[name], near.packed(name, made.FORGED + at, "attacker"))
            for at, name in enumerate(UP if upward else DOWN)
        ]
        shots = made.forged(sample, wanted, key, self._count)
        return self._hit("commands that continue the session, with another code", shots, upward)

    def _kept_back(self, count: int) -> list[bytes]:
        """Motion commands that the operator's host sends and that nobody receives."""
        rig, names = self._rig, (TELEOP, OPERATIONS)
        topics = {self._topic[name] for name in names}

        def moves(upward: bool, datagram: bytes) -> bool:
            frame = decode(datagram, rig.key) if upward else None
            data = Data.unpack(frame.body) if isinstance(frame, Frame) and frame.kind is Kind.DATA else None
            return data is not None and data.topic in topics

        sent, start = 0, rig.now()
        with rig.relay.withhold(moves) as kept:
            while len(kept) < count and rig.now() - start < 10.0 + 2.0 * count / KEPT_RATE:
                while sent < KEPT_RATE * (rig.now() - start):
                    rig.operator.send(names[sent % 4 == 0], KEPT_FROM + sent, "kept")
                    sent += 1
                rig.spin()
            Load(rig, ()).run(0.3)  # none of them is on its way any more
            return kept[:count]

    def _wrong_role(self, unused: Sequence[bytes]) -> Attack:
        """Datagrams of somebody who has the key: own side, another interface, another life, another role's topics."""
        key, share = self._rig.key, max(1, self._count // 4)
        frames = made.opened(made.repeated(self._recorded[True], share), key, Kind.DATA)
        shots = [
            *made.repeated(self._recorded[False], share),
            *made.renamed(frames, key, interface=bytes(8)),
            *made.renamed(frames, key, life=self._draw.getrandbits(63) | 1),
            *made.redirected(made.opened(unused, key), key, self._topic[DOWN[0]]),
        ]
        did = "with the key: the robot's own datagrams, another interface, another life, a topic of the robot"
        return self._hit(did, shots, True)

    # a host that was started again ---------------------------------------------------------------------------

    def restarted(self) -> tuple[Attack, float]:
        """The robot's link starts again while its peer is away, and gets what was recorded before.

        Also: how long it takes until both hosts are fresh once the peer is back, and hellos are still replayed [s].
        """
        rig, probe, upward = self._rig, self._rig.robot, self._recorded[True]
        hellos = [one for one in upward if made.opened([one], rig.key, Kind.HELLO)]
        rig.relay.set(LinkSettings(up=False, down=False))
        side = rig.sides["robot"]
        side.stop()
        side.start()
        side.wait_ready(READY_LIMIT)
        probe.health.clear()
        rig.until(lambda: bool(probe.health), READY_LIMIT, "diagnostics of the robot's link")
        rig.forget()
        shots = made.repeated([*hellos, *upward], self._count)
        seen, before = len(probe.states), self._refused(probe)
        at = self._fire(shots, True, None, rig.spin)
        Load(rig, ()).run(PATIENCE)
        traffic = rig.arrivals.values()
        open_states = LinkState.BACK, LinkState.FRESH, LinkState.HALF_OPEN
        attack = Attack(
            did="recorded hellos and datagrams of the session before, to a host that was started again",
            sent=len(shots),
            to_count=sum(one not in hellos for one in shots),  # a hello that opens nothing is not counted
            accepted=sum(judge.accepted(one.sent, one.arrived, one.twice) for one in traffic),
            refused=judge.more(before, self._refused(probe)),
            alarm_s=judge.first_alarm(probe.health, sum(before.values()), at),
            unfresh=sum(state in open_states for _, state in probe.states[seen:]),
        )
        return attack, self._fresh_again(hellos)

    def _fresh_again(self, hellos: Sequence[bytes]) -> float:
        rig = self._rig
        rig.relay.set(LinkSettings())
        start = rig.now()
        while rig.now() - start < FRESH_LIMIT:
            for hello in hellos[-1:]:
                rig.relay.inject(True, hello)
            rig.spin()
            if rig.are(LinkState.FRESH):
                return rig.now() - start
        return float("inf")

    def takes(self) -> Takes:
        """Requests of an operator's host, with its key and all: control without consent, and control with it."""
        rig = self._rig
        rig.until(lambda: rig.are(LinkState.FRESH), READY_LIMIT, "both hosts fresh")
        rig.until(lambda: bool(rig.robot.health), READY_LIMIT, "diagnostics of the robot's link")
        before = self._refused(rig.robot)
        as_supervisor, in_its_name = (self._sent(agent, TAKE) for agent in ("supervisor", "desk"))
        requests = self._sent("desk", REQUEST)
        Load(rig, ()).run(SETTLE)
        return Takes(as_supervisor, in_its_name, requests, judge.more(before, self._refused(rig.robot)))

    def _sent(self, agent: str, kind: int) -> int:
        """How many of TAKES messages about authority arrive."""
        rig = self._rig
        rig.forget()
        for number in range(TAKES):
            rig.operator.send("authority", number + 1, kind=kind, agent=agent, peer=agent)
            Load(rig, ()).run(0.1)
        return len(rig.arrivals["authority"].arrived)

    # one attack ----------------------------------------------------------------------------------------------

    def _hit(self, did: str, shots: Sequence[bytes], upward: bool, source: tuple[str, int] | None = None) -> Attack:
        """Send datagrams to the host of a direction, and see what comes of it."""
        rig, load, probe = self._rig, Load(self._rig, LOAD), self._rig.far(upward)
        rig.forget()
        load.run(SETTLE)
        before, seen = self._refused(probe), len(probe.states)
        at = self._fire(shots, upward, source, load.step)
        wanted = sum(before.values()) + len(shots)
        end = rig.now() + PATIENCE
        while rig.now() < end and sum(self._refused(probe).values()) < wanted:
            load.step()
        load.run(SETTLE)
        Load(rig, ()).run(0.5)  # the last genuine ones arrive
        traffic = rig.arrivals.values()
        return Attack(
            did=did,
            sent=len(shots),
            to_count=len(shots),
            accepted=sum(judge.accepted(one.sent, one.arrived, one.twice) for one in traffic),
            refused=judge.more(before, self._refused(probe)),
            alarm_s=judge.first_alarm(probe.health, sum(before.values()), at),
            unfresh=len(probe.states) - seen,
            lost=sum(len(set(one.sent) - set(one.arrived)) for one in traffic),
        )

    def _fire(
        self, shots: Sequence[bytes], upward: bool, source: tuple[str, int] | None, step: Callable[[], None]
    ) -> float:
        """Send them, from the peer's address or from a stranger's; when the first left [s]."""
        at = self._rig.now()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for number, shot in enumerate(shots, 1):
                if source is None:
                    self._rig.relay.inject(upward, shot)
                else:
                    stranger.sendto(shot, source)
                if number % AT_ONCE == 0:
                    step()
        return at

    @staticmethod
    def _refused(probe: LinkProbe) -> Mapping[str, int]:
        return judge.refusals(probe.health[-1][1]) if probe.health else {}
