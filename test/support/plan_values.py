"""Small plan values for unit tests: reports, points and stores."""

import numpy as np

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.plan.log import ExecutorReport, PlanPoints, PlanStore, Timing

HOME = np.array([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])


def poses(n, spacing=0.001, start=0.0):
    """Poses (n, 7) along y."""
    rows = np.tile(HOME, (n, 1))
    rows[:, 1] = start + spacing * np.arange(n)
    return rows


def points(first_seq, n, time=0.02, author="ann", **values):
    """`n` points, 20 ms apart from plan time `time`."""
    return PlanPoints(first_seq, time + 0.02 * np.arange(n), poses(n), np.zeros(n), author, **values)


def store(n, first_seq=1, capacity=1000):
    """A store with `n` points, 20 ms apart."""
    filled = PlanStore(capacity)
    times = 0.02 * np.arange(1, n + 1)
    filled.append(np.arange(first_seq, first_seq + n), times, poses(n), int(Timing.SYNCED))
    return filled


def report(**values):
    """Report of a robot at rest with an empty plan, free for everybody."""
    numbers = ("epoch", "applied_number", "refused_number", "executed_seq", "committed_seq", "tail_seq", "halt_count")
    times = ("plan_time", "committed_time", "tail_time", "rate")
    rest = {"mode": ExecutorMode.IDLE, "reason": "", "authority": "", "refusal": "", "rate_goal": 1.0}
    rest |= {"queue_length": 0, "capacity": 10_000}
    return ExecutorReport(**{**dict.fromkeys(numbers, 0), **dict.fromkeys(times, 0.0), **rest, **values})
