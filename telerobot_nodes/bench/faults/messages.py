"""Messages that flood, are too large, cannot be, or ask for what is not allowed."""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Goal, Outcome, Row, at_most, holds, none

NAN, INFINITE = math.nan, math.inf
FLOOD, FLOOD_SECONDS = 10_000.0, 4.0  # [1/s], [s]
HUGE = 5_000_000  # doubles: 40 MB
FAR_TARGETS = 300
Fields = Mapping[str, Any]


def operation(**points: Any) -> Fields:
    """A message with one operation of long ago: only its shape is looked at."""
    from telerobot_nodes.nodes.framework import interface_class

    message = interface_class("telerobot/msg/PlanOperation")(epoch=1, number=1, agent="stranger")
    fields = {"first_seq": 1, "time": [1e6], "pose": [0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0], "timing": [0], "author": "x"}
    for name, value in (fields | points).items():
        setattr(message.points, name, value)
    return {"operations": [message]}


def setpoint(position: list[float]) -> Fields:
    """A setpoint of now, at rest."""
    rest = [0.0] * len(position)
    return {
        "number": 1,
        "monotonic": time.monotonic(),
        "position": position,
        "velocity": rest,
        "acceleration": rest,
        "gripper": -1.0,
    }


def is_strange(message: Any) -> bool:
    """True for a recorded setpoint that row 14 has published, and not a control loop."""
    return message.number == 1 and all(map(math.isnan, message.position)) and not any(message.velocity)


def pose(frame: str = "world", x: float = 0.5, qw: float = 1.0) -> Fields:
    """A target of the tool."""
    position = {"pose.position.x": x, "pose.position.z": 0.5}
    return {"header.frame_id": frame, **position, "pose.orientation.w": qw}


class Bad(NamedTuple):
    """A message that cannot be, who must refuse it, and a word of the refusal."""

    row: int
    name: str
    topic: str
    make: Callable[[], Fields]
    node: str
    word: str


OPERATIONS, TARGETS = "plan_executor/operations", "path_plan_queue/pose_target_cmds"
SIX = [0.0] * 6
BAD = (
    Bad(14, "operation, NaN", OPERATIONS, lambda: operation(pose=[NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), "plan_executor",
        "pose"),
    Bad(14, "operation, infinite time", OPERATIONS, lambda: operation(time=[INFINITE]), "plan_executor", "time"),
    Bad(14, "target, NaN", TARGETS, lambda: pose(x=NAN), "path_plan_queue", "pose"),
    Bad(14, "target, infinity", TARGETS, lambda: pose(x=INFINITE), "path_plan_queue", "pose"),
    Bad(14, "setpoint, NaN", "hardware_interface/setpoint",
        lambda: setpoint([NAN] * 6),
        "hardware_interface", "position"),
    Bad(14, "window, NaN", "plan_executor/window",
        lambda: {"number": 1 << 40, "start": 1.0, "splice": 1.0, "period": 0.02, "dof": 6, "position": [NAN] * 12,
                 "velocity": [0.0] * 12, "acceleration": [0.0] * 12, "plan_time": [0.0, 0.0]},
        "gcmsf_control", "position"),
    Bad(15, "operation, six numbers of a pose", OPERATIONS, lambda: operation(pose=SIX), "plan_executor", "pose"),
    Bad(15, "operation, quaternion of length 2", OPERATIONS,
        lambda: operation(pose=[0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 2.0]), "plan_executor", "pose"),
    Bad(15, "target, quaternion of length 2", TARGETS, lambda: pose(qw=2.0), "path_plan_queue", "orientation"),
    Bad(15, "target, unknown frame", TARGETS, lambda: pose("moon"), "path_plan_queue", "moon"),
    Bad(15, "setpoint of two joints", "hardware_interface/setpoint",
        lambda: setpoint([0.0] * 2),
        "hardware_interface", "position"),
    Bad(15, "joint states without names", "joint_states", lambda: {"position": [0.0, 0.0]}, "gcmsf_control", "name"),
    Bad(18, "operation, time that goes back", OPERATIONS,
        lambda: operation(time=[2.0, 1.0], pose=[0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0] * 2, timing=[0, 0]),
        "plan_executor", "time"),
    Bad(18, "operation, no points", OPERATIONS, lambda: operation(time=[], pose=[], timing=[]), "plan_executor",
        "points"),
)  # fmt: skip


def bad(rig: Rig, row: int) -> Outcome:
    """The bad messages of a row, each sent until it is refused, for ten seconds at most."""
    before = rig.last["plan_executor/state"]["tail_seq"]
    cases = [case for case in BAD if case.row == row]
    goals = [holds(f"{case.name}: refused, field named", refused(rig, case)) for case in cases]
    rig.spin(0.5)
    state = rig.last["plan_executor/state"]
    return Outcome(
        f"{len(cases)} kinds of messages, in the domain of the node that must refuse them",
        (
            *goals,
            holds("plan unchanged", state["tail_seq"] == before),
            none("setpoints in motion", judge.moved_after(rig.trace.setpoints, 0.0)),
        ),
    )


def refused(rig: Rig, case: Bad) -> bool:
    """Whether a node counts a refusal that names the field."""
    queue = rig.operator.operator
    at_operator = case.node == "path_plan_queue"
    count = queue.queue.refused if at_operator else _refusals(rig, case.node)
    sender = rig.operator if at_operator else rig.robot

    def named() -> bool:
        sender.send(case.topic, case.make())  # again and again: of a stream only the newest counts
        if at_operator:
            return queue.queue.refused > count and case.word in queue.queue.notice
        return _refusals(rig, case.node) > count and case.word in _last_refusal(rig, case.node)

    return rig.happens(named, 10.0) < INFINITE


def _refusals(rig: Rig, node: str) -> int:
    if node == "hardware_interface":
        return int(rig.last["hardware_interface/state"]["refused"])
    return int(rig.robot.health.get(node, {}).get("refusals", 0))


def _last_refusal(rig: Rig, node: str) -> str:
    if node == "hardware_interface":
        return str(rig.last["hardware_interface/state"]["refusal"])
    return rig.robot.health.get(node, {}).get("last_refusal", "")


_NODE_ALONE = """
import sys
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.robot.plan_executor import main
sys.exit(main(NodeOptions("plan_executor")))
"""


def wrong_types(rig: Rig) -> Outcome:
    """An int where a float belongs, and a node without the check."""
    try:
        rig.robot.send("hardware_interface/setpoint", {"gripper": 3})
        raised = False
    except AssertionError:
        raised = True
    words = [sys.executable, "-c", _NODE_ALONE]  # `telerobot run` sets the variable itself
    environment = {**os.environ, "ROS_PYTHON_CHECK_FIELDS": "0"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=30.0, check=False)
    return Outcome(
        "an int in a float field of a message; a node's own main function with ROS_PYTHON_CHECK_FIELDS=0",
        (
            holds("the int raises", raised),
            holds("the node does not start", done.returncode > 0),
            holds("its output names the variable", "ROS_PYTHON_CHECK_FIELDS" in done.stderr),
        ),
    )


def far_targets(rig: Rig) -> Outcome:
    """Targets anywhere around the arm, as fast as a device sends."""
    draw = random.Random(17)
    for _ in range(FAR_TARGETS):
        x, y, z = (draw.uniform(-3.0, 3.0) for _ in range(3))
        target = {"header.frame_id": "world", "header.stamp": rig.operator.stamp(), "pose.orientation.w": 1.0}
        target |= {"pose.position.x": x, "pose.position.y": y, "pose.position.z": z}
        rig.operator.send(TARGETS, target)
        rig.spin(0.02)
    held = rig.operator.operator.queue.notice
    once = rig.finish()
    return Outcome(
        f"{FAR_TARGETS} targets at random up to 3 m around the arm, 50 a second",
        (
            none("setpoints outside the limits", judge.excess(rig.trace.setpoints, rig.robot_model.limits)),
            none("points lost, twice or out of order", sum(once)),
            holds("the operator is told", bool(held)),
        ),
        f"{len(rig.trace.setpoints)} setpoints; notice: {held}",
        untried="10,000 plans: `telerobot bench executed` does that with executor, loop and physics in one process",
    )


def flood(rig: Rig) -> Outcome:
    """10,000 messages a second on each input of the robot."""
    before = rig.memory()
    goals: list[Goal] = []
    inputs: dict[str, Fields] = {
        "gcmsf_control/teleop_cmds": {"header.frame_id": "world"},
        "authority": {"kind": 5, "agent": "stranger"},
        "rtc_decision_unit/commands": {"sender": "stranger", "text": "where module"},
        "obstacles": {},
    }
    sent = {}
    for topic, fields in inputs.items():
        rig.ready()
        process, results = child(flood_in_domain, rig.robot_domain, topic, fields)
        rig.drive(1.0)
        process.join(20.0)
        sent[topic] = results.get() if not results.empty() else 0
        steps, missed, most = judge.lateness(rig.trace.loop)
        once = rig.finish()
        goals += [
            at_most(f"{topic}: most periods missed at once", most, 2, "-"),
            at_most(f"{topic}: share of periods missed", missed / max(1, steps), 0.01, "-"),
            none(f"{topic}: points lost, twice or out of order", sum(once)),
        ]
    after = rig.memory()
    growth = max((after[name] - before[name] for name in before if name in after), default=INFINITE)
    goals.append(at_most("growth of a node's memory", growth, 50.0, "MB"))
    rates = ", ".join(f"{topic} {count / FLOOD_SECONDS:.0f}/s" for topic, count in sent.items())
    return Outcome("a flood on one input after the other, in the robot's domain, while a hand drives the arm",
                   tuple(goals), f"sent: {rates}; another process of the same two cores sends them")  # fmt: skip


def huge(rig: Rig) -> Outcome:
    """40 MB in one message."""
    goals: list[Goal] = []
    for topic, field in (("plan_executor/window", "position"), ("gcmsf_control/teleop_cmds", "header.frame_id")):
        rig.ready()
        rig.drive(1.0)
        process, _ = child(huge_in_domain, rig.robot_domain, topic, field)
        process.join(30.0)
        rig.spin(2.0)
        _, _, most = judge.lateness(rig.trace.loop)
        once = rig.finish()
        goals += [
            at_most(f"{topic}: most periods missed at once", most, 2, "-"),
            none(f"{topic}: points lost, twice or out of order", sum(once)),
            holds(f"{topic}: the graph goes on", rig.runs("robot")),
        ]
    return Outcome("a window and an increment of 40 MB each, in the robot's domain, in motion", tuple(goals))


def flood_in_domain(domain: int, topic: str, fields: Fields, results: Any) -> None:
    """In another process: flood a topic."""
    from telerobot_nodes.nodes.probes import flood_topic, in_domain

    with in_domain(domain):
        results.put(flood_topic(topic, fields, FLOOD, FLOOD_SECONDS))


def huge_in_domain(domain: int, topic: str, field: str, _results: Any) -> None:
    """In another process: send one message of 40 MB."""
    from telerobot_nodes.nodes.probes import flood_topic, in_domain

    with in_domain(domain):
        flood_topic(topic, {field: "x" * (8 * HUGE) if field.endswith("frame_id") else [0.0] * HUGE}, 0.9, 1.2)


def child(work: Callable[..., None], *arguments: Any) -> tuple[Any, Any]:
    """Run `work(*arguments, results)` in a process of its own; the process, and its queue of results."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=work, args=(*arguments, results), daemon=True)
    process.start()
    return process, results


def not_allowed(rig: Rig) -> Outcome:
    """Transitions, parameters and types that no node knows."""
    from telerobot_nodes.nodes.framework import interface_class

    value = interface_class("rcl_interfaces/msg/ParameterValue")(type=99)
    parameter = interface_class("rcl_interfaces/msg/Parameter")(name="nothing", value=value)
    goals: list[Goal] = []
    for node in ("plan_executor", "gcmsf_control", "hardware_interface", "rtc_decision_unit", "link"):
        rig.robot.ask("lifecycle_msgs/srv/ChangeState", f"/{node}/change_state", {"transition.id": 250}, 2.0)
        rig.robot.ask("lifecycle_msgs/srv/ChangeState", f"/{node}/change_state", {"transition.id": 1}, 2.0)
        rig.robot.ask("rcl_interfaces/srv/SetParameters", f"/{node}/set_parameters", {"parameters": [parameter]}, 2.0)
        begun = rig.now()
        answer = rig.robot.ask("lifecycle_msgs/srv/GetState", f"/{node}/get_state", {}, 5.0)
        took = rig.now() - begun if answer is not None else INFINITE
        goals.append(at_most(f"{node}: next call answered after", took, 1.0))
        goals.append(holds(f"{node}: still active", answer is not None and answer.current_state.label == "active"))
    goals.append(none("setpoints in motion", judge.moved_after(rig.trace.setpoints, 0.0)))
    return Outcome("an unknown and an illegal transition, and a parameter of an unknown type, to each node",
                   tuple(goals))  # fmt: skip


ROWS = (
    Row(12, "command flood, 10 kHz", "rate limit; loop undisturbed; memory + 50 MB at most", flood),
    Row(13, "a 40 MB message", "refused; loop late by at most 2 periods", huge),
    Row(14, "NaN, infinity", "refused, field named: 100 %; queue unchanged", lambda rig: bad(rig, 14)),
    Row(15, "wrong length, joint name, frame, quaternion", "refused: 100 %", lambda rig: bad(rig, 15)),
    Row(16, "int or numpy scalar in a float field", "raises; a node will not start without the check", wrong_types),
    Row(17, "point over limits or far from the arm", "refused at the door, saturated at the servo: 0 excess",
        far_targets),
    Row(18, "bad times, empty plan", "refused: 100 %", lambda rig: bad(rig, 18)),
    Row(19, "illegal lifecycle transition, unknown parameter type", "node lives; next call answered within 1 s",
        not_allowed),
)  # fmt: skip
