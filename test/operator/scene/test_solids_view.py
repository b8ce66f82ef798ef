"""Obstacles and held bodies in the scene: only changes are sent."""

import numpy as np
import pytest
from viser_scene import RecordingScene

from telerobot_nodes.operator.client import Solid
from telerobot_nodes.operator.scene.solids_view import SolidsView

AT = (0.5, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0)
BOX = Solid("table", "box", (1.0, 0.6, 0.04), AT)


@pytest.fixture
def scene():
    return RecordingScene()


def kinds(scene):
    return sorted(handle.kind for handle in scene.drawn.values() if handle.kind != "add_frame")


@pytest.mark.parametrize(
    ("kind", "size", "drawn"),
    [
        ("box", (0.1, 0.1, 0.1), "add_box"),
        ("sphere", (0.1,), "add_icosphere"),
        ("cylinder", (0.1, 0.3), "add_cylinder"),
        ("half_space", (), "add_box"),
    ],
)
def test_every_kind_is_drawn_with_its_name(scene, kind, size, drawn):
    SolidsView(scene).draw([Solid("thing", kind, size, AT)])
    assert kinds(scene) == sorted([drawn, "add_label"])


def test_what_has_not_changed_is_not_sent_again(scene):
    view = SolidsView(scene)
    view.draw([BOX])
    sent = scene.sent
    view.draw([Solid("table", "box", (1.0, 0.6, 0.04), AT)])
    assert scene.sent == sent


def test_a_moved_solid_is_replaced_and_a_missing_one_removed(scene):
    view = SolidsView(scene)
    view.draw([BOX])
    view.draw([Solid("table", "box", (1.0, 0.6, 0.04), (0.9, *AT[1:]))])
    assert kinds(scene) == ["add_box", "add_label"]
    assert next(h for h in scene.drawn.values() if h.kind == "add_box").position[0] == 0.9
    view.draw([])
    assert kinds(scene) == []


def test_parts_of_one_body_share_one_label_on_the_highest(scene):
    high = (*AT[:2], 0.9, *AT[3:])
    SolidsView(scene).draw([Solid("tree#0", "sphere", (0.1,), AT), Solid("tree#1", "sphere", (0.1,), high)])
    (label,) = [handle for handle in scene.drawn.values() if handle.kind == "add_label"]
    assert label.args[0] == "tree"
    assert label.position[2] > 1.0


def test_held_bodies_follow_the_tool_and_are_hidden_without_it(scene):
    view = SolidsView(scene)
    view.draw([Solid("pin", "cylinder", (0.01, 0.1), AT, held=True)])
    tool = scene.drawn["/obstacles/held"]
    view.follow(np.array(AT))
    assert tool.visible
    assert tool.wxyz.tolist() == [1.0, 0.0, 0.0, 0.0]
    view.follow(None)
    assert not tool.visible
