"""Row types of the graph's table: hosts, qualities of service, topics, services, nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from telerobot_nodes.graph.graphs import REQUESTS, STOPS


class Host(Enum):
    """The host on which a node runs."""

    OPERATOR = "operator"
    ROBOT = "robot"
    EITHER = "either"


@dataclass(frozen=True)
class Profile:
    """A quality of service, as the middleware's settings."""

    reliable: bool
    durable: bool  # transient local: late subscribers receive the messages kept
    depth: int  # messages kept

    def __str__(self) -> str:
        reliability = "reliable" if self.reliable else "best effort"
        return f"{reliability}{', transient local' if self.durable else ''}, keep last {self.depth}"


class Qos(Enum):
    """Quality of service by purpose."""

    STATE = Profile(reliable=False, durable=False, depth=1)
    COMMAND = Profile(reliable=True, durable=False, depth=64)
    SAMPLES = Profile(reliable=True, durable=False, depth=1024)  # of a device: none lost in a pause of 10 s at 100 Hz
    REPORT = Profile(reliable=True, durable=False, depth=256)
    HISTORY = Profile(
        reliable=True, durable=True, depth=256
    )  # never for commands: a late subscriber would execute them again
    LATCHED = Profile(reliable=True, durable=True, depth=1)


class Priority(IntEnum):
    """Which message of a link leaves first when its rate does not suffice for all."""

    HALT = 0
    AUTHORITY = 1
    OPERATIONS = 2
    TELEOP = 3
    STATE = 4
    REPORTS = 5
    WORLD = 6
    PICTURES = 7


class Order(Enum):
    """How the messages of a topic arrive over a link that loses and reorders them."""

    AS_THEY_COME = "as they come: the sender repeats what matters"
    NEWEST = "none after a newer one"
    ALL = "all in order: a missing one is asked for again"
    EACH = "each as soon as it is whole: what is missing is asked for again"

    @property
    def is_repaired(self) -> bool:
        """Whether what is missing is asked for again."""
        return self in (Order.ALL, Order.EACH)


@dataclass(frozen=True)
class Crossing:
    """How a topic crosses the link between the hosts."""

    priority: Priority
    order: Order = Order.AS_THEY_COME
    size: int = 16_000  # [B] largest message; a larger one is rejected by the sender's link
    most: float = 0.0  # [Hz] greatest rate; messages beyond it are dropped and counted; 0: any
    late: float = 0.0  # [s] behind the shortest way of the last seconds: a later one is not delivered; 0: any
    moves: bool = False  # new motion: not delivered while one side does not receive from the other


@dataclass(frozen=True)
class Topic:
    """One topic; `crosses` if it travels between the two hosts."""

    name: str
    type: str
    qos: Qos
    doc: str
    rate: float = 0.0  # [Hz] nominal, 0: on event
    crosses: Crossing | None = None
    shared: bool = False  # by all operators of one arm, on their side of the link


@dataclass(frozen=True)
class Service:
    """One service or action, named `node/name`."""

    name: str
    type: str
    doc: str
    crosses: bool = False  # operators reach it over the link; others are for nodes of its own host
    stops: bool = False  # leaves before others over the link


def services(node: str, *rows: tuple[str, str, str]) -> tuple[Service, ...]:
    """The services of a node from rows of name, type and meaning."""
    named = [(f"{node}/{name}", kind, doc) for name, kind, doc in rows]
    return tuple(Service(name, kind, doc, name in REQUESTS, name in STOPS) for name, kind, doc in named)


@dataclass(frozen=True)
class Node:
    """One executable of the graph and everything it may use."""

    name: str
    host: Host
    package: str  # of telerobot_nodes.nodes, which holds its module
    doc: str
    publishes: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    services: tuple[Service, ...] = ()
    calls: tuple[str, ...] = ()
    actions: tuple[Service, ...] = ()
    runs: tuple[str, ...] = ()  # actions of others
    required: bool = True  # its failure ends the graph
    restarts: int = 0  # most of the supervisor in a minute
    priority: int = 0  # SCHED_RR of a node that moves or stops the arm; 0: ordinary
    niceness: int = 0  # of an ordinary node: below 0 it comes before the displays

    @property
    def module(self) -> str:
        """Module whose `main(options)` runs the node."""
        return f"telerobot_nodes.nodes.{self.package}.{self.name}"
