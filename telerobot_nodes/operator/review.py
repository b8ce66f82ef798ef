"""The offline checker of a recorded run: every point once and in order, how close, inside the limits.

What belongs here: judging a recording. What must never enter: live data, ROS, what the nodes claim of themselves
where the recording lets us find out.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.history import PlannedPath, check_history, planned_path
from telerobot_nodes.operator.limit_check import check_limits
from telerobot_nodes.operator.path_error import path_distance
from telerobot_nodes.operator.run_record import Rows, RunRecord

MOVING = (1, 2)  # ControlState TRACKING, STOPPING
SETTLE = 0.3  # [s] after motion that still counts as executing: overshoot shows here
REACHED = 0.002  # [s] of plan time before the end that counts as the end
UNKNOWN = float("nan")


@dataclass(frozen=True)
class RunSummary:
    """What a run amounts to; names with a unit at the end are in it. Not a number: the bag does not tell."""

    bag: str
    robot: str
    duration_s: float
    points_planned: int  # laid and not taken back
    points_executed: int
    duplicates: int
    lost: int  # planned and never reported executed
    pending: int  # of the lost: after the last point executed, so not yet due when the recording ended
    out_of_order: int
    unknown: int  # executed and never laid
    rms_error_m: float  # measured tool to planned path, while executing
    max_error_m: float
    path_samples: int
    limit_violations: int  # position, velocity, acceleration of every setpoint recorded
    velocity_use: float  # [-] largest commanded joint velocity per its limit
    acceleration_use: float  # [-]
    setpoints: int
    forward_sim_lead_s: float  # forward simulator at the end of the plan, until the robot is there
    max_lead_s: float  # largest lead in plan time
    max_queue_length: int
    jumps_absorbed: int
    device_scale: float  # [-]
    round_trip_s: float  # median that the queue measured
    up_delay_s: dict[str, float] = field(default_factory=dict)  # measured over the link, by message number
    down_delay_s: dict[str, float] = field(default_factory=dict)
    link: dict[str, Any] = field(default_factory=dict)  # settings and counts
    refusals: dict[str, list[str]] = field(default_factory=dict)
    limits: dict[str, dict[str, Any]] = field(default_factory=dict)  # per source of setpoints
    loop: dict[str, str] = field(default_factory=dict)  # control loop's diagnostics at the end
    picture: str = ""

    @property
    def passed(self) -> bool:
        """Exactly once, in order, and inside the limits."""
        wrong = (self.duplicates, self.lost, self.out_of_order, self.unknown, self.limit_violations)
        return self.points_planned > 0 and not any(wrong)

    def to_json(self) -> str:
        """JSON text; what is not a number is null."""
        return json.dumps(_plain({**asdict(self), "passed": self.passed}), indent=2)


@dataclass(frozen=True)
class ExecutedPath:
    """The measured tool path while executing."""

    time: FloatArray  # (m,) [s] receipt
    position: FloatArray  # (m, 3) [m] WORLD
    error: FloatArray  # (m,) [m] to the planned path


@dataclass(frozen=True)
class Review:
    """The summary and what it was found from, for pictures."""

    summary: RunSummary
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
        device_scale=_number(run.diagnostics.get("operator_input", {}).get("scale")),
        round_trip_s=_round_trip(run),
        up_delay_s=crossing_delay(run, "up"),
        down_delay_s=crossing_delay(run, "down"),
        link=run.link,
        refusals={name: reasons for name, reasons in run.refusals.items() if reasons},
        limits={name: asdict(check) for name, check in checks.items()},
        loop=run.diagnostics.get("gcmsf_control", {}),
    )
    return Review(summary, path, executed)


def executed_path(run: RunRecord, robot: RobotModel, path: PlannedPath) -> ExecutedPath:
    """The measured tool path and its distance to the plan, while the control loop moved along it."""
    empty = ExecutedPath(np.empty(0), np.empty((0, 3)), np.empty(0))
    if not len(run.joints) or not len(run.control) or len(path.seq) < 2:
        return empty
    time = run.joints.array("time")
    chosen = np.flatnonzero(_executing(run.control, time))
    if not chosen.size:
        return empty
    joints = _measured(run, robot)
    position = np.array([robot.forward(joints[i]).translation for i in chosen])
    progress = np.interp(time[chosen], run.control.array("time"), run.control.array("plan_time"))
    error = path_distance(position, progress, path.position, path.plan_time)
    return ExecutedPath(time[chosen], position, error)


def _executing(control: Rows, time: FloatArray) -> Any:
    """(m,) bool: the loop moved along the plan at `time`, or had until SETTLE ago."""
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
    """From the forward simulator's reaching the end of the plan to the robot's reaching it [s]."""
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
    """JSON's own types; NaN and infinities become null, NumPy's scalars plain."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
