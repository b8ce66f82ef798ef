"""Faults at random, one after the other, under plans without a pause; judged at the end, as Jepsen does.

The seed decides which faults come, in which order, and how long each lasts. What decides nothing is how long the graph
takes to come back: a run on a slower machine has fewer faults in its minutes, but the same ones.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from collections.abc import Callable
from random import Random

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.messages import BAD
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Goal, at_least, none
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import commands

KILLABLE = (
    *(("robot", node) for node in ("link", "plan_executor", "gcmsf_control", "hardware_interface")),
    *(("operator", node) for node in ("link", "forward_simulator")),
)
MOST_KILLS = 2  # of one node: its supervisor starts it again three times in a minute
PAUSED = (("robot", "plan_executor"), ("robot", "link"), ("operator", "path_plan_queue"), ("operator", "link"))

Fault = Callable[[Rig, Random], None]


def bad_network(rig: Rig, draw: Random) -> None:
    """Delay, loss, doubles and another order for a while."""
    delay = draw.uniform(0.0, 0.6)
    rig.network(
        delay=delay, jitter=0.3 * delay, loss=draw.uniform(0.0, 0.2), duplicate=draw.uniform(0.0, 0.3), reorder=True
    )
    rig.spin(draw.uniform(1.0, 5.0))


def cut(rig: Rig, draw: Random) -> None:
    """Both ways, or one of them."""
    up, down = draw.choice(((False, False), (True, False), (False, True)))
    rig.network(up=up, down=down)
    rig.spin(draw.uniform(0.5, 6.0))


def halt(rig: Rig, draw: Random) -> None:
    """A halt; the next plan begins with its resume."""
    rig.ask(commands.Halt(f"random {draw.random():.3f}"))
    rig.spin(1.0)


def paused(rig: Rig, draw: Random) -> None:
    """A node hangs."""
    pid = rig.pid(*draw.choice(PAUSED))
    os.kill(pid, signal.SIGSTOP)
    try:
        rig.spin(draw.uniform(0.1, 2.0))
    finally:
        os.kill(pid, signal.SIGCONT)


def bad_messages(rig: Rig, draw: Random) -> None:
    """Messages that cannot be."""
    for case in draw.sample(BAD, 5):
        (rig.operator if case.node == "path_plan_queue" else rig.robot).send(case.topic, case.make())
    rig.spin(0.2)


def killed(rig: Rig, draw: Random, kills: Counter[tuple[str, str]]) -> None:
    """A node dies, if it may come back once more."""
    place = draw.choice(KILLABLE)
    if kills[place] < MOST_KILLS:
        kills[place] += 1
        rig.kill(*place)
        rig.spin(3.0)


def random_run(rig: Rig, minutes: float, seed: int) -> list[Goal]:
    """Faults for some minutes; the goals of the whole run, its recording apart."""
    draw, kills, done = Random(seed), Counter[tuple[str, str]](), Counter[str]()
    faults: dict[str, Fault] = {
        "bad network": bad_network,
        "cut": cut,
        "halt": halt,
        "hang": paused,
        "bad messages": bad_messages,
        "death": lambda rig, draw: killed(rig, draw, kills),
    }
    lost = twice = order = stuck = excess = 0
    end = rig.now() + 60.0 * minutes
    while rig.now() < end:
        name = draw.choice(tuple(faults))
        try:
            rig.ready()
            rig.drive(draw.choice((0.5, 1.0, 2.0)))
            faults[name](rig, draw)
            rig.ready_again()
        except TelerobotError as error:
            print(f"random run: {name}: {error}", flush=True)
            stuck += 1
            with contextlib.suppress(TelerobotError):
                rig.restart()
            continue
        done[name] += 1
        once = rig.once()
        lost, twice, order = lost + once.lost, twice + once.twice, order + once.out_of_order
        excess += judge.excess(rig.trace.setpoints, rig.robot_model.limits)
    print(f"random run, seed {seed}: {dict(done)}", flush=True)
    return [
        at_least("faults", sum(done.values()), 1),
        none("faults after which the graph did not come back", stuck),
        none("points lost", lost),
        none("points executed twice", twice),
        none("points out of order", order),
        none("setpoints outside the limits", excess),
    ]
