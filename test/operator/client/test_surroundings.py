"""What stands around the arm, as values and as drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from console_rig import Sink

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import OperatorClient, Solid
from telerobot_nodes.operator.scene.solids_view import SolidsView
from telerobot_nodes.operator.view import scene

AT = (0.5, 0.1, 0.4, 0.0, 0.0, 0.0, 1.0)
LYING = (0.5, 0.1, 0.4, 0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))  # z along WORLD's x
CRATE = Solid("crate", "box", (0.2, 0.1, 0.3), AT)
CAN = Solid("can", "cylinder", (0.05, 0.4), AT)
BALLS = [Solid(f"mesh#{i}", "sphere", (0.1,), AT) for i in range(3)]
FLOOR = Solid("floor", "half_space", (), AT)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "cone"}, "obstacle crate: kind"),
        ({"size": (0.1, 0.2)}, "obstacle crate: size"),
        ({"size": (0.1, 0.2, 0.0)}, "obstacle crate: size"),
        ({"pose": (0.0, 0.0, float("nan"), 0.0, 0.0, 0.0, 1.0)}, "obstacle crate: pose"),
    ],
)
def test_a_solid_that_cannot_be_drawn_is_refused_by_name(fields, words):
    with pytest.raises(InvalidValueError, match=words):
        replace(CRATE, **fields)


@pytest.mark.parametrize(
    ("solid", "top"),
    [(CRATE, 0.15), (replace(CRATE, pose=LYING), 0.1), (CAN, 0.2), (replace(CAN, pose=LYING), 0.05), (FLOOR, 0.0)],
)
def test_the_top_of_a_solid_is_found_however_it_lies(solid, top):
    assert solid.top == pytest.approx(top)


class Part:
    """Something drawn; gone once removed."""

    def __init__(self, drawn, name, values):
        self.__dict__.update(values)
        self._drawn, self._name = drawn, name

    def remove(self):
        del self._drawn[self._name]


class Paper:
    """A scene that remembers what is drawn on it, and how often something was sent."""

    def __init__(self):
        self.drawn, self.sent = {}, 0

    def add(self, name, *values, **fields):
        self.sent += 1
        self.drawn[name] = Part(self.drawn, name, fields)
        return self.drawn[name]

    add_frame = add_box = add_cylinder = add_icosphere = add

    def add_label(self, name, text, **fields):
        return self.add(name, text=text, **fields)

    @property
    def names(self):
        return sorted(part.text for part in self.drawn.values() if hasattr(part, "text"))


@pytest.fixture
def paper():
    return Paper()


def test_every_thing_is_drawn_once_with_its_name_and_sent_again_only_when_it_changes(paper):
    view = SolidsView(paper)
    view.draw([CRATE, CAN, *BALLS, FLOOR])
    assert paper.names == ["can", "crate", "floor", "mesh"]  # a mesh of three balls has one name
    assert len(paper.drawn) == 1 + 6 + 4
    before = paper.sent
    view.draw([CRATE, CAN, *BALLS, FLOOR])
    assert paper.sent == before
    view.draw([replace(CRATE, size=(0.3, 0.1, 0.3)), CAN])
    assert paper.names == ["can", "crate"]
    assert paper.sent == before + 2


def test_names_that_a_path_may_not_hold_stay_apart(paper):
    SolidsView(paper).draw([replace(CRATE, name="a/b"), replace(CRATE, name="a_b"), replace(CRATE, name="a b")])
    assert paper.names == ["a b", "a/b", "a_b"]


def test_what_the_tool_holds_moves_with_it_and_is_said_to_be_held(paper):
    view = SolidsView(paper)
    view.draw([replace(CRATE, held=True)])
    view.follow(np.array(AT))
    frame = paper.drawn["/obstacles/held"]
    assert tuple(frame.position) == AT[:3]
    assert tuple(frame.wxyz) == (1.0, 0.0, 0.0, 0.0)
    assert paper.names == ["crate (held)"]
    view.follow(None)
    assert not frame.visible


def test_the_scene_shows_the_obstacles_last_told():
    client = OperatorClient(Sink())
    client.receive_solids([CRATE])
    client.receive_solids([CAN, FLOOR])
    assert scene(client, 0.0).solids == (CAN, FLOOR)
