"""`telerobot plan`: plans a proved path of one arm, without a graph."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telerobot_nodes.errors import InvalidValueError, TelerobotError

if TYPE_CHECKING:
    from telerobot_nodes.core.robot import RobotModel
    from telerobot_nodes.core.values import FloatArray
    from telerobot_nodes.cspace.scenes import PlanningProblem
    from telerobot_nodes.cspace.service import PlanAnswer

EXIT_NO_PATH = 1


def command(
    to: Annotated[str | None, typer.Option(help="Joint goal [rad]: --to=q1,...,qn")] = None,
    pose: Annotated[str | None, typer.Option(help="Tool goal in WORLD [m]: --pose=x,y,z,qx,qy,qz,qw")] = None,
    tolerance: Annotated[str, typer.Option(help="With --pose: tolerance about x,y,z of the goal [rad].")] = "0,0,0",
    start: Annotated[str | None, typer.Option(help="Joints at the start [rad]; default: home.")] = None,
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5 or the path of a URDF file.")] = "arm",
    srdf: Annotated[Path | None, typer.Option(help="SRDF of the robot; default: the one beside its URDF.")] = None,
    world: Annotated[str, typer.Option(help="Obstacles: a name in config/worlds or a YAML file.")] = "empty",
    scene: Annotated[Path | None, typer.Option(help="A PlanningScene of MoveIt (YAML) in place of --world.")] = None,
    request: Annotated[
        Path | None, typer.Option(help="A MotionPlanRequest of MoveIt (YAML) in place of start and goal.")
    ] = None,
    back_end: Annotated[str, typer.Option(help="Planner: cspace, ompl or moveit.")] = "cspace",
    budget: Annotated[
        float | None, typer.Option(help="Longest planning time [s]; default: the request's, else 2.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="Distance to keep from obstacles [m]; default: 0.005, with --request 0.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Share of the joints' velocity limits; default: the request's, else 1.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write a picture of the path (PNG).")] = None,
) -> None:
    """Plan, prove and time a path; exit code 1: no path."""
    goals = [name for name, given in (("--to", to), ("--pose", pose), ("--request", request)) if given is not None]
    if len(goals) != 1:
        raise InvalidValueError("--to, --pose, --request", ", ".join(goals) or "none", "allowed: one of the three")
    if request is not None and start is not None:
        raise InvalidValueError("--start", start, "allowed: without --request, which has a start")
    if scene is not None and world != "empty":
        raise InvalidValueError("--world", world, "allowed: without --scene")
    from telerobot_nodes.core.robot import load_robot, with_srdf
    from telerobot_nodes.cspace.search import PlannerSettings
    from telerobot_nodes.cspace.service import PlanAnswer, PlanningService, Result, ServiceSettings

    model = with_srdf(load_robot(robot), srdf) if srdf else load_robot(robot)
    if request is not None:
        from telerobot_nodes.cspace.scenes import load_problem

        problem = load_problem(model, request, scene)
    else:
        problem = _problem(model, scene, world, start, to, pose, tolerance)
    problem = problem.with_options(back_end, budget, speed, display=picture is not None)
    keep = (0.005 if request is None else 0.0) if margin is None else margin
    service = PlanningService({"arm": model}, ServiceSettings(planner=PlannerSettings(margin=keep)), _back_ends())
    service.warm()
    began = time.perf_counter()
    try:
        answer = problem.solve(service)
    except TelerobotError as error:
        answer = PlanAnswer(Result.REFUSED, str(error))
    seconds = time.perf_counter() - began
    if picture and answer.found:
        from telerobot_nodes.plotting import draw_planned_path

        draw_planned_path(picture, model, answer.paths[0], service.scene.obstacles, keep)
    print(json.dumps(_as_values(answer, seconds), indent=1) if as_json else _as_text(answer, seconds))
    raise typer.Exit(0 if answer.found else EXIT_NO_PATH)


def _problem(
    model: RobotModel,
    scene: Path | None,
    world: str,
    start: str | None,
    to: str | None,
    pose: str | None,
    tolerance: str,
) -> PlanningProblem:
    """The problem of the words of the command line; without a start, that of the scene or home."""
    import numpy as np

    from telerobot_nodes.cspace.geometry import load_world, scene_of
    from telerobot_nodes.cspace.scenes import PlanningProblem, load_scene
    from telerobot_nodes.cspace.service import Goal, PlanRequest, world_file

    found = load_scene(model, scene) if scene else None
    begin = found.start if found and found.start is not None else np.array(model.home)
    goal = Goal(
        "arm",
        _numbers(start, "start") if start else begin,
        _numbers(to, "to") if to else None,
        _numbers(pose, "pose") if pose else None,
        _numbers(tolerance, "tolerance"),
    )
    if found is None:
        return PlanningProblem(scene_of(load_world(world_file(world))), (PlanRequest((goal,)),))
    return PlanningProblem(found.scene, (PlanRequest((goal,), allowed=found.allowed, fingers=found.fingers),))


def _back_ends() -> dict[str, Any]:
    from telerobot_nodes.cspace.service import default_plugins
    from telerobot_nodes.nodes.planning import moveit_plugins

    return {**default_plugins(), **moveit_plugins()}


def _numbers(text: str, field: str) -> FloatArray:
    from telerobot_nodes.core.values import finite_array

    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise InvalidValueError(field, text, "allowed: numbers separated by commas") from None
    return finite_array(values, field)


def _as_text(answer: PlanAnswer, seconds: float) -> str:
    lines = [f"{answer.result.value}: {answer.message}", f"planned, proved and timed in {1e3 * seconds:.1f} ms"]
    for path in answer.paths:
        lines += ["  " + ", ".join(f"{value: .4f}" for value in row) for row in path.waypoints]
    return "\n".join(lines)


def _as_values(answer: PlanAnswer, seconds: float) -> dict[str, Any]:
    return {
        "found": answer.found,
        "outcome": answer.result.value,
        "message": answer.message,
        "seconds": seconds,
        "statistics": dict(answer.statistics),
        "paths": [
            {
                "joint_names": list(path.joint_names),
                "waypoints": path.waypoints.tolist(),
                "times": path.times.tolist(),
                "positions": path.positions.tolist(),
                "velocities": path.velocities.tolist(),
                "length_rad": path.length,
                "clearance_m": path.clearance,
                "certificate_cells": path.cells,
            }
            for path in answer.paths
        ],
    }
