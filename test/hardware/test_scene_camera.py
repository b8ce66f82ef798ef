"""Simulated pictures: known points are where the calibration projects them."""

import mujoco
import numpy as np
import pytest

from telerobot_nodes.core.camera import Calibration
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.camera import OVERVIEW, WRIST, NoDisplayError, SceneCamera, TwinScene, scene_camera

SIZE = (640, 480)
MAGENTA = (1.0, 0.0, 1.0, 1.0)
MARKED = {OVERVIEW: [(0.5, 0.2, 0.6), (0.2, -0.5, 0.3), (0.7, 0.0, 0.9)], WRIST: [(0.6, 0.1, 0.4), (0.7, -0.1, 0.35)]}
RADIUS = 0.012  # [m] of a mark


def mark(spec):
    for points in MARKED.values():
        for point in points:
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[RADIUS, 0, 0],
                pos=point,
                rgba=MAGENTA,
                contype=0,
                conaffinity=0,
            )


@pytest.fixture(scope="module")
def scene():
    return TwinScene(load_robot("arm"), furnish=mark)


@pytest.fixture(scope="module")
def camera(scene):
    try:
        made = SceneCamera(scene, *SIZE)
    except NoDisplayError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def middle_of_the_mark(pixels, near):
    """Mean pixel of what is magenta near a pixel."""
    red, green, blue = (pixels[..., k].astype(float) for k in range(3))
    y, x = np.nonzero((red > 1.8 * green + 30) & (blue > 1.8 * green + 30))
    mine = np.hypot(x - near[0], y - near[1]) < 25
    assert mine.sum() > 20, near
    return np.array((x[mine].mean(), y[mine].mean()))


@pytest.mark.parametrize("name", [OVERVIEW, WRIST])
@pytest.mark.lengthy
def test_marks_are_drawn_where_the_calibration_projects_them(scene, camera, name):
    """The renderer is the judge: it knows nothing of our projection."""
    scene.place(load_robot("arm").home)
    view = scene.view(name)
    pixels = camera.draw(view)
    calibration = Calibration.of_view(*SIZE, view.field_of_view)
    projected = calibration.project(np.array(MARKED[name]), view.pose)
    inside = [p for p in projected if np.isfinite(p).all() and 30 < p[0] < 610 and 30 < p[1] < 450]
    assert len(inside) >= 2
    errors = [np.linalg.norm(middle_of_the_mark(pixels, pixel) - pixel) for pixel in inside]
    assert max(errors) < 3.0


def test_the_wrist_camera_goes_with_the_wrist_and_the_overview_stays(scene):
    home = np.array(load_robot("arm").home)
    before = {name: scene.view(name).pose for name in MARKED}
    scene.place(home + 0.3)
    assert np.linalg.norm(scene.view(WRIST).pose[:3] - before[WRIST][:3]) > 0.1
    assert (scene.view(OVERVIEW).pose == before[OVERVIEW]).all()
    scene.place(home)


def test_the_scene_follows_what_the_arm_publishes(scene, camera):
    view = scene.view(OVERVIEW)
    before = camera.draw(view).astype(int)
    scene.place_objects({"module": np.array((0.4, -0.3, 0.6, 0, 0, 0, 1)), "nosuch": np.zeros(7)})
    moved = camera.draw(view).astype(int)
    scene.turn(["door", "nosuch"], [0.8, 1.0])
    turned = camera.draw(view).astype(int)
    assert (np.abs(moved - before).max(axis=2) > 40).sum() > 50
    assert (np.abs(turned - moved).max(axis=2) > 40).sum() > 50


@pytest.mark.parametrize("wrong", [[0.0] * 5, [np.nan] * 6, "home"])
def test_wrong_joints_are_refused(scene, wrong):
    with pytest.raises(InvalidValueError, match="joint positions"):
        scene.place(wrong)


def test_an_unknown_camera_is_refused(scene):
    with pytest.raises(InvalidValueError, match=r"camera: 'nosuch' .*allowed: overview, wrist"):
        scene.view("nosuch")


def test_a_machine_that_draws_nothing_says_what_to_install(scene, monkeypatch):
    def missing(name):
        raise ImportError(f"no {name} here")

    monkeypatch.setattr(scene_camera, "_maker", missing)
    with pytest.raises(NoDisplayError, match=r"egl: no egl here; osmesa: no osmesa here\); install libegl1"):
        SceneCamera(scene, *SIZE)
