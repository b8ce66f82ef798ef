"""Two link nodes in two ROS domains, a network of this process between them, and a probe on each side."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from telerobot_nodes.bench.link.relay import Relay
from telerobot_nodes.bench.link.two_hosts import Side, write_hosts
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.link import load_hosts, shared_key
from telerobot_nodes.link.roles import KeyRole
from telerobot_nodes.runtime import join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import LinkProbe

READY_LIMIT = 60.0  # [s]
STEP = 0.005  # [s]


class LinkRig:
    """Two link nodes, a network, and a probe on each side."""

    def __init__(
        self,
        relay: Relay,
        probes: tuple[LinkProbe, LinkProbe],
        sides: Mapping[str, Side],
        upward: Mapping[str, bool],
        key: bytes,
    ) -> None:
        """`probes` of robot and operator; `sides`: the links by role; `upward`: which topics go to the robot."""
        self.relay, (self.robot, self.operator) = relay, probes
        self.sides, self.upward, self.key = sides, upward, key
        self._numbers: dict[str, int] = {}
        self.arrivals = {name: self.far(up).listen(name) for name, up in upward.items()}

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
        near = self.operator if self.upward[name] else self.robot
        near.send(name, number, "x" * size, self.arrivals[name])

    def forget(self) -> None:
        """Begin a measurement."""
        for traffic in self.arrivals.values():
            traffic.sent.clear()
            traffic.arrived.clear()
            traffic.twice = 0

    def far(self, upward: bool) -> LinkProbe:
        """The probe where messages of a direction arrive."""
        return self.robot if upward else self.operator


@contextmanager
def link_rig(
    domain: int, upward: Mapping[str, bool], rate: float = 0.0, keyed: bool = True, role: KeyRole | None = None
) -> Iterator[LinkRig]:
    """Both nodes, started and fresh; `domain` of the robot's host, `rate` [bit/s] of their hosts file.

    `role` of the operator's key.
    """
    join_graph()
    from telerobot_nodes.nodes.probes import LinkProbe

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        relay, files = write_hosts(folder, rate=rate, keyed=keyed, role=role)
        sides = {
            role: Side(
                role, at, ("run", "link", "--graph", role, "--hosts", str(files[role])), "link ready", folder / role
            )
            for at, role in ((domain, "robot"), (domain + 1, "operator"))
        }
        try:
            for side in sides.values():
                side.start()
            for side in sides.values():
                side.wait_ready(READY_LIMIT)
            with LinkProbe(domain, "") as robot, LinkProbe(domain + 1, OPERATOR_SIDE) as operator, relay:
                rig = LinkRig(
                    relay, (robot, operator), sides, upward, shared_key(files["robot"], load_hosts(files["robot"]))
                )
                rig.until(lambda: rig.are(LinkState.FRESH), READY_LIMIT, "both hosts fresh")
                yield rig
        finally:
            for side in sides.values():
                side.stop()
            relay.close()
