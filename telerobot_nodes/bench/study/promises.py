"""What the plan promises its operators, measured: the tool at the hand, trials through walls, hand-off after hours.

`lag`: how far the simulated tool is behind a recorded hand, time clutch disengaged. `walls`: trial paths through a
wall, when they are shown and whether one can be adopted. `pause`: over a thin link, with a plan waiting. `handoff`:
where control passes after a stand-by of hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import chosen, report
from telerobot_nodes.bench.plan import load_test
from telerobot_nodes.bench.study.delay_rig import STEP, DelayRig
from telerobot_nodes.bench.study.operator_side import NO_TURN
from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.protocol import AuthorityKind, UpdateKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.geometry import box, floor, scene_of
from telerobot_nodes.cspace.service import InProcessPlanner
from telerobot_nodes.operator.devices import DeviceMotion, device_motion, load_hand
from telerobot_nodes.plan.authority import AuthorityMessage, StandBy
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import PlanPoints, PlanUpdate
from telerobot_nodes.plan.queue import Join, QueueConfig

HAND = "config/hands/demo_hand.csv"
HAND_SCALE = 0.3  # [-] so that the hand stays inside the workspace of the arm
MOST_LAG = 25  # [steps] looked for
SECOND_STEPS = round(1.0 / STEP)
MOVED = 0.01  # [m] in a second
JUMP = 0.6 * STEP  # [m] of the hand in a step: faster than the tool may follow, a jump of the tracker
WALL = (0.2, 0.02, 0.2)  # [m]
TRIAL_TIME = 1.5  # [s] to lay a trial path
FIRST, SECOND = "first", "second"  # agents
BATCH = 500  # points of an update of the plan in force
SPACING = 0.02  # [s] of plan time between points

Rows = tuple[dict[str, Any], list[dict[str, Any]]]


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `parts` (lag,walls,pause,handoff), `trials` (1000) through a wall, `hours` (8) of stand-by, `handoffs`
    (100), `seed` (1).
    """
    options = options or {}
    seed = int(options.get("seed", 1))
    parts: dict[str, Callable[[], Rows]] = {
        "lag": lag,
        "walls": lambda: walls(int(options.get("trials", 1000)), seed),
        "pause": pause,
        "handoff": lambda: handoff(float(options.get("hours", 8.0)), int(options.get("handoffs", 100)), seed),
    }
    figures: dict[str, Any] = {}
    goals: list[dict[str, Any]] = []
    for name in chosen(options, "parts", tuple(parts)):
        figures[name], more = parts[name]()
        goals += more
    return report.result(report.conditions(seed), figures, goals)


def lag() -> Rows:
    """How long ago the hand was where the simulated tool is, over a recorded hand."""
    rig = DelayRig(2.0, 1)
    while not rig.ready:
        rig.step(np.zeros(3))
    rig.queue.set_time_clutch(rig.now, False)
    motion = device_motion(load_hand(share_path(HAND)), HAND_SCALE, 1.0)
    hands, tools = [], []
    for t in np.arange(0.0, motion.duration, STEP):
        hands.append(_hand(motion, t))
        rig.step(hands[-1])
        tools.append(rig.sides[0].seen_simulation[:3] - rig.start[:3])
    found = list(_lags(np.array(hands), np.array(tools)))
    figures = {
        "samples": len(found),
        "worst_s": round(max(found), 3),
        "p95_s": round(float(np.quantile(found, 0.95)), 3),
    }
    return figures, [report.goal("simulated tool behind the hand, worst", 1e3 * max(found), "ms", "<=", 50.0)]


def _hand(motion: DeviceMotion, time: float) -> FloatArray:
    """(3,) [m] from where the hand began."""
    place = [np.interp(time, motion.time, motion.pose[:, i]) for i in range(3)]
    return np.array(place) - motion.pose[0, :3]


def _lags(hands: FloatArray, tools: FloatArray) -> Iterable[float]:
    """[s] in each second in which the hand moves: the delay of its steps that fits those of the tool best.

    Steps, because a jump of the tracker is absorbed: from then on the tool is beside the hand. The seconds about a jump
    are left out.
    """
    hand, tool = np.diff(hands, axis=0), np.diff(tools, axis=0)
    for first in range(MOST_LAG, len(tool) - SECOND_STEPS, SECOND_STEPS):
        shown = tool[first : first + SECOND_STEPS]
        past = [hand[first - n : first - n + SECOND_STEPS] for n in range(MOST_LAG)]
        moved = np.linalg.norm(np.concatenate(past[:: MOST_LAG - 1]), axis=1)
        if moved.max() < JUMP and float(np.linalg.norm(past[0], axis=1).sum()) > MOVED:
            yield STEP * int(np.argmin([float(np.square(shown - steps).sum()) for steps in past]))


def walls(trials: int, seed: int) -> Rows:
    """Trial paths into a wall beside the arm: until one is shown as a conflict, and whether it can be adopted."""
    robot, random = load_robot("arm"), np.random.default_rng(seed)
    planner = InProcessPlanner({robot.name: robot}, margin=0.0)
    planner.load()
    rig = DelayRig(0.0, 1, robot, planner=planner)
    while not rig.ready:
        rig.step(np.zeros(3))
    late: list[float | None] = []
    adopted = 0
    while len(late) < trials:
        side, beside = random.choice((-1.0, 1.0)), random.uniform(0.1, 0.16)
        place = rig.start[:3] + np.array([random.uniform(-0.03, 0.03), side * beside, random.uniform(-0.05, 0.05)])
        planner.set_scene(scene_of([floor(height=-0.05), box("wall", WALL, tuple(place))]))
        if planner.check_outside(robot.name, rig.joints[None]):
            continue  # the arm stands in it
        late.append(_lay_trial(rig, np.array([0.0, side * (beside + 0.06), random.uniform(-0.03, 0.03)])))
        adopted += rig.queue.set_position_clutch(rig.now, True, Join.ADOPT).engaged
        rig.queue.set_position_clutch(rig.now, True, Join.DISCARD)
        rig.step(np.zeros(3))
    shown = [value for value in late if value is not None]
    worst = max(shown, default=0.0)
    figures = {"trials": trials, "shown": len(shown), "adopted": adopted, "shown_worst_s": round(worst, 3)}
    return figures, [
        report.goal("trials through a wall that are shown", float(len(shown)), "-", ">=", float(trials)),
        report.goal("trial through a wall, first point there until shown", 1e3 * worst, "ms", "<=", 100.0),
        report.goal(f"trials through a wall adopted, of {trials}", float(adopted), "-", "<=", 0.0),
    ]


def _lay_trial(rig: DelayRig, way: FloatArray) -> float | None:
    """Lay a trial path along `way` (3,) [m]; how long the display knew its first conflict untold [s], None: always."""
    side = rig.sides[0]
    side.disengage(rig.now)
    known: dict[int, float] = {}  # when the display received each point
    late = None
    for u in np.linspace(0.0, 1.0, round(TRIAL_TIME / STEP)):
        rig.step(way * u * u * (3.0 - 2.0 * u))
        known.setdefault(side.queue.state(rig.now).trial_length, rig.now)
        found = side.forward.conflicts()
        if found.count and late is None:
            begun = found.first_seq - side.trial_begun
            late = rig.now - min(at for length, at in known.items() if length >= begun)
    return late


def pause() -> Rows:
    """A pause over a link of 30 kB/s with 10,000 points waiting, and the bytes that carry the points."""
    test = load_test("plan/log/test_send_rate.py")
    rows, goals = [], []
    for delay in (0.02, 0.25, 2.0):
        session = test.Bulk(test.THIN, delay)
        session.run(2.0)
        session.queue.pause(session.now)
        late = session.seconds_until(lambda session=session: session.robot.paused) - delay
        session.arrival()
        share = (session.thin.bytes - session.before) / (test.POINTS * test.POINT_BYTES)
        rows.append({"delay_s": delay, "pause_late_s": round(late, 3), "bytes_to_points": round(share, 3)})
        goals += [
            report.goal(f"pause over 30 kB/s, {delay:g} s one way, beyond it", 1e3 * late, "ms", "<=", 300.0),
            report.goal(f"bytes to those of the points, {delay:g} s one way", share, "-", "<=", 1.5),
        ]
    return {"links": rows}, goals


def handoff(hours: float, count: int, seed: int) -> Rows:
    """Where control would pass to an agent who has stood by for hours, near the plan in force and beside it."""
    config, random = QueueConfig(), np.random.default_rng(seed)
    distance, angle = config.meeting_distance, config.meeting_angle
    standby = StandBy(SECOND, config.capacity, distance, angle)
    report_ = PlanExecutor(load_robot("arm")).report(0.0)
    for first in range(1, round(hours * 3600.0 / SPACING), BATCH):
        points = _swinging(first)
        standby.active.follow(PlanUpdate(UpdateKind.APPEND, False, points))
        standby.on_report(float(points.time[-1]), replace(report_, executed_seq=first + BATCH // 2))
    held = standby.active.store.after(0)
    right, after = 0, float(held.time[len(held) // 4])
    for n in range(count):
        share = random.uniform(0.1, 0.9) if n % 2 else random.uniform(1.2, 3.0)
        pose = _beside(held.pose[random.integers(len(held) // 2, len(held))], share * distance, random)
        _consented(standby)
        seq = standby.meeting(pose, after)
        nearest = min(max(d / distance, a / angle) for d, a in (pose_distance(pose, row) for row in held.pose))
        if seq:
            met = held.pose[int(np.searchsorted(held.seq, seq))]
            d, a = pose_distance(pose, met)
            right += d <= distance and a <= angle and bool(held.time[int(np.searchsorted(held.seq, seq))] > after)
        else:
            right += nearest > 1.0
    figures = {"hours": hours, "points_held": len(held), "handoffs": count, "right": right}
    return figures, [report.goal(f"hand-offs within distance and angle after {hours:g} h", right, "-", ">=", count)]


def _swinging(first: int) -> PlanPoints:
    """BATCH points of a tool that swings to and fro, from number `first`."""
    seq = np.arange(first, first + BATCH)
    pose = np.tile(np.array([0.5, 0.0, 0.4, *NO_TURN]), (BATCH, 1))
    pose[:, 1] = 0.2 * np.sin(0.01 * seq)
    pose[:, 2] += 0.1 * np.sin(0.0037 * seq)
    time: FloatArray = SPACING * seq.astype(np.float64)
    return PlanPoints(first, time, pose, np.zeros(BATCH, np.uint8), FIRST)


def _beside(pose: FloatArray, distance: float, random: np.random.Generator) -> FloatArray:
    """`pose` (7,) moved by `distance` [m] along x, across the plan, and turned a little."""
    moved = se3_from_pose(pose)
    moved.translation[0] += distance
    moved.rotation = moved.rotation @ pin.exp3(random.uniform(-0.1, 0.1, 3))
    return pose_from_se3(moved)


def _consented(standby: StandBy) -> None:
    standby.handoff.message(AuthorityKind.REQUEST, "", 1)
    standby.handoff.on_message(AuthorityMessage(AuthorityKind.CONSENT, FIRST, SECOND, 1))
