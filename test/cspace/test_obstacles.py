"""Obstacles as values and as files."""

import math

import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.cspace.geometry import Attachment, Obstacle, box, cylinder, floor, load_world, sphere, world_of
from telerobot_nodes.errors import InvalidValueError, ParameterFileError


@pytest.mark.parametrize(
    "make",
    [
        lambda: box("b", (1.0, math.nan, 1.0)),
        lambda: box("b", (1.0, 1.0)),
        lambda: box("b", (1.0, 0.0, 1.0)),
        lambda: sphere("s", -0.1, (0, 0, 0)),
        lambda: sphere("s", 0.1, (0, math.inf, 0)),
        lambda: cylinder("c", 0.1, 0.5, (0, 0, 0, 0, 0, 0, 2.0)),
        lambda: Obstacle("d", "torus", (1.0,)),
        lambda: world_of([floor(), floor()]),
        lambda: world_of([], margin=-0.1),
        lambda: Attachment(floor()),
    ],
)
def test_what_cannot_be_an_obstacle_is_refused_by_name(make):
    with pytest.raises(InvalidValueError) as caught:
        make()
    assert "allowed" in str(caught.value)


@pytest.mark.parametrize("name", ["table", "empty"])
def test_the_worlds_of_the_project_load(name):
    world = load_world(share_path(f"config/worlds/{name}.yaml"))
    assert len(world_of(world).kind) == len(world)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("obstacles: {", "not readable"),
        ("things: []", "allowed: obstacles"),
        ("obstacles: [{name: a}]", "kind"),
        ("obstacles: [{name: a, kind: box, size: [1, 1], position: [0, 0, 0]}]", "length"),
        ("obstacles: [{name: a, kind: sphere, size: [1], colour: red}]", "colour"),
        ("obstacles: [{name: a, kind: sphere, size: [.nan]}]", "finite"),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(tmp_path, text, says):
    file = tmp_path / "world.yaml"
    file.write_text(text)
    with pytest.raises(ParameterFileError, match=says):
        load_world(file)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ParameterFileError, match="not readable"):
        load_world(tmp_path / "none.yaml")
