"""Where the cameras of pages look from."""

from types import SimpleNamespace

import numpy as np
import pytest
from viser_scene import RecordingScene

from telerobot_nodes.operator.scene import CAMERAS, Stage


class Scene(RecordingScene):
    world_axes = SimpleNamespace()
    environment_map = "one that viser draws by default"
    shadows = True

    def configure_default_lights(self, enabled=True, cast_shadow=True):
        self.shadows = enabled and cast_shadow

    def configure_environment_map(self, picture):
        self.environment_map = picture

    def set_up_direction(self, direction):
        assert direction == "+z"


def stage_of(*others):
    server = SimpleNamespace(scene=Scene(), initial_camera=SimpleNamespace())
    return Stage(server, others=[np.array(base) for base in others]), server.initial_camera


def test_the_light_is_of_lamps_without_shadows_and_not_of_a_picture_that_stops_a_page_without_a_graphics_card():
    scene = Scene()
    Stage(SimpleNamespace(scene=scene, initial_camera=SimpleNamespace()))
    assert scene.environment_map is None
    assert not scene.shadows
    assert "/sky" in scene.drawn


def test_a_new_page_looks_from_the_first_place():
    stage, first = stage_of()
    camera = SimpleNamespace()
    stage.look(camera, next(iter(CAMERAS)))
    assert vars(first) | {"fov": None} == vars(camera) | {"fov": None}
    assert camera.position == pytest.approx(CAMERAS["all"])


@pytest.mark.parametrize("name", CAMERAS)
def test_with_a_second_arm_every_camera_looks_between_the_arms_from_farther_away(name):
    one, two = SimpleNamespace(), SimpleNamespace()
    stage_of()[0].look(one, name)
    stage_of((1.3, 0.0, 0.0))[0].look(two, name)
    assert np.allclose(np.subtract(two.look_at, one.look_at), (0.65, 0.0, 0.0))
    ways = [np.subtract(camera.position, camera.look_at) for camera in (one, two)]
    assert np.allclose(ways[1], 1.65 * ways[0])


def test_no_camera_looks_straight_down_where_up_would_be_undefined():
    for name in CAMERAS:
        camera = SimpleNamespace()
        stage_of()[0].look(camera, name)
        way = np.subtract(camera.position, camera.look_at)
        assert np.linalg.norm(way[:2]) > 1e-3
