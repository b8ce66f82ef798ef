"""A workcell in physics and in simulated time: interface, decision unit, workers, executive, hardware and MuJoCo.

Everything between a text and the joint torques is the code that runs on the graph; only the processes, DDS and the
clock are left out. The right arm, the planner and the operator's plan are not there.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench.rtc.skill_truth import Sample, Seen, valid_entries
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.hardware import Hardware, MujocoArm, Realism, Setpoint
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest, values_from
from telerobot_nodes.rtc.decision import (
    CommandReport,
    DecisionUnit,
    Dispatch,
    HaltSubsystem,
    Output,
    ReflexWatch,
    Reply,
    Send,
    ShowTask,
)
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.execution import ArmState, ended_outcome, outcome_of
from telerobot_nodes.rtc.server import InterfaceServer, Reactions, Workers
from telerobot_nodes.rtc.skills import HALTED, Library, Primitive, Report
from telerobot_nodes.rtc.world import Database, RobotChecks

CONTROL_PERIOD = 0.002  # [s]
TICK = 0.005  # [s] between measurements, as `hardware_interface` publishes them
STATE_TICKS = 4  # measurements between states of the arm, 50 per second
BETWEEN = 0.02  # [s] at rest between two goals
ARM = "left_arm"


@dataclass
class _Running:
    primitive: Primitive
    request: Request
    goals: list[Any]
    ends: float  # [s]
    rests_until: float = 0.0  # [s]
    stop_as: str = ""


class SkillCell:
    """One arm at home before the task board. `now` [s] is simulated."""

    def __init__(self, library: Library, seed: int = 0) -> None:
        from telerobot_nodes.nodes.decision import ContactLimits, ExecutiveChecks

        self.library = library
        self.robot = load_robot("arm")
        self.arm = MujocoArm(self.robot, realism=replace(Realism(), realism_seed=seed + 1))
        self.hardware = Hardware(self.robot, arm=self.arm)
        self.executive = Executive(self.robot, CONTROL_PERIOD)
        self.now = self._next_tick = 10.0
        self._ticks = self._number = 0
        self._q = np.array(self.robot.home)
        self._opening = self.robot.gripper.max_opening if self.robot.gripper else 0.0
        self._grip_force = 0.0
        robots = {name: load_robot("arm") for name in library.workcell.arms}
        self._checks = RobotChecks(robots, executive=ExecutiveChecks(robots))
        self.database = Database(library.workcell.items)
        self._workers = Workers(self.database, self._checks)
        self.interface = InterfaceServer(DecisionUnit(library), self.database)
        self._reflexes = ReflexWatch()
        self._reactions = Reactions(self.interface, self._reflexes, self)
        self._limits = ContactLimits()
        self.state = ArmState(self.robot, pin.SE3.Identity())
        self._running: _Running | None = None
        self._ended: dict[int, CommandReport] = {}
        self._replies: collections.deque[Reply] = collections.deque()
        self._track: list[Sample] = []
        self.tasks: dict[int, str] = {}
        self.answer = "done task {task}"  # what the operator says to each task
        self.hand: FloatArray | None = None  # (6,) [m/s], [rad/s] of the operator's device
        self.hardware.open(self.now)
        self._spend(0.5)
        self.hardware.tare()
        self._spend(0.1)
        self.executive.tare()

    # what a person does ----------------------------------------------------------------------------------------

    def run(self, text: str, limit: float = 300.0) -> CommandReport:
        """Say a text and go on until its last command has ended. Raises TelerobotError when it begins none."""
        self._replies.clear()
        self._take(self.interface.submit("bench", text, self.now))
        if not self._replies or not self._replies[-1].command:
            raise TelerobotError(self._replies[-1].text if self._replies else f"{text}: no answer")
        number, end = self._replies[-1].command, self.now + limit
        while (report := self._last(number)) is None:
            if self.now > end:
                raise TelerobotError(f"{text}: not ended in {limit:g} s")
            self._period()
        self._spend(0.2)
        return report

    def _last(self, number: int) -> CommandReport | None:
        mine = [report for report in self._ended.values() if number in (report.command, report.origin)]
        return next((report for report in mine if not report.more), None)

    # truth -----------------------------------------------------------------------------------------------------

    def seen(self) -> Seen:
        """The truth now, and the tool's way since `watch`."""
        scene, loose = self.arm.scene(), self.arm.loose()
        return Seen(
            loose,
            {name: state[0] for name, state in scene.items()},
            {name: state[1] for name, state in scene.items()},
            self._tool(),
            self.arm.read().gripper,
            valid_entries(self.database.view, loose),
            float(np.linalg.norm(self.state.wrench[:3])),
            tuple(self._track),
        )

    def watch(self) -> None:
        """Begin to keep the tool's way."""
        self._track = []
        self._sample()

    def _sample(self) -> None:
        forces = {name: state[1] for name, state in self.arm.scene().items() if state[1]}
        self._track.append(Sample(self.now, self._tool()[:3], forces))

    def _tool(self) -> FloatArray:
        return pose_from_se3(self.robot.forward(self.arm.position))

    # time ------------------------------------------------------------------------------------------------------

    def _spend(self, seconds: float) -> None:
        for _ in range(round(seconds / CONTROL_PERIOD)):
            self._period()

    def _period(self) -> None:
        self.now += CONTROL_PERIOD
        executive, going = self.executive, False
        if executive.running:
            if self.hand is not None:
                executive.teleoperate(self.hand * CONTROL_PERIOD)
            going = executive.step(self.now)
            self._q = executive.setpoint.q.copy()
            if executive.gripper.width >= 0.0:
                self._opening, self._grip_force = executive.gripper.width, executive.gripper.force
        self._send(going)
        while self._next_tick <= self.now + 1e-9:
            self.hardware.step(self._next_tick)
            self._next_tick += TICK
            self._measure()
        self._go_on()

    def _send(self, going: bool) -> None:
        wanted, still = self.executive.setpoint, np.zeros(self.robot.dof)
        self._number += 1
        motion = (wanted.qd.copy(), wanted.qdd.copy()) if going else (still, still)
        setpoint: Any = Setpoint(self._number, self.now, self._q, *motion, self._opening, self._grip_force)
        self.hardware.command(self.now, setpoint)

    def _measure(self) -> None:
        measured = self.hardware.measured()
        self.executive.measure(measured.position)
        self.executive.set_wrench(self.now, measured.wrench_sensor)
        self.executive.measure_gripper(self.now, measured.gripper)
        self.state.take_wrench(self.now, tuple(measured.wrench_sensor.tolist()))
        self.state.opening = measured.gripper
        self._ticks += 1
        running = self._running
        if running is not None and not running.stop_as and self.state.slips(running.primitive):
            self.stop(ARM, "slip", running.primitive.number, "slip")
        if self._ticks % STATE_TICKS == 0:
            self.state.update(self.now, 0, measured.position, False)
            self._sample()
            self._take(self._reactions.measured(ARM, self.state.latest, self.now))
            self._take(self.interface.tick(self.now))

    # goals of a primitive --------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        running = self._running
        if running is None or self.executive.running:
            if running is not None and self.now > running.ends:
                self.stop(ARM, "timeout", running.primitive.number, "timeout")
            return
        if running.rests_until > self.now:
            return
        if running.rests_until:
            running.rests_until = 0.0
            self._begin_goal(running)
            return
        status = self.executive.status(self.now)
        if status.succeeded and len(running.goals) > 1 and not running.stop_as:
            del running.goals[0]
            running.rests_until = self.now + BETWEEN
            return
        self._finish(running, status)

    def _begin_goal(self, running: _Running) -> None:
        goal = running.goals[0]
        request = PrimitiveRequest(running.primitive.number, goal.name, values_from(*goal.texts))
        try:
            prepared = self.executive.prepare(request, self._q.copy(), self.hardware.measured().gripper)
        except InvalidValueError as error:
            self._running = self.state.primitive = None
            self._report(Report(running.primitive.number, "refused", note=str(error)))
            return
        self.executive.begin(self.now, self._q, prepared)

    def _finish(self, running: _Running, status: Any) -> None:
        from telerobot_nodes.nodes.decision import report_of

        primitive, reason = running.primitive, status.reason.name.lower()
        ended = PrimitiveOutcome.SUCCEEDED if status.succeeded else PrimitiveOutcome.STOPPED
        outcome = outcome_of(primitive, running.request, reason)
        outcome = ended_outcome(outcome, ended, running.stop_as, False, self.state.slips(primitive))
        message = _message(status, reason, status.motion.q, self.state.wrench)  # as on the graph: the setpoint
        self._running = self.state.primitive = None
        report = report_of(primitive, outcome, message, self.robot, pin.SE3.Identity())
        self._report(replace(report, track=self.state.track if report.pose else ()))

    def _report(self, report: Report) -> None:
        self._reflexes.forget(report.primitive)
        self._take(self.interface.report(report, self.now))

    # subsystems ------------------------------------------------------------------------------------------------

    def stop(self, subsystem: str, reason: str, primitive: int, outcome: str = HALTED) -> None:
        """Stop a motion under way."""
        running = self._running
        if running is not None and primitive in (0, running.primitive.number):
            running.stop_as = running.stop_as or outcome
            self.executive.stop()

    def slow(self, primitive: Primitive, speed: float) -> None:
        """Not here: the motion is stopped."""
        self.stop(ARM, "slow", primitive.number, "refused")

    def _begin(self, primitive: Primitive) -> None:
        record = self.interface.unit.commands.get(primitive.command)
        if primitive.subsystem in ("operator", "program") or record is None or record.request is None:
            return
        if primitive.subsystem not in (ARM, self.library.workcell.arms[ARM].gripper):
            self._report(_answered(primitive, record.request, self.arm.loose()))
        elif primitive.executive in ("sense", "tare"):
            if primitive.executive == "tare":
                self.executive.tare()
            latest = self.state.latest
            self._report(Report(primitive.number, "done", latest.joints, latest.pose, latest.wrench))
        else:
            self._drive(primitive, record.request)

    def _drive(self, primitive: Primitive, request: Request) -> None:
        from telerobot_nodes.nodes.decision import goals_of

        self._reflexes.begin(primitive, request, self.now)
        goals = goals_of(primitive, self.robot, pin.SE3.Identity())
        goals[0] = self._limits.of(goals[0], primitive, request, self.state.wrench)
        self.state.begin_track()
        self.state.primitive = primitive
        self._running = _Running(primitive, request, goals, self.now + primitive.limit, self.now + BETWEEN)

    # outputs ---------------------------------------------------------------------------------------------------

    def _take(self, outputs: list[Output]) -> None:
        for output in outputs:
            if isinstance(output, Dispatch):
                self._take(self.interface.job_done(self._workers.run(output.job, self.now), self.now))
            elif isinstance(output, Send):
                self._begin(output.primitive)
            elif isinstance(output, HaltSubsystem):
                self.stop(output.subsystem, output.reason, output.primitive)
            elif isinstance(output, ShowTask):
                self._task(output)
            elif isinstance(output, CommandReport):
                self._ended[output.command] = output
            elif isinstance(output, Reply):
                self._replies.append(output)

    def _task(self, output: ShowTask) -> None:
        if not output.shown:
            self.tasks.pop(output.task, None)
            return
        self.tasks[output.task] = output.text
        if self.answer:
            self._take(self.interface.submit("bench", self.answer.format(task=output.task), self.now))


def _answered(primitive: Primitive, request: Request, loose: dict[str, FloatArray]) -> Report:
    """Devices without physics: the camera sees what is loose, authority is granted."""
    if primitive.executive == "locate":
        name = str(request.slots.get("object", ""))
        if name not in loose:
            return Report(primitive.number, "not_found", note=f"{name or 'the object'} is not in sight")
        return Report(primitive.number, "found", readings={"pose": tuple(loose[name].tolist())})
    outcomes = {"pan": "reached", "hand_over": "granted"}
    return Report(primitive.number, outcomes.get(primitive.executive, "refused"))


def _message(status: Any, reason: str, joints: FloatArray, wrench: tuple[float, ...]) -> SimpleNamespace:
    """The fields of PrimitiveReport.msg that are read."""
    return SimpleNamespace(
        joint_position=joints.copy(),
        reading_names=list(status.readings),
        readings=list(status.readings.values()),
        gripper=status.gripper,
        wrench=wrench,
        elapsed=status.elapsed,
        detail=reason,
        reason=reason,
    )
