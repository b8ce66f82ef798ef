"""Sensors and input devices that fail, and a peer of another version."""

from __future__ import annotations

import math
import secrets
import socket
import tempfile
import time
from pathlib import Path

import numpy as np

from telerobot_nodes import graph
from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.rig import PERIOD, Rig
from telerobot_nodes.bench.faults.rows import Goal, Outcome, Row, at_most, holds, none
from telerobot_nodes.bench.link import Side, write_hosts
from telerobot_nodes.link import Endpoint, Identity, Peer, load_hosts, shared_key

TARGETS = "path_plan_queue/pose_target_cmds"
WRENCH = "hardware_interface/wrench"
STEP, JUMP = 0.001, 0.3  # [m]
TEXT = "move left_arm by 6 cm up speed 0.01 m/s"


def sensor(rig: Rig) -> Outcome:
    """Force spikes and no numbers, beside the sensor's own values, under a command."""
    from telerobot_nodes.nodes.clients import CommandClient

    goals: list[Goal] = []
    said = []
    with CommandClient(name="fault") as client:
        for name, force in (("spike of 400 N", 400.0), ("NaN", math.nan)):
            rig.ready()
            number = client.begin(TEXT)
            rig.until(rig.moving, "motion")
            at = rig.now()
            for _ in range(100):
                rig.robot.send(WRENCH, {"header.frame_id": "sensor", "wrench.force.z": force})
                rig.spin(0.005)
            rest = judge.rest_after(rig.trace.measured, at)
            if rest == math.inf:
                client.ask("halt")
            report = client.end(number, 30.0)
            said.append(f"{name}: {report.outcome}, {report.reason}")
            goals += [
                at_most(f"{name}: arm at rest after", rest, 0.5),
                holds(f"{name}: reason reported", bool(report.reason)),
                none(
                    f"{name}: setpoints outside the limits", judge.excess(rig.trace.setpoints, rig.robot_model.limits)
                ),
            ]
    return Outcome("a second publisher of the wrench, 100 values in 0.5 s, under a slow move by command",
                   tuple(goals), "; ".join(said), untried="a frozen sensor")  # fmt: skip


def device(rig: Rig) -> Outcome:
    """A device that jumps, is unplugged, and comes back elsewhere."""
    begun = rig.last["plan_executor/state"]["tool_pose"][:3]
    queue = rig.operator.operator
    jumps = queue.queue.jumps
    _stroke(rig, 0.0, 50)
    _stroke(rig, 50 * STEP + JUMP, 30)
    absorbed = rig.happens(lambda: queue.queue.jumps > jumps or "jump" in queue.queue.notice, 2.0)
    rig.spin(1.5)  # unplugged
    _stroke(rig, -JUMP, 30)
    once = rig.finish()
    moved = float(np.linalg.norm(rig.last["plan_executor/state"]["tool_pose"][:3] - begun))
    return Outcome(
        "a device at 50 Hz: a stroke of 50 mm, a jump by 0.3 m, silence of 1.5 s, and on from 0.6 m elsewhere",
        (
            at_most("jump absorbed and told after", absorbed, 2.0),
            none("jumps of the setpoint", judge.jumps(rig.trace.setpoints, rig.robot_model.limits, PERIOD)),
            at_most("tool moved in all", moved, 110 * STEP + 0.02, "m"),
            none("points lost, twice, or out of order", sum(once)),
        ),
    )


def _stroke(rig: Rig, start: float, count: int) -> None:
    for number in range(count):
        fields = {"header.frame_id": "device", "header.stamp": rig.operator.stamp(), "pose.orientation.w": 1.0}
        rig.operator.send(TARGETS, fields | {"pose.position.y": start + number * STEP})
        rig.spin(0.02)


def other_version(rig: Rig) -> Outcome:
    """A link node for the robot, and a peer with the key whose messages are others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        relay, files = write_hosts(folder)
        relay.close()
        hosts = load_hosts(files["robot"])
        cell, desk = hosts.own("robot"), hosts.own("operator")
        topics = graph.crossing()
        identity = Identity(
            host=desk.name, role=1, interface=secrets.token_bytes(8), version="0.0.1", robot="arm",
            key=shared_key(files["robot"], hosts),
        )  # fmt: skip
        upward = {entry.name: graph.is_upward(entry) for entry in topics}
        here = ("127.0.0.1", desk.port)
        peer = Peer(cell.name, ("127.0.0.1", cell.port), 0.0)
        end = Endpoint(identity, [peer], topics, upward, 0.4, lambda: secrets.randbits(64))
        words = ("run", "link", "--graph", "robot", "--hosts", str(files["robot"]))
        side = Side("robot", rig.robot_domain + 2, words, "link ready", folder / "log")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            made.bind(here)
            made.settimeout(0.02)
            side.start()
            try:
                side.wait_ready(60.0)
                took = _greet(end, made, side)
                line = next((one for one in side.lines if "refused" in one), "")
            finally:
                side.stop()
    return Outcome(
        "a peer with the right key, another hash of its messages and version 0.0.1, to the robot's link node",
        (
            at_most("refused after", took, 2.0),
            holds("both versions named", "cell is " in line and "desk 0.0.1" in line),
        ),
        line.partition("]: ")[2][:200],
    )


def _greet(end: Endpoint, made: socket.socket, side: Side) -> float:
    start = time.monotonic()
    while (now := time.monotonic()) - start < 5.0:
        for datagram, address in ((one.datagram, one.address) for one in end.poll(now)):
            made.sendto(datagram, address)
        try:
            datagram, address = made.recvfrom(65_535)
            end.receive(time.monotonic(), datagram, address)
        except TimeoutError:
            pass
        if any("refused" in line for line in side.lines):
            return time.monotonic() - start
    return math.inf


ROWS = (
    Row(31, "force spike, frozen or NaN sensor", "yield or hold, reason reported", sensor),
    Row(33, "interface versions differ between hosts", "handshake refuses, both versions named, within 2 s",
        other_version),
    Row(35, "device jump, unplugged device", "no jump in the plan; deliberate, jump-free re-engagement: 0 jumps",
        device),
)  # fmt: skip
