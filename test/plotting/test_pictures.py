"""Every picture is drawn from small values and written as PNG."""

import numpy as np
import pytest
from PIL import Image

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import Obstacle, arm_geometry, box, cylinder, floor
from telerobot_nodes.cspace.search import Certificate, Planner
from telerobot_nodes.cspace.service import PathDisplay, PlannedPath, Proof
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plotting import (
    draw_delay_study,
    draw_growth,
    draw_planned_path,
    draw_proof,
    draw_reflect,
    draw_ring,
    draw_touch,
)
from telerobot_nodes.plotting.figure import picture
from telerobot_nodes.plotting.moments import SceneTrace
from telerobot_nodes.plotting.task_run import TaskTrace, draw_task_plot
from telerobot_nodes.tasks import load_task

OBSTACLES = [
    floor(height=-0.1),
    box("shelf", (0.3, 0.6, 0.02), (0.6, 0.0, 0.5)),
    cylinder("bar", 0.02, 0.5, (0.5, 0.3, 0.4)),
    Obstacle("ball", "sphere", (0.05,), (0.4, -0.3, 0.3, 0.0, 0.0, 0.0, 1.0)),
]


def size_and_colours(file):
    """Width and height [pixels], and how many colours there are: an empty figure has one."""
    with Image.open(file) as image:
        assert image.format == "PNG"
        return image.size, len(image.convert("RGB").getcolors(1 << 20))


def assert_drawn(file, width):
    (columns, _), colours = size_and_colours(file)
    assert columns == width
    assert colours > 50


@pytest.mark.lengthy
def test_task_time_over_delay(tmp_path):
    lines = {
        "(a) direct": ((20.0, 19.0, 21.0), (60.0, 55.0, 66.0)),
        "(d) all": ((20.0, 19.0, 21.0), (24.0, 23.0, 25.0)),
    }
    panels = {f"task {n}": ((0.0, 4.0), lines) for n in range(4)}
    draw_delay_study(panels, tmp_path / "a" / "study.png")
    assert_drawn(tmp_path / "a" / "study.png", 1512)


@pytest.mark.lengthy
def test_growth_of_the_planners_cost(tmp_path):
    rows = [{"median_ms": 1.0 * k, "p95_ms": 3.0 * k, "joints": k, "obstacles": 10 * k} for k in (1, 2, 3)]
    finest = [{"finest": 0.1 / k, "median_ms": 5.0 * k, "cells_median": 4 * k} for k in (1, 2, 3)]
    cells = [{"cell": 0.4 / k, "ms": 5.0 * k, "cells": 40 * k} for k in (1, 2, 3)]
    draw_growth({"joints": rows, "obstacles": rows, "finest": finest, "cells": cells}, tmp_path / "growth.png")
    assert_drawn(tmp_path / "growth.png", 1260)


@pytest.mark.lengthy
def test_contact_over_approach_speed(tmp_path):
    touches = [
        {"stiffness": k, "speed": v, "peak_force": 1e2 * v * k**0.5, "overtravel_commanded": v}
        for k in (1e4, 1e5)
        for v in (0.01, 0.1)
    ]
    plate = [{"gain": 1e-4, "frequency": hz, "damping": 1.0 / hz} for hz in (1.0, 10.0)]
    time = np.linspace(-3.0, 2.0, 100)
    presses = {"friction 0.5": (time, 10.0 + np.sin(time))}
    draw_touch({"touch": touches, "shaken_plate": plate}, presses, tmp_path / "touch.png")
    assert_drawn(tmp_path / "touch.png", 900)


@pytest.fixture(scope="module")
def geometry():
    return arm_geometry(load_robot("arm"))


@pytest.mark.slow
def test_a_path_with_the_cells_that_prove_it(geometry, tmp_path):
    home = np.array(geometry.robot.home)
    plan = Planner(geometry, OBSTACLES).plan(home, home + 0.1)
    draw_proof(geometry, OBSTACLES, 0.005, plan, tmp_path / "proof.png")
    assert_drawn(tmp_path / "proof.png", 1020)


@pytest.mark.lengthy
def test_a_planned_path_among_obstacles_of_every_kind(tmp_path):
    robot = load_robot("arm")
    n, home = 20, np.array(robot.home)
    joints = home + np.linspace(0.0, 1.0, n)[:, None]
    points = np.array([robot.forward(q).translation for q in joints])
    display = PathDisplay(points, np.full(n, 0.03), np.full(n, 0.1), points[::5], np.full(4, 0.05))
    path = PlannedPath(
        arm="arm",
        joint_names=robot.joint_names,
        waypoints=joints[[0, -1]],
        times=np.linspace(0.0, 2.0, n),
        positions=joints,
        velocities=np.full((n, robot.dof), 0.5),
        length=1.0,
        clearance=0.03,
        cells=4,
        proof=Proof(Certificate(joints[:1], np.full((1, robot.dof), 0.1)), 0.005, 0.0),
        display=display,
    )
    draw_planned_path(tmp_path / "path.png", robot, path, OBSTACLES, 0.005)
    assert_drawn(tmp_path / "path.png", 1210)


@pytest.mark.lengthy
def test_force_and_motion_of_a_task_with_a_panel_per_measure(tmp_path):
    task, n = load_task("polishing"), 400
    names = [step.label for step in task.primitives]
    label = [names[min(k * len(names) // n, len(names) - 1)] for k in range(n)]
    scene = SceneTrace(time=[0.01 * k for k in range(n)])
    tool = [np.array([0.001 * k, 0.0, 0.0]) for k in range(n)]
    wrench = [np.arange(6.0) for _ in range(n)]
    measures = [[0.1 * k] * len(task.success) for k in range(n)]
    trace = TaskTrace(scene, label, tool, wrench, measures)
    draw_task_plot(task, trace, tmp_path / "few.png")
    assert_drawn(tmp_path / "few.png", 720)


def test_a_picture_that_cannot_be_drawn_leaves_no_file(tmp_path):
    with pytest.raises(KeyError):
        draw_growth({}, tmp_path / "growth.png")
    assert not (tmp_path / "growth.png").exists()


@pytest.mark.lengthy
def test_forces_at_tip_and_hand_over_round_trips(tmp_path):
    rise = np.linspace(0.0, 10.0, 50).tolist()
    draw_reflect(
        {(trip, way): (rise, rise) for trip in (0.0, 1.0) for way in ("none", "passive")}, 0.1, 10.0, tmp_path / "r.png"
    )
    assert_drawn(tmp_path / "r.png", 612)


@pytest.mark.lengthy
def test_the_frames_of_the_law(tmp_path):
    draw_ring(tmp_path / "ring.png")
    assert_drawn(tmp_path / "ring.png", 1320)


@pytest.mark.parametrize(
    ("name", "problem"), [("run.mcap", "ends in .png"), ("run", "ends in .png"), ("f.png", "written")]
)
def test_a_picture_of_no_kind_or_where_a_folder_is_is_refused(tmp_path, name, problem):
    (tmp_path / "f.png").mkdir()
    with pytest.raises(InvalidValueError, match=problem), picture(tmp_path / name, (2.0, 2.0)):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.png"]
