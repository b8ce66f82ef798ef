"""How late this host runs what is periodic: a check of `telerobot doctor`, and the probe before tests of the graph.

The graph's own limits are in wall time (0.1 s for joints and setpoints), and its processes need about 1.2 cores. The
probe needs as much: PROCESSES of it, each with a piece of work in every period. A machine on which the work ends late
cannot keep the graph's limits either, whatever the code does. As a program it measures in one process:
`python scheduling_lateness.py SECONDS`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

PROCESSES = 2
PERIOD = 0.005  # [s]
WORK = 0.003  # [s] of processor time in each period
WORST = 0.1  # [s] limit of the graph for the age of joints and setpoints
TYPICAL = 0.02  # [s] of the 99th percentile
KEPT = 0.9  # [-] of the periods


@dataclass(frozen=True)
class Lateness:
    """Lateness of periodic work [s], and the share of the periods in which it was done."""

    p99: float
    worst: float
    kept: float

    @property
    def busy(self) -> bool:
        """True when the machine is too busy for what has limits in wall time."""
        return self.worst > WORST or self.p99 > TYPICAL or self.kept < KEPT

    @property
    def figures(self) -> str:
        """The three figures as a text."""
        return f"p99 {1e3 * self.p99:.1f} ms, worst {1e3 * self.worst:.1f} ms, {self.kept:.0%} of the periods kept"

    def __str__(self) -> str:
        if not self.busy:
            return f"scheduling lateness: {self.figures}"
        limits = f"limits: {1e3 * TYPICAL:g} ms, {1e3 * WORST:g} ms, {KEPT:.0%}"
        return f"MACHINE TOO BUSY for tests of the graph: scheduling lateness {self.figures} ({limits})"


def work(seconds: float) -> None:
    """Use so much processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def measure(
    seconds: float,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    work: Callable[[float], None] = work,
) -> Lateness:
    """Lateness of the work's end in each period during `seconds`, here. A missed period is not made up for."""
    begin = due = now()
    late = []
    while due < begin + seconds:
        sleep(max(0.0, due - now()))
        work(WORK)
        late.append(max(0.0, now() - due - WORK))
        due = max(due + PERIOD, now())
    late.sort()
    return Lateness(late[int(0.99 * (len(late) - 1))], late[-1], min(1.0, len(late) * PERIOD / (due - begin)))


def probe(seconds: float, processes: int = PROCESSES) -> Lateness:
    """Lateness of the worst of several processes that measure beside each other."""
    command = [sys.executable, "-S", __file__, str(seconds)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    found = [Lateness(**json.loads(process.communicate()[0])) for process in running]
    return Lateness(max(f.p99 for f in found), max(f.worst for f in found), min(f.kept for f in found))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(measure(float(sys.argv[1])))))
