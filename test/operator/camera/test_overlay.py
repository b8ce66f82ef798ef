"""What the arm will do is drawn where the camera would see it."""

import json

import numpy as np
import pytest

from telerobot_nodes.core.camera import Calibration, encode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.camera import OVERVIEW, NoDisplayError, SceneCamera, TwinScene
from telerobot_nodes.operator.camera import Overlay, paint
from telerobot_nodes.operator.client import PlanLines
from telerobot_nodes.operator.scene import Detail, load_shapes, palette
from telerobot_nodes.operator.view import SceneView

SIZE = (640, 480)
NOTHING = np.empty((0, 3))
NO_PLAN = PlanLines(NOTHING, NOTHING, NOTHING, np.empty(0, np.uint8), NOTHING)


@pytest.fixture(scope="module")
def robot():
    return load_robot("arm")


@pytest.fixture(scope="module")
def overlay(robot):
    return Overlay(robot, load_shapes(robot, Detail.COLLISION))


@pytest.fixture(scope="module")
def scene(robot):
    return TwinScene(robot, task_board=False)


def seen(robot, head=None, trial=None, estimate=None):
    poses = dict.fromkeys(("tool_pose", "head_pose", "target_pose", "wrench"))
    return SceneView(
        robot=robot.home,
        robot_stale=False,
        estimate=estimate,
        head=head,
        trial=trial,
        lead=2.0,
        plan_version=1,
        executed_seq=0,
        **poses,
    )


def lens(scene):
    view = scene.view(OVERVIEW)
    return Calibration.of_view(*SIZE, view.field_of_view), view.pose


@pytest.fixture(scope="module")
def painted():
    """A camera on a scene whose moving arm is magenta and everything else black."""
    scene = TwinScene(load_robot("arm"), task_board=False)
    model = scene.model
    moving = [i for i in range(model.ngeom) if model.body_weldid[model.geom_bodyid[i]]]
    model.geom_rgba[:] = (0.0, 0.0, 0.0, 1.0)
    model.geom_rgba[moving] = (1.0, 0.0, 1.0, 1.0)
    try:
        camera = SceneCamera(scene, *SIZE)
    except NoDisplayError as error:
        pytest.skip(str(error))
    yield scene, camera
    camera.close()


@pytest.mark.parametrize("turned", [0.0, 0.3, -0.4])
def test_the_simulated_arm_covers_the_arm_that_the_renderer_draws_there(robot, overlay, painted, turned):
    """Renderer and projection know nothing of each other."""
    scene, camera = painted
    q = np.array(robot.home)
    q[:3] += turned + 0.1
    scene.place(q)
    drawn = camera.draw(scene.view(OVERVIEW)).astype(int)
    arm = drawn[..., 0] > drawn[..., 1] + 15
    covered = np.array(mask(overlay.marks(seen(robot, head=q), NO_PLAN, *lens(scene))))
    assert arm.sum() > 5000
    assert (arm & ~grown(covered, 3)).sum() < 0.002 * arm.sum()
    assert (arm & ~grown(np.roll(covered, 12, 1), 3)).sum() > 0.02 * arm.sum()  # a shifted one would not cover it


def mask(marks):
    from PIL import Image, ImageDraw

    area = Image.new("1", SIZE)
    pen = ImageDraw.Draw(area)
    for mark in marks:
        if mark.form == "area":
            pen.polygon([tuple(point) for point in mark.pixels], fill=1)
    return area


def grown(area, pixels):
    out = area.copy()
    for x in range(-pixels, pixels + 1):
        for y in range(-pixels, pixels + 1):
            out |= np.roll(area, (y, x), (0, 1))
    return out


def test_the_dot_is_at_the_tool_of_the_simulated_arm(robot, overlay, scene):
    q = np.array(robot.home) + 0.2
    calibration, pose = lens(scene)
    (dot,) = [mark for mark in overlay.marks(seen(robot, head=q), NO_PLAN, calibration, pose) if mark.form == "dot"]
    wanted = calibration.project(robot.forward(q).translation, pose)
    assert dot.colour == palette.PREDICTED
    assert dot.pixels == pytest.approx(wanted)


def test_an_arm_where_the_robot_is_is_not_drawn(robot, overlay, scene):
    assert overlay.marks(seen(robot, head=np.array(robot.home)), NO_PLAN, *lens(scene)) == []


def test_trial_and_estimate_have_their_own_colours(robot, overlay, scene):
    view = seen(robot, trial=np.array(robot.home) + 0.2, estimate=np.array(robot.home) - 0.2)
    marks = overlay.marks(view, NO_PLAN, *lens(scene))
    assert {mark.colour for mark in marks} == {palette.TRIAL, palette.ESTIMATE}


def test_the_plan_has_one_line_for_each_stretch_of_one_timing(robot, overlay, scene):
    path = np.linspace((0.4, -0.3, 0.4), (0.4, 0.3, 0.4), 30)
    timing = np.repeat([0, 2, 0], 10).astype(np.uint8)
    marks = overlay.marks(seen(robot), PlanLines(NOTHING, path, path, timing, path), *lens(scene))
    colours = [mark.colour for mark in marks]
    timings = [colour for _, colour in palette.TIMINGS]
    assert colours == [palette.COMMITTED, timings[0], timings[2], timings[0], palette.TRIAL]
    ahead = np.concatenate([mark.pixels for mark in marks[1:4]])
    calibration, pose = lens(scene)
    assert ahead[[0, -1]] == pytest.approx(calibration.project(path[[0, -1]], pose))


def test_a_line_ends_where_it_leaves_the_picture(robot, overlay, scene):
    path = np.linspace((0.4, 0.0, 0.4), (4.0, -6.0, 3.0), 200)
    marks = overlay.marks(seen(robot), PlanLines(NOTHING, path, NOTHING, np.empty(0, np.uint8), NOTHING), *lens(scene))
    assert all(np.isfinite(mark.pixels).all() for mark in marks)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_plan_of_hardly_any_points_is_no_trouble(robot, overlay, scene, count):
    path = np.full((count, 3), 0.4)
    lines = PlanLines(path, path, path, np.zeros(count, np.uint8), path)
    assert isinstance(overlay.marks(seen(robot), lines, *lens(scene)), list)


def test_ten_thousand_points_are_few_for_the_page(robot, overlay, scene):
    angle = np.linspace(0, 6 * np.pi, 10_000)
    path = np.column_stack((0.4 + 0.1 * np.cos(angle), 0.3 * np.sin(angle), np.full(10_000, 0.4)))
    lines = PlanLines(NOTHING, path[:2], path, np.zeros(10_000, np.uint8), NOTHING)
    marks = overlay.marks(seen(robot, head=np.array(robot.home) + 0.2), lines, *lens(scene))
    assert len(json.dumps([mark.as_json() for mark in marks])) < 30_000


def test_a_still_has_the_colour_of_what_is_drawn(robot, overlay, scene):
    import io

    from PIL import Image

    marks = overlay.marks(seen(robot, head=np.array(robot.home) + 0.2), NO_PLAN, *lens(scene))
    still = paint(encode(np.zeros((480, 640, 3), np.uint8)).data, marks, "title")
    with Image.open(io.BytesIO(still)) as picture:
        pixels = np.asarray(picture)
    x, y = np.round(marks[-1].pixels[0]).astype(int)
    assert tuple(pixels[y, x]) == palette.PREDICTED
    with pytest.raises(InvalidValueError, match="picture"):
        paint(b"no picture", marks)
