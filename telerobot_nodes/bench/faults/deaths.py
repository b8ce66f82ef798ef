"""Processes that die, stop, hang, or are told to end while the arm moves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Goal, Outcome, Row, at_least, at_most, holds, none
from telerobot_nodes.bench.faults.two_graphs import OPERATOR_NODES, ROBOT_NODES
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import commands

SAFE = 0.3  # [s] until the safe state
READY = 5.0  # [s] until a node is back
KILLS = 100
STAYS = 0.002  # [rad] of a held arm: a servo that begins anew settles
MOVES_THE_ARM = ("gcmsf_control", "hardware_interface")
SHARED = Path("/dev/shm")


def node_dies(rig: Rig, role: str, node: str) -> list[Goal]:
    """Kill -9 of one node in motion: back, nothing twice, limits kept."""
    rig.ready()
    rig.drive(1.0)
    count = rig.times_ready(role, node)
    at = rig.kill(role, node)
    name = f"{role} {node}: "
    back = rig.happens(lambda: rig.times_ready(role, node) > count or not rig.runs(role), 20.0)
    rig.ask(commands.StopReplay())
    goals = [
        holds(name + "killed in motion", judge.was_moving(rig.trace.measured, at)),
        at_most(name + "ready again after", back if rig.runs(role) else float("inf"), READY),
        none(name + "setpoints outside the limits", judge.excess(rig.trace.setpoints, rig.robot_model.limits)),
        none(name + "jumps of the setpoint", rig.jumps()),
    ]
    if rig.runs(role):
        resumed = rig.happens(lambda: rig.at_rest() and rig.are(LinkState.FRESH), 40.0)
        goals.append(at_most(name + "plan at its end, both hosts fresh, after", resumed, 40.0))
        rig.spin(0.5)  # the last report of what was executed
        once = rig.once()
        goals.append(none(name + "points twice or out of order", once.twice + once.out_of_order))
        goals.append(none(name + "points of the plan not executed", once.lost))
        if node not in ("path_plan_queue", "operator_input"):  # their death ends the hand's own plan
            goals.append(none(name + "points that the plan gave up", len(rig.renumbered()[1])))
    return goals


def robot_nodes_die(rig: Rig) -> Outcome:
    """Kill -9 of each node of the robot's host but those that move the arm."""
    goals = [goal for node in ROBOT_NODES if node not in MOVES_THE_ARM for goal in node_dies(rig, "robot", node)]
    return Outcome("kill -9 of each node of the robot's host in motion, one after the other", tuple(goals))


def robot_side_dies(rig: Rig) -> Outcome:
    """Kill -9 of the whole robot's side in motion, and its start again."""
    inner = robot_nodes_die(rig)
    rig.ready()
    rig.drive(1.0)
    at = rig.kill_side("robot")
    stale = rig.happens(lambda: rig.operator.operator.queue.stale, 10.0)
    rig.start_side("robot")
    ready = rig.now() - at
    rig.ask(commands.StopReplay())
    waited = _waits(rig, "whole robot's side", at)
    return Outcome(
        inner.did + "; then of the whole robot's side (`telerobot up robot --state FOLDER` and every process below "
        "it), its start by hand, RESET and RESUME",
        (
            *inner.goals,
            at_most("whole robot's side: stale at the operator after", stale, 0.8),
            at_most("whole robot's side: ready again after", ready, READY),
            *waited,
            *_goes_on(rig, "whole robot's side"),
        ),
        "the start by hand loads and checks everything",
    )


def _waits(rig: Rig, name: str, at: float) -> tuple[Goal, ...]:
    """What moved from 1 s after a death `at` [s] until now, before a RESUME."""
    moved = judge.moved_after(rig.trace.setpoints, at + 1.0, rig.trace.hardware)
    return (
        at_most(f"{name}: measured arm moved before RESUME", judge.travel(rig.trace.measured, at + 1.0), STAYS, "rad"),
        none(f"{name}: setpoints in motion before RESUME that the hardware takes", moved),
    )


def _goes_on(rig: Rig, name: str) -> tuple[Goal, ...]:
    """RESET and RESUME; what becomes of the rest of the plan."""
    try:
        rig.ready_again()
        ended = True
    except TelerobotError:
        ended = False
    once = rig.once()
    return (
        holds(f"{name}: the plan goes on to its end after RESET and RESUME", ended),
        none(f"{name}: points twice or out of order", once.twice + once.out_of_order),
        none(f"{name}: points of the plan not executed", once.lost),
        none(f"{name}: points that the plan gave up", len(rig.renumbered()[1])),
        none(f"{name}: setpoints outside the limits", _excess(rig)),
        none(f"{name}: jumps of the setpoint", rig.jumps()),
    )


def operator_side_dies(rig: Rig) -> Outcome:
    """Kill -9 of each node of the operator's host, then of all of it."""
    goals = [goal for node in OPERATOR_NODES for goal in node_dies(rig, "operator", node)]
    rig.ready()
    rig.drive(1.0)
    rig.kill_side("operator")
    stale = rig.happens(lambda: rig.link("robot") is LinkState.STALE, 10.0)
    at = rig.now()
    rig.start_side("operator")
    queue = rig.operator.operator
    rig.happens(lambda: queue.queue.has_authority and not queue.queue.stale, 30.0)
    back = rig.now() - at
    once = judge.executed_once(rig.trace.executed, rig.first, rig.last["plan_executor/state"]["executed_seq"])
    goals += [
        at_most("whole operator's side: stale at the robot after", stale, 0.8),
        at_most("whole operator's side: authority again after its start", back, 15.0),
        none("whole operator's side: points twice or out of order", once.twice + once.out_of_order),
    ]
    return Outcome("kill -9 of each node of the operator's host in motion, then of all of it", tuple(goals))


def motion_dies(rig: Rig) -> Outcome:
    """The loop's node and the hardware's: SIGSTOP for half a second, then kill -9."""
    goals: list[Goal] = []
    for node in MOVES_THE_ARM:
        rig.ready()
        rig.drive(1.0)
        pid, at = rig.pid("robot", node), rig.now()
        os.kill(pid, signal.SIGSTOP)
        rig.spin(0.6)
        os.kill(pid, signal.SIGCONT)
        rig.spin(1.5)
        ended = not rig.runs("robot")
        found = judge.detected_after(rig.trace, at)
        goals += [
            at_most(f"{node} stopped: reported after", found, 0.6 + SAFE if node == "hardware_interface" else SAFE),
            none(f"{node} stopped: jumps of the setpoint", rig.jumps()),
            none(f"{node} stopped: setpoints outside the limits", _excess(rig)),
            holds(f"{node} stopped: the graph goes on", not ended),
        ]
        if ended:
            rig.restart()
    for node in MOVES_THE_ARM:
        rig.ready()
        rig.drive(1.0)
        count, at = rig.times_ready("robot", node), rig.kill("robot", node)
        in_motion = judge.was_moving(rig.trace.measured, at)
        rig.happens(partial(_reported, rig, at), 1.0)
        told = judge.detected_after(rig.trace, at)
        rig.happens(partial(_again, rig, node, count), 20.0)
        back = rig.now() - at if _again(rig, node, count) else float("inf")
        rig.ask(commands.StopReplay())
        rig.spin(1.0)
        if node == "gcmsf_control":  # of an arm without its interface nobody measures anything
            rest = judge.rest_after(rig.trace.measured, at)
            goals.append(at_most(f"{node} killed: measured arm at rest after", rest, SAFE))
        goals += [
            holds(f"{node} killed: in motion", in_motion),
            at_most(f"{node} killed: reported by the other after", told, SAFE),
            at_most(f"{node} killed: ready again after", back, READY),
            *_waits(rig, f"{node} killed", at),
            *_goes_on(rig, f"{node} killed"),
        ]
        if not rig.runs("robot"):
            rig.restart()
    return Outcome(
        "SIGSTOP for 0.6 s, then kill -9, of the loop's node and of the hardware's, in motion; after each death RESET "
        "and RESUME",
        tuple(goals),
        "a loop that was started again begins halted, a hardware interface with its e-stop latched; the simulated arm "
        "stands where it was",
    )


def _reported(rig: Rig, since: float) -> bool:
    return judge.detected_after(rig.trace, since) < float("inf")


def _again(rig: Rig, node: str, count: int) -> bool:
    return rig.times_ready("robot", node) > count


def hangs(rig: Rig) -> Outcome:
    """Each node of the motion, and the queue, hangs for three seconds."""
    goals: list[Goal] = []
    for role, node in (("robot", "plan_executor"), ("operator", "path_plan_queue"), ("robot", "link")):
        rig.ready()
        rig.drive(1.0)
        pid, at = rig.pid(role, node), rig.now()
        os.kill(pid, signal.SIGSTOP)
        heard = rig.happens(partial(_noticed, rig, node), 3.0)
        rig.spin(max(0.0, 3.0 - (rig.now() - at)))
        os.kill(pid, signal.SIGCONT)
        rest = judge.rest_after([row for row in rig.trace.measured if row.time < at + 3.0], at)
        once = rig.finish()
        goals += [
            at_most(f"{node} hangs: told to the operator after", heard, 0.5 + 0.1),
            none(f"{node} hangs: points lost, twice or out of order", sum(once)),
            none(f"{node} hangs: jumps of the setpoint", rig.jumps()),
        ]
        if node == "plan_executor":
            goals.append(at_most(f"{node} hangs: arm at rest on its path after", rest, 3.0))
    return Outcome("executor, queue and link each stopped (SIGSTOP) for 3 s in motion, then continued", tuple(goals))


def _noticed(rig: Rig, node: str) -> bool:
    client = rig.operator.operator
    if node == "path_plan_queue":
        received = client.received.queue
        return received is not None and rig.now() - received > 0.5
    return client.queue.stale


def told_to_end(rig: Rig) -> Outcome:
    """SIGTERM, and SIGINT twice, to the robot's side in motion."""
    goals: list[Goal] = []
    for numbers in ((signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)):
        rig.ready()
        rig.drive(1.0)
        process, at = rig.hosts.sides["robot"].process, rig.now()
        for number in numbers:
            if process is not None:
                process.send_signal(number)
            rig.spin(0.05)
        took = rig.happens(lambda: not rig.runs("robot"), 15.0)
        name = " twice".join([numbers[0].name, ""][: len(numbers)]) + ": "
        last = rig.trace.setpoints[-1:]
        speed = float(np.abs(last[0].velocity).max()) if last else float("inf")
        goals += [
            holds(name + "in motion", judge.was_moving(rig.trace.measured, at)),
            none(name + "exit code", process.poll() or 0 if process is not None else 1),
            at_most(name + "ended after", took, 3.0),
            at_most(name + "speed of the last setpoint", speed, judge.STILL, "rad/s"),
            none(name + "setpoints outside the limits", _excess(rig)),
            none(name + "jumps of the setpoint", rig.jumps()),
        ]
        rig.restart()
    return Outcome("SIGTERM, then SIGINT twice, to `telerobot up robot` in motion", tuple(goals))


def shared_memory(rig: Rig) -> Outcome:
    """Participants killed one after the other, beside the graph."""
    before = _used()
    code = (
        "from telerobot_nodes.runtime import join_graph; join_graph()\n"
        "from telerobot_nodes.nodes.framework import Foreground\n"
        "client = Foreground('fault_victim'); client.publisher('halt'); print('up', flush=True); client.spin(60)"
    )
    killed = 0
    for _ in range(KILLS // 4):
        group = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
        for process in group:
            killed += bool(process.stdout and process.stdout.readline())
            process.kill()
            process.wait()
    rig.spin(0.5)
    return Outcome(
        f"{killed} participants of the robot's middleware killed (kill -9), four at a time",
        (
            at_least("killed", killed, KILLS),
            at_most("growth of shared memory", (_used() - before) / 1e6, 20.0, "MB"),
        ),
        "the project's profile is UDP on loopback: the middleware has no shared memory to leave",
    )


def _used() -> int:
    return sum(file.stat().st_size for file in SHARED.iterdir() if file.is_file())


def _excess(rig: Rig) -> int:
    return judge.excess(rig.trace.setpoints, rig.robot_model.limits)


ROWS = (
    Row(
        8,
        "robot side kill -9",
        "journal restores; the in-flight point is resolved, not guessed: ready within 5 s; 0 twice",
        robot_side_dies,
        "a node computes 0.3 to 0.8 s from its fork until it is ready, and waits for nothing (alone on this machine: "
        "0.5 to 1.9 s). With a load of ten on two cores it has a tenth of a core. A whole side loads every node",
    ),
    Row(
        9,
        "operator side kill -9",
        "new epoch, resynchronised from the robot: within d + 5 s; 0 executed again",
        operator_side_dies,
    ),
    Row(
        10,
        "motion process killed or SIGSTOPped",
        "hardware holds, no jump on return; detected within 0.3 s",
        motion_dies,
    ),
    Row(11, "a node that hangs", "detected within 0.5 s", hangs),
    Row(27, "SIGTERM, SIGINT (twice) while moving", "ramp down, exit code 0 within 3 s", told_to_end),
    Row(32, "kill -9 a hundred times", "shared memory is cleaned up: under 20 MB growth", shared_memory),
)
