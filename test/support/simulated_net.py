"""Two hosts of the link and a network that loses, doubles, reorders, delays and cuts, in simulated time."""

import heapq
from random import Random

from telerobot_nodes import graph
from telerobot_nodes.link import Endpoint, Identity, Peer
from telerobot_nodes.link.requests import CHANNELS

TOPICS = (*graph.crossing(), *CHANNELS)
UPWARD = {entry.name: CHANNELS.get(entry, graph.is_upward(entry)) for entry in TOPICS}
NUMBER = {entry.name: at for at, entry in enumerate(TOPICS)}
HALT, OPERATIONS, TELEOP = NUMBER["halt"], NUMBER["plan_executor/operations"], NUMBER["gcmsf_control/teleop_cmds"]
STATE, REPORTS = NUMBER["plan_executor/state"], NUMBER["rtc_decision_unit/reports"]
WORLD = NUMBER["cspace_planner/world"]
CELL, DESK = ("127.0.0.1", 7601), ("127.0.0.1", 7602)
STEP, STALE = 0.01, 0.5
KEY = b"k" * 32
OFFSET = {CELL: 0.0, DESK: 86_400.0}  # the clocks of the hosts have nothing to do with each other


class Net:
    """A robot, an operator, and what lies between them."""

    def __init__(self, seed=1, delay=0.0, loss=0.0, double=0.0, jitter=0.0, key=KEY, rate=0.0, **identity):
        self.random = Random(seed)
        self.delay, self.loss, self.double, self.jitter = delay, loss, double, jitter
        self.rate = rate
        self.cut = set()  # sources of which nothing passes
        self.now, self._count, self._way = 0.0, 0, []
        self.taps, self.got = [], []  # every datagram sent; (now, host, topic, message) delivered
        self.ends = {}
        self.start(CELL, key=key)
        self.start(DESK, key=key, **identity)

    def start(self, where, key=KEY, **identity):
        """Start a host, or start it again."""
        robot, other = where is CELL, DESK if where is CELL else CELL
        name, peer = ("cell", "desk") if robot else ("desk", "cell")
        given = {"host": name, "role": int(not robot), "interface": b"12345678", "robot": "arm", "key": key, **identity}
        draw = Random(self.random.random())
        self.ends[where] = Endpoint(
            Identity(**given), [Peer(peer, other, self.rate)], TOPICS, UPWARD, STALE, lambda: draw.getrandbits(64)
        )

    def session(self, host):
        return next(iter(self.ends[host].sessions.values()))

    def state(self, host):
        return self.session(host).watch.state

    def send(self, host, topic, message):
        self.ends[host].send(self.now + OFFSET[host], topic, message)

    def run(self, seconds, each=lambda: None):
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            each()
            while self._way and self._way[0][0] <= self.now:
                _, _, source, target, datagram = heapq.heappop(self._way)
                self.deliver(target, datagram, source)
            for host, end in self.ends.items():
                for datagram, target in end.poll(self.now + OFFSET[host]):
                    self.taps.append((host, datagram))
                    self._carry(host, target, datagram)

    def deliver(self, target, datagram, source):
        for topic, message in self.ends[target].receive(self.now + OFFSET[target], datagram, source):
            self.got.append((self.now, target, topic, message))

    def _carry(self, source, target, datagram):
        if source in self.cut or self.random.random() < self.loss:
            return
        for _ in range(1 + (self.random.random() < self.double)):
            self._count += 1
            due = self.now + self.delay + self.jitter * self.random.random()
            heapq.heappush(self._way, (due, self._count, source, target, datagram))

    def messages(self, host, topic):
        return [message for _, where, what, message in self.got if (where, what) == (host, topic)]
