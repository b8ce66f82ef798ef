"""A workcell in memory: the real interface, decision unit, workers and database; a kinematic executor below them.

Two arms of three slides and a wrist whose joints are `x y z` [m] and a rotation vector [rad], so that kinematics are
exact and quick. The executor does each primitive in kinematic time and answers with the report a real one would give;
faults are told to it by step.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values.frames import pose_from_se3, se3_from_pose
from telerobot_nodes.errors import OutOfReachError
from telerobot_nodes.rtc.decision import (
    CommandReport,
    DecisionUnit,
    Dispatch,
    HaltSubsystem,
    HoldSubsystem,
    Progress,
    Reply,
    ResumeSubsystems,
    Send,
    ShowTask,
)
from telerobot_nodes.rtc.server import InterfaceServer, Workers
from telerobot_nodes.rtc.skills import Primitive, Report
from telerobot_nodes.rtc.world import Database, Validity

LOWER = np.array([-0.9, -0.9, -0.05, -6.5, -6.5, -6.5])
UPPER = np.array([0.9, 0.9, 1.4, 6.5, 6.5, 6.5])
STEPS_TO_STOP = 0.02  # [s] from a halt to rest


class SlideKinematics:
    """Forward and inverse kinematics of slides and a ball wrist."""

    def forward(self, arm, joints):
        return pose_from_se3(pin.SE3(pin.exp3(np.asarray(joints)[3:]), np.asarray(joints)[:3]))

    def solve(self, arm, pose, seed):
        T = se3_from_pose(pose)
        joints = np.concatenate((T.translation, _nearest(pin.log3(T.rotation), np.asarray(seed)[3:])))
        if np.any(joints < LOWER) or np.any(joints > UPPER):
            raise OutOfReachError(f"{arm}: {np.round(joints[:3], 3).tolist()} is out of reach")
        return joints

    def limits(self, arm):
        return LOWER, UPPER


def _nearest(rotation, seed):
    """The rotation vector that means the same and is nearest to the seed."""
    angle = np.linalg.norm(rotation)
    if angle < 1e-9:
        return rotation
    options = [rotation * (1 + 2 * np.pi * k / angle) for k in (-1, 0, 1)]
    return min(options, key=lambda option: np.linalg.norm(option - seed))


@dataclass
class Obstacles:
    """Balls no tool may come into; the collision check of the binder."""

    balls: dict = field(default_factory=dict)  # name: (centre, radius)

    def check_path(self, arm, path, clearance, ignore):
        for name, (centre, radius) in self.balls.items():
            if name not in ignore:
                nearest = np.linalg.norm(path[:, :3] - np.asarray(centre), axis=1).min()
                if nearest < radius + clearance:
                    return f"{arm} would come within {nearest - radius:.3f} m of {name}"
        return ""


class Loads:
    """The load check of the binder."""

    def check_load(self, arm, joints, mass):
        return "" if mass * np.hypot(*joints[:2]) < 2.0 else f"{arm} cannot hold {mass:g} kg so far out"


class SlideExecutive:
    """The executive's check for arms that have none: their primitives are checked with the real arm elsewhere."""

    def check_primitive(self, arm, primitive):
        pass


@dataclass
class SlideChecks:
    kinematics: SlideKinematics = field(default_factory=SlideKinematics)
    load: Loads = field(default_factory=Loads)
    collision: Obstacles = field(default_factory=Obstacles)
    executive: SlideExecutive = field(default_factory=SlideExecutive)


@dataclass
class Running:
    primitive: Primitive
    began: float
    ends: float
    report: Report


class KinematicExecutor:
    """The level below: does primitives kinematically, in its own time, one per subsystem; halts within 20 ms.

    `faults`: step name (its last part) to a list of outcomes, used one per execution; `None`: no fault this time.
    `truth`: where things really are, which the database may not know.
    """

    def __init__(self, world: Database, checks, faults=None):
        self.checks = checks
        self.faults = {name: list(outcomes) for name, outcomes in (faults or {}).items()}
        self.joints = {}
        self.running: dict[int, Running] = {}
        self.held: dict[int, float] = {}
        self.sent: list[Primitive] = []
        self.busy_clashes: list[str] = []
        self.truth = {item.key: item.value for item in world.view.query()}
        self.silent = set()  # subsystems that no longer answer
        self.sensors = {}  # what each shows

    def begin(self, primitive: Primitive, now: float) -> None:
        for other in self.running.values():
            if other.primitive.subsystem == primitive.subsystem and primitive.subsystem not in ("operator", "program"):
                self.busy_clashes.append(primitive.subsystem)
        self.sent.append(primitive)
        fault = self._fault(primitive.step)
        report, duration = self._answer(primitive, fault)
        if fault == "silent" or primitive.subsystem in self.silent or primitive.subsystem in ("operator", "program"):
            duration = float("inf")
        self.running[primitive.number] = Running(primitive, now, now + duration, report)

    def halt(self, subsystem: str, now: float) -> None:
        for running in self.running.values():
            if running.primitive.subsystem == subsystem and running.ends > now + STEPS_TO_STOP:
                if subsystem in self.silent:
                    continue
                part = min(1.0, (now - running.began) / max(running.ends - running.began, 1e-9))
                running.report = self._report(running.primitive, "halted", part)
                running.ends = now + STEPS_TO_STOP
                self.held.pop(running.primitive.number, None)

    def hold(self, number: int, hold: bool, now: float) -> None:
        running = self.running.get(number)
        if running is None:
            return
        if hold:
            self.held[number] = running.ends - now
            running.ends = float("inf")
        elif number in self.held:
            running.ends = now + self.held.pop(number)

    def next_end(self) -> float:
        return min((running.ends for running in self.running.values()), default=float("inf"))

    def finished(self, now: float) -> list[Report]:
        over = [running for running in self.running.values() if running.ends <= now]
        for running in over:
            del self.running[running.primitive.number]
            if running.report.joints:
                arm = running.primitive.subsystem
                self.joints[arm] = np.array(running.report.joints)
        return [running.report for running in sorted(over, key=lambda r: r.ends)]

    def _fault(self, step: str):
        queue = self.faults.get(step) or self.faults.get(step.rpartition(".")[2])
        return queue.pop(0) if queue else None

    def _answer(self, primitive: Primitive, fault):
        duration = max(primitive.trajectory.duration, 0.05)
        if fault == "timeout":
            duration = primitive.limit
        if fault in (None, "silent"):
            return self._report(primitive, self._success(primitive), 1.0), duration
        return self._report(primitive, fault, 0.5), duration

    def _success(self, primitive: Primitive) -> str:
        wanted = ("contact", "reached", "gripped", "opened", "found", "granted", "done", "read")
        return next(outcome for outcome in wanted if outcome in primitive.outcomes)

    def _report(self, primitive: Primitive, outcome: str, part: float) -> Report:
        joints, pose, readings = (), (), {}
        if primitive.subsystem in self.joints:
            joints = self._joints_at(primitive, outcome, part)
            pose = tuple(self.checks.kinematics.forward(primitive.subsystem, np.array(joints)).tolist())
        if primitive.executive in ("free_grasp", "compliant_grasp"):
            width = float(primitive.parameters.get("width", 0.0))
            readings["width"] = {"empty": 0.0, "gripped_wrong": 0.02}.get(outcome, width)
            outcome = "gripped" if outcome == "gripped_wrong" else outcome
        if primitive.executive == "locate" and outcome == "found":
            readings["pose"] = self._found(primitive)
        if primitive.executive == "read" and outcome == "read":
            readings["value"] = self.sensors[str(primitive.parameters["sensor"])]
        elapsed = primitive.trajectory.duration * part
        track = self._track(primitive, pose) if pose else ()
        return Report(primitive.number, outcome, joints, pose, (0.0,) * 6, readings, elapsed, track=track)

    def _track(self, primitive: Primitive, end) -> tuple:
        """Poses the tool passes until it is at `end`."""
        poses = [*self.poses(primitive), np.array(end)]
        nearest = min(range(len(poses)), key=lambda i: np.linalg.norm(poses[i] - poses[-1]))
        return tuple(tuple(pose.tolist()) for pose in (*poses[:nearest], poses[-1], poses[-1]))

    def poses(self, primitive: Primitive) -> list:
        """Poses of the tool at the points of a trajectory, from where it is."""
        arm, points = primitive.subsystem, primitive.trajectory.points
        if primitive.trajectory.space.value == "joint":
            points = [self.checks.kinematics.forward(arm, joints) for joints in points]
        return [self.checks.kinematics.forward(arm, self.joints[arm]), *points]

    def _joints_at(self, primitive: Primitive, outcome: str, part: float):
        start = self.joints[primitive.subsystem]
        points = primitive.trajectory.points
        if not len(points) or outcome in ("refused", "estop"):
            return tuple(start.tolist())
        if part >= 1.0 and outcome == "contact" and primitive.executive == "move_to_touch":
            part = 0.9
        index = min(len(points) - 1, round(part * (len(points) - 1)))
        last = points[index]
        if points.shape[1] == 7 and primitive.trajectory.space.value == "task":
            last = self.checks.kinematics.solve(primitive.subsystem, last, start)
        return tuple(np.asarray(last).tolist())

    def _found(self, primitive: Primitive):
        return tuple(self.truth[self.looking_for + ".pose"])

    looking_for = "module"


class Cell:
    """Drives the interface with the executor in simulated time; collects what comes out."""

    def __init__(
        self, library, folder, faults=None, balls=None, home=(0.3, 0.0, 0.7), database=None, executor=KinematicExecutor
    ):
        self.library = library
        self.checks = SlideChecks(collision=Obstacles(balls or {}))
        own = {f"{arm}.home": (0.2, 0.0, 0.7, 0.0, np.pi, 0.0) for arm in library.workcell.arms}
        start = Database(replace(i, value=own.get(i.key, i.value)) for i in library.workcell.items)
        self.database = database or start
        self.workers = Workers(self.database, self.checks, folder)
        self.interface = InterfaceServer(DecisionUnit(library), self.database)
        self.executor = executor(start, self.checks, faults)
        self.now = 0.0
        self.scripts = []  # each change of a live script
        self.reports: dict[int, CommandReport] = {}
        self.report_count = Counter()
        self.replies: list[Reply] = []
        self.progress: list[Progress] = []
        self.tasks: dict[int, ShowTask] = {}
        self.halts: list[tuple[float, HaltSubsystem]] = []
        self.on_task = None  # called with each task shown: text to submit, or None
        self.after = []  # (time, action)
        self.worst_holders = 0
        self._order = itertools.count()
        self._queue = []
        for arm, y in zip(library.workcell.arms, (-0.2, 0.2), strict=True):
            joints = np.array([home[0], home[1] + y, home[2], 0.0, np.pi, 0.0])
            self.executor.joints[arm] = joints
            self.measure(arm)
        self.settle()

    def measure(self, arm) -> None:
        """The arm's sensors speak."""
        joints = self.executor.joints[arm]
        pose = self.checks.kinematics.forward(arm, joints)
        self.take(self.interface.measured(arm, tuple(joints.tolist()), tuple(pose.tolist()), self.now))

    @property
    def unit(self) -> DecisionUnit:
        return self.interface.unit

    def say(self, text, sender="operator") -> int:
        """Submit a message; the number of the command, 0 when it is none."""
        before = len(self.replies)
        self.take(self.interface.submit(sender, text, self.now))
        return next((reply.command for reply in self.replies[before:] if reply.command), 0)

    def run(self, text, sender="operator") -> CommandReport:
        """Submit a command and go on until it has ended."""
        number = self.say(text, sender)
        assert number, self.replies[-1].text
        self.settle()
        return self.reports[number]

    def settle(self, until: float = 10_000.0) -> None:
        """Go on until nothing happens any more, or until a time."""
        while True:
            self._work()
            if not self.unit.commands and not self._queue and not self.executor.running and not self.after:
                return
            later = min(
                self.executor.next_end(), self.unit.wake_at(), min((t for t, _, _ in self.after), default=np.inf)
            )
            if later > until:
                self.now = max(self.now, until) if until < 10_000.0 else self.now
                return
            self.now = max(self.now, later)
            due = [entry for entry in self.after if entry[0] <= self.now]
            self.after = [entry for entry in self.after if entry[0] > self.now]
            for _, _, action in sorted(due, key=lambda e: e[:2]):
                action()
            for report in self.executor.finished(self.now):
                self.take(self.interface.report(report, self.now))
            self.take(self.interface.tick(self.now))

    def at(self, time: float, action) -> None:
        """Do something at a time."""
        self.after.append((time, next(self._order), action))

    def take(self, outputs) -> None:
        for output in outputs:
            self._one(output)
        self.scripts += self.unit.script_changes(self.now)
        self._check()

    def _one(self, output) -> None:
        if isinstance(output, Dispatch):
            heapq.heappush(self._queue, (next(self._order), output.job))
        elif isinstance(output, Send):
            if "object" in self._slots(output.primitive):
                self.executor.looking_for = str(self._slots(output.primitive)["object"])
                self._show_what_is_held(self.executor.looking_for)
            self.executor.begin(output.primitive, self.now)
        elif isinstance(output, HaltSubsystem):
            self.halts.append((self.now, output))
            self.executor.halt(output.subsystem, self.now)
        elif isinstance(output, HoldSubsystem):
            self.executor.hold(output.primitive, output.hold, self.now)
        elif isinstance(output, ShowTask):
            self._task(output)
        elif isinstance(output, CommandReport):
            self.reports[output.command] = output
            self.report_count[output.command] += 1
        elif isinstance(output, Progress):
            self.progress.append(output)
        elif not isinstance(output, ResumeSubsystems):
            self.replies.append(output)

    def _show_what_is_held(self, name):
        """The camera sees it in the hand."""
        view = self.database.view
        if view.has(f"{name}.pose") and view.item(f"{name}.pose").frame:
            self.executor.truth[f"{name}.pose"] = tuple(view.pose(name, Validity.INVALID).tolist())

    def _slots(self, primitive):
        record = self.unit.commands.get(primitive.command)
        return record.request.slots if record and record.request else {}

    def _task(self, output) -> None:
        if not output.shown:
            self.tasks.pop(output.task, None)
            self.executor.running.pop(output.primitive, None)
            return
        self.tasks[output.task] = output
        if self.on_task is not None:
            answer = self.on_task(output)
            if answer:
                self.at(self.now + 1.0, lambda: self.say(answer))

    def _work(self) -> None:
        while self._queue:
            _, job = heapq.heappop(self._queue)
            self.take(self.interface.job_done(self.workers.run(job, self.now), self.now))
        for number in [n for n, r in self.executor.running.items() if r.primitive.subsystem == "program"]:
            record = self.unit.commands.get(self.executor.running[number].primitive.command)
            if record is None or record.primitive is None or record.primitive.number != number:
                del self.executor.running[number]

    def _check(self) -> None:
        """Rules that hold at every moment."""
        resources = self.unit.resources
        for name, resource in resources.resources.items():
            assert len(resources.holders(name)) <= resource.capacity
        assert all(count == 1 for count in self.report_count.values())
