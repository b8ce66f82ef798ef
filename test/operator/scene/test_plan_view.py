"""The plan as coloured lines in the scene."""

import numpy as np
import pytest
from viser_scene import RecordingScene

from telerobot_nodes.operator.client.plan_trace import PlanLines
from telerobot_nodes.operator.scene import palette
from telerobot_nodes.operator.scene.plan_view import PlanView, linear, vertex_colours


def test_each_timing_kind_has_its_own_colour_and_an_unknown_kind_is_still_drawn():
    colours = {tuple(colour) for colour in vertex_colours(np.array([0, 1, 2, 3, 200], np.uint8))}
    assert len(colours) == 5


def test_black_and_white_are_the_same_in_both_colour_spaces():
    assert linear([(0, 0, 0), (255, 255, 255)]).tolist() == [[0, 0, 0], [255, 255, 255]]


@pytest.fixture
def scene():
    return RecordingScene()


def lines(ahead=5):
    empty = np.empty((0, 3))
    return PlanLines(empty, empty, np.zeros((ahead, 3)), np.zeros(ahead, np.uint8), empty)


def test_only_lines_with_a_segment_are_drawn(scene):
    view = PlanView(scene)
    view.draw(lines(5), np.zeros((1, 3)))
    assert set(scene.drawn) == {"/plan", "/plan/ahead"}
    view.draw(lines(1), np.zeros((2, 3)))
    assert set(scene.drawn) == {"/plan", "/plan/other"}


def test_a_segment_has_the_colour_of_its_end(scene):
    timing = np.array([0, 1, 2], np.uint8)
    empty = np.empty((0, 3))
    PlanView(scene).draw(PlanLines(empty, empty, np.zeros((3, 3)), timing, empty), empty)
    paint = scene.drawn["/plan/ahead"].args[1]
    wanted = linear([palette.TIMINGS[1][1], palette.TIMINGS[2][1]])
    assert paint[:, 0].tolist() == paint[:, 1].tolist() == wanted.tolist()


def test_the_path_of_a_simulated_motion_grows_and_goes_beside_the_plan(scene):
    view = PlanView(scene)
    view.draw(lines(5), np.empty((0, 3)))
    for count in (2, 3):
        view.draw_motion(np.zeros((count, 3)))
        assert len(scene.drawn["/plan/motion"].args[0]) == count - 1
    view.draw_motion(np.empty((0, 3)))
    assert set(scene.drawn) == {"/plan", "/plan/ahead"}


def test_stretches_in_conflict_are_sent_once_and_removed(scene):
    view = PlanView(scene)
    stretches = np.ones((2, 2, 3))
    view.draw_conflicts(stretches)
    sent = scene.sent
    view.draw_conflicts(stretches.copy())
    assert scene.sent == sent
    view.draw_conflicts(np.empty((0, 2, 3)))
    assert "/plan/conflicts" not in scene.drawn
