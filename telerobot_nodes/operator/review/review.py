"""Offline check of a recorded run: every point once and in order, path error, joint limits, delays.

What belongs here: judging a recording from the messages in it. What must never enter: live data, ROS, a node's own
claim about something that can be computed from the recording.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot import JointLimits, RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review.history import PlannedPath, check_history, planned_path
from telerobot_nodes.operator.review.limit_check import check_limits
from telerobot_nodes.operator.review.path_error import path_distance
from telerobot_nodes.operator.review.run_record import Rows, RunRecord

MOVING = (ControlState.TRACKING, ControlState.STOPPING)
SETTLE = 0.3  # [s] after motion that still counts as executing: overshoot shows here
MOST_SAMPLES = 60_000  # of the measured path: of a longer run, every second or third sample
REACHED = 0.002  # [s] of plan time before the end that counts as the end
UNKNOWN = float("nan")


@dataclass(frozen=True)
class RunSummary:
    """Figures of a run; a name that ends with a unit is in that unit. Not-a-number: not in the recording."""

    bag: str
    robot: str
    duration_s: float
    points_planned: int  # recorded and not deleted
    points_executed: int
    duplicates: int
    lost: int  # planned and never reported executed
    pending: int  # of the lost: after the last point executed, not due when the recording ended
    out_of_order: int
    unknown: int  # executed and never recorded
    rms_error_m: float  # measured tool to planned path, while executing
    max_error_m: float
    path_samples: int
    limit_violations: int  # position, velocity, acceleration of every setpoint recorded
    velocity_use: float  # [-] largest commanded joint velocity per its limit
    acceleration_use: float  # [-]
    setpoints: int
    forward_sim_lead_s: float  # from the forward simulator's to the robot's arrival at the end of the plan
    max_lead_s: float  # largest lead in plan time
    max_queue_length: int
    jumps_absorbed: int
    samples_sent: int  # by the device
    samples_received: int  # of the device by the queue
    samples_late: int  # of those received; jumps in them may be missed
    samples_dropped: int  # of those late: too late to be followed
    samples_worst_s: float  # largest lateness
    device_scale: float  # [-]
    round_trip_s: float  # median of the queue's measurements
    up_delay_s: dict[str, float] = field(default_factory=dict)  # measured over the link, by message number
    down_delay_s: dict[str, float] = field(default_factory=dict)
    link: dict[str, Any] = field(default_factory=dict)  # settings and counts
    refusals: dict[str, list[str]] = field(default_factory=dict)
    limits: dict[str, dict[str, Any]] = field(default_factory=dict)  # per source of setpoints
    loop: dict[str, str] = field(default_factory=dict)  # control loop's diagnostics at the end
    picture: str = ""
    commands: int = 0  # ended; no trials
    commands_failed: int = 0  # of them: not succeeded
    primitives: int = 0  # ended
    primitives_failed: int = 0

    @property
    def passed(self) -> bool:
        """True when every point was executed once, in order, inside the limits.

        Without a plan: when every command has succeeded, or without commands every primitive.
        """
        wrong = (self.duplicates, self.lost, self.out_of_order, self.unknown, self.limit_violations)
        if any(wrong):
            return False
        if self.points_planned == 0 and self.commands:
            return self.commands_failed == 0
        return self.points_planned > 0 or (self.primitives > 0 and self.primitives_failed == 0)

    def to_json(self) -> str:
        """JSON text; not-a-number becomes null."""
        return json.dumps(_plain({**asdict(self), "passed": self.passed}), indent=2)

    def write(self, file: Path) -> None:
        """Write the JSON text to `file`; its folder is made. Raises InvalidValueError when it cannot be written."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise InvalidValueError("json", str(file), f"allowed: a file that can be written; {error}") from None


@dataclass(frozen=True)
class ExecutedPath:
    """The measured tool path while executing."""

    time: FloatArray  # (m,) [s] receipt
    position: FloatArray  # (m, 3) [m] WORLD
    error: FloatArray  # (m,) [m] to the planned path


@dataclass(frozen=True)
class Review:
    """The summary and what it was computed from, for pictures."""

    summary: RunSummary
    run: RunRecord
    limits: JointLimits
    path: PlannedPath
    executed: ExecutedPath


def review(run: RunRecord, robot: RobotModel) -> Review:
    """Check a run of `robot`; raises InvalidValueError when the bag is of a robot with other joints."""
    path = planned_path(run.plan, run.executed)
    history = check_history(path, run.plan, run.executed)
    executed = executed_path(run, robot, path)
    checks = {
        "gcmsf_control": check_limits(run.control, robot.limits, "gcmsf_control/state"),
        "hardware_interface": check_limits(run.setpoints, robot.limits, "hardware_interface/setpoint"),
    }
    error = executed.error
    samples = run.device_samples
    summary = RunSummary(
        bag=str(run.path),
        robot=robot.name,
        duration_s=run.duration,
        points_planned=history.planned,
        points_executed=history.executed,
        duplicates=history.duplicates,
        lost=history.lost,
        pending=history.pending,
        out_of_order=history.out_of_order,
        unknown=history.unknown,
        rms_error_m=float(np.sqrt(np.mean(error**2))) if len(error) else UNKNOWN,
        max_error_m=float(error.max()) if len(error) else UNKNOWN,
        path_samples=len(error),
        limit_violations=sum(check.violations for check in checks.values()),
        velocity_use=max(check.velocity_use for check in checks.values()),
        acceleration_use=max(check.acceleration_use for check in checks.values()),
        setpoints=sum(check.samples for check in checks.values()),
        forward_sim_lead_s=forward_lead(run, path),
        max_lead_s=_largest(run.forward, "lead"),
        max_queue_length=int(np.nan_to_num(_largest(run.queue, "length"))),
        jumps_absorbed=int(np.nan_to_num(_largest(run.queue, "jumps"))),
        samples_sent=samples.sent,
        samples_received=samples.received,
        samples_late=samples.late,
        samples_dropped=samples.dropped,
        samples_worst_s=samples.worst,
        device_scale=_number(run.diagnostics.get("operator_input", {}).get("scale")),
        round_trip_s=_round_trip(run),
        up_delay_s=crossing_delay(run, "up"),
        down_delay_s=crossing_delay(run, "down"),
        link=run.link,
        refusals={name: reasons for name, reasons in run.refusals.items() if reasons},
        limits={name: asdict(check) for name, check in checks.items()},
        loop=run.diagnostics.get("gcmsf_control", {}),
        commands=len(run.commands),
        commands_failed=sum(outcome != "succeeded" for outcome in run.commands.values()),
        primitives=len(run.primitives),
        primitives_failed=sum(not ended.succeeded for ended in run.primitives),
    )
    return Review(summary, run, robot.limits, path, executed)


def executed_path(run: RunRecord, robot: RobotModel, path: PlannedPath) -> ExecutedPath:
    """The measured tool path and its distance to the plan, while the control loop moved along it."""
    empty = ExecutedPath(np.empty(0), np.empty((0, 3)), np.empty(0))
    if not len(run.joints) or not len(run.control) or len(path.seq) < 2:
        return empty
    time = run.joints.array("time")
    chosen = np.flatnonzero(_executing(run.control, time))
    if not chosen.size:
        return empty
    chosen = chosen[:: -(-len(chosen) // MOST_SAMPLES)]
    joints = _measured(run, robot)
    position = np.array([robot.forward(joints[i]).translation for i in chosen])
    progress = np.interp(time[chosen], run.control.array("time"), run.control.array("plan_time"))
    error = path_distance(position, progress, path.position, path.plan_time)
    return ExecutedPath(time[chosen], position, error)


def _executing(control: Rows, time: FloatArray) -> Any:
    """(m,) bool: the loop moved along the plan at `time`, or less than SETTLE before."""
    at, state = control.array("time"), control.array("state")
    moving = at[np.isin(state, MOVING)]
    if not moving.size:
        return np.zeros(time.size, dtype=bool)
    latest = np.searchsorted(moving, time, side="right") - 1
    return (latest >= 0) & (time - moving[np.maximum(latest, 0)] <= SETTLE)


def _measured(run: RunRecord, robot: RobotModel) -> FloatArray:
    missing = [name for name in robot.joint_names if name not in run.joint_names]
    if missing:
        raise InvalidValueError("joint_states.name", list(run.joint_names), f"allowed: holding {', '.join(missing)}")
    order = [run.joint_names.index(name) for name in robot.joint_names]
    measured: FloatArray = run.joints.array("position")[:, order]
    return measured


def forward_lead(run: RunRecord, path: PlannedPath) -> float:
    """Time from the forward simulator's to the robot's arrival at the end of the plan [s]."""
    if not len(path.seq):
        return UNKNOWN
    end = float(path.plan_time[-1]) - REACHED
    ahead, robot = _first_at(run.forward, "head_time", end), _first_at(run.control, "plan_time", end)
    return robot - ahead


def _first_at(rows: Rows, column: str, value: float) -> float:
    if not len(rows):
        return UNKNOWN
    there = np.flatnonzero(rows.array(column) >= value)
    return float(rows.array("time")[there[0]]) if there.size else UNKNOWN


def crossing_delay(run: RunRecord, way: str) -> dict[str, float]:
    """Measured delay of one direction of the link: median, p95, max [s], messages sent, arrived, arrived twice."""
    sent = {number: times[0] for (side, number), times in run.crossings.items() if side == f"{way} sent"}
    arrived = {number: times for (side, number), times in run.crossings.items() if side == f"{way} arrived"}
    delays = np.array([times[0] - sent[number] for number, times in arrived.items() if number in sent])
    if not delays.size:
        return {}
    return {
        "median": float(np.median(delays)),
        "p95": float(np.percentile(delays, 95)),
        "max": float(delays.max()),
        "sent": len(sent),
        "arrived": len(arrived),
        "twice": Counter(len(times) > 1 for times in arrived.values())[True],
    }


def _round_trip(run: RunRecord) -> float:
    if not len(run.queue):
        return UNKNOWN
    measured = run.queue.array("round_trip")
    measured = measured[measured >= 0.0]
    return float(np.median(measured)) if measured.size else UNKNOWN


def _largest(rows: Rows, column: str) -> float:
    return float(np.max(rows.array(column))) if len(rows) else UNKNOWN


def _number(text: str | None) -> float:
    try:
        return float(text) if text is not None else UNKNOWN
    except ValueError:
        return UNKNOWN


def _plain(value: Any) -> Any:
    """The value in types of JSON: NaN and infinities become None, NumPy scalars plain numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
