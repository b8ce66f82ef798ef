"""A network in this process: datagrams between two ports, with delay, loss, doubles, order, rate and cuts."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from telerobot_nodes.link import DelayLine, LinkSettings

LOOPBACK = "127.0.0.1"
LONGEST = 65_535  # [B] of a datagram
BACKLOG = 0.25  # [s] of its rate that a network holds; the rest is lost


class _Way:
    """One direction: from the socket where the sender sends to, out of the socket that the receiver knows."""

    def __init__(self, upward: bool, target: int) -> None:
        self.target = (LOOPBACK, target)
        self.line: DelayLine[bytes] = DelayLine(LinkSettings(), upward, seed=1 + upward)
        self.rate = 0.0  # [bit/s] 0: any
        self.overflowed = 0
        self.bytes = 0
        self._free = 0.0

    def push(self, now: float, datagram: bytes) -> None:
        self.bytes += len(datagram)
        leaves = now
        if self.rate:
            leaves = max(now, self._free) + 8.0 * (len(datagram) + 28) / self.rate
            if leaves - now > BACKLOG:
                self.overflowed += 1
                return
            self._free = leaves
        self.line.push(leaves, datagram, len(datagram))


class Relay:
    """Stands at the address that the hosts files give for the other host. A context manager; one thread."""

    def __init__(self, robot: int, operator: int) -> None:
        """The ports of the two hosts."""
        self.robot_at = robot
        self._sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for made in self._sockets:
            made.bind((LOOPBACK, 0))
            made.setblocking(False)
        self.operator_seen_at, self.robot_seen_at = (made.getsockname()[1] for made in self._sockets)
        self._ways = _Way(True, robot), _Way(False, operator)
        self._lock = threading.Lock()
        self._taps: list[list[tuple[bool, bytes]]] = []
        self._holds: list[tuple[Callable[[bool, bytes], bool], list[bytes]]] = []
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._running = True
        self._thread = threading.Thread(target=self._serve, name="relay", daemon=True)
        self._thread.start()

    def set(self, settings: LinkSettings, rate: float = 0.0) -> None:
        """New conditions for datagrams that come later; `rate` [bit/s] each way, 0: any."""
        with self._lock:
            for way in self._ways:
                way.line.settings, way.rate = settings, rate

    def inject(self, upward: bool, datagram: bytes) -> None:
        """Send a datagram at once, from the address that the receiver knows; `upward`: to the robot."""
        to_operator, to_robot = self._sockets
        with self._lock:
            (to_operator if upward else to_robot).sendto(datagram, self._ways[0 if upward else 1].target)

    @contextmanager
    def tap(self) -> Iterator[list[tuple[bool, bytes]]]:
        """What passes meanwhile: its direction, and the datagram."""
        taken: list[tuple[bool, bytes]] = []
        with self._lock:
            self._taps.append(taken)
        try:
            yield taken
        finally:
            with self._lock:
                self._taps.remove(taken)

    @contextmanager
    def withhold(self, which: Callable[[bool, bytes], bool]) -> Iterator[list[bytes]]:
        """Datagrams that do not pass meanwhile: those of which `which(upward, datagram)` is true."""
        held: list[bytes] = []
        entry = which, held
        with self._lock:
            self._holds.append(entry)
        try:
            yield held
        finally:
            with self._lock:
                self._holds.remove(entry)

    def host(self, upward: bool) -> tuple[str, int]:
        """Where the host listens to which a direction leads."""
        return self._ways[0 if upward else 1].target

    def bytes(self) -> tuple[int, int]:
        """Bytes of datagrams up and down since the start, lost ones included."""
        return self._ways[0].bytes, self._ways[1].bytes

    def close(self) -> None:
        """End the thread. May be repeated."""
        if not self._running:
            return
        self._running = False
        os.eventfd_write(self._wake, 1)
        self._thread.join(2.0)
        for made in self._sockets:
            made.close()
        os.close(self._wake)

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self) -> None:
        to_operator, to_robot = self._sockets  # the first is the operator in the robot's eyes
        receive = {to_robot.fileno(): (to_robot, self._ways[0]), to_operator.fileno(): (to_operator, self._ways[1])}
        while self._running:
            with self._lock:
                self._deliver(self._ways[0], to_operator)
                self._deliver(self._ways[1], to_robot)
                dues = [due for way in self._ways if (due := way.line.next_due()) is not None]
            wait = max(0.0, min(dues) - time.monotonic()) if dues else 1.0
            ready, _, _ = select.select([*receive, self._wake], [], [], wait)
            for number in ready:
                if number in receive:
                    self._take(*receive[number])

    def _take(self, source: socket.socket, way: _Way) -> None:
        while True:
            try:
                datagram = source.recv(LONGEST)
            except OSError:
                return
            with self._lock:
                upward = way is self._ways[0]
                for taken in self._taps:
                    taken.append((upward, datagram))
                for which, held in self._holds:
                    if which(upward, datagram):
                        held.append(datagram)
                        break
                else:
                    way.push(time.monotonic(), datagram)

    @staticmethod
    def _deliver(way: _Way, out: socket.socket) -> None:
        for datagram in way.line.due(time.monotonic()):
            out.sendto(datagram, way.target)
