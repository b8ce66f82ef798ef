"""The graph of one trial: its link, its arm, its recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import PROFILES, is_arm_file, load_robot
from telerobot_nodes.runtime import GraphOptions
from telerobot_nodes.study.design import Task

PARAMETERS = "config/study.yaml"
WITHOUT = ("operator_console", "cspace_planner", "rtc_decision_unit")  # the study serves the console itself
BAG = "bag"


def trial_graph(task: Task, round_trip: float, robot: str, folder: Path, params: Path | None = None) -> GraphOptions:
    """The graph for a trial of `task` over `round_trip` [s]; recording and arm file are written to `folder`.

    Jitter and loss are those of the task [-], of the delay and each way. Raises TelerobotError.
    """
    return GraphOptions(
        "demo",
        robot=robot if task.speed == 1.0 else str(_slowed(robot, task.speed, folder / "slow_arm.yaml")),
        params=params or share_path(PARAMETERS),
        bag=folder / BAG,
        without=WITHOUT,
        delay=round_trip,
        jitter=0.5 * task.jitter * round_trip,
        loss=task.loss,
    )


def _slowed(robot: str, speed: float, file: Path) -> Path:
    """Write an arm file of `robot` with `speed` [-] of its limits of velocity, acceleration and jerk."""
    model = load_robot(robot)
    arm = _arm_file(robot)
    limits = arm.get("limits", {})
    arm["limits"] = {
        name: {
            **limits.get(name, {}),
            **{key: speed * float(getattr(model.limits, key)[i]) for key in ("velocity", "acceleration", "jerk")},
        }
        for i, name in enumerate(model.joint_names)
    }
    file.write_text(yaml.safe_dump(arm), encoding="utf-8")
    return file


def _arm_file(robot: str) -> dict[str, Any]:
    """The arm file of a robot, for a file in any folder."""
    if not is_arm_file(robot):
        return {"urdf": robot if robot in PROFILES else str(Path(robot).absolute())}
    path = Path(robot)
    arm: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key in ("urdf", "srdf"):
        if arm.get(key) and arm[key] not in PROFILES:
            arm[key] = str((path.parent / arm[key]).absolute())
    return arm
