"""The certificate travels with the path: whoever has scene and robot proves it again; tampering is refused."""

import copy

import numpy as np
import pytest

pytest.importorskip("rclpy")
from builtin_interfaces.msg import Time

from telerobot.msg import Contact
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.covering import name_pair
from telerobot_nodes.cspace.geometry import Change, Scene, addition, box, floor, sphere
from telerobot_nodes.cspace.service import Goal, PlanningService, PlanRequest
from telerobot_nodes.nodes.planning import check_path_message
from telerobot_nodes.nodes.planning.convert_planning import path_to_message, scene_from_message, scene_to_message

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)
TURNED, AWAY = (HOME + np.array([turn, 0.0, 0.0, 0.0, 0.0, 0.0]) for turn in (0.8, -0.8))
TOOL = ROBOT.forward(HOME).translation
STAMP = Time(sec=7)


class Answer:
    """A path around a post, with a bar in the hand; as messages."""

    def __init__(self, **fields):
        self.service = PlanningService({"arm": ROBOT})
        post = addition(box("post", (0.06, 0.06, 0.3), (TOOL[0], TOOL[1], TOOL[2] - 0.1)))
        bar = Change("bar", (box("bar#0", (0.02, 0.02, 0.1)),), "arm", frozenset({"link5"}))
        shelf = Change("shelf", tuple(box(f"shelf#{i}", (0.1, 0.1, 0.1), (*TOOL[:2], i)) for i in (0.6, 2.0)))
        scene = Scene().changed([post, bar, addition(floor()), shelf], arms=["arm"])
        self.service.set_scene(scene)
        request = PlanRequest((Goal("arm", AWAY, joints=TURNED),), ignore=frozenset({"shelf"}), **fields)
        answer = self.service.plan(request)
        assert answer.found, answer.message
        self.path = path_to_message(answer.paths[0], STAMP)
        self.world = scene_to_message(scene, STAMP)
        self.robot = ROBOT

    def check(self):
        return check_path_message(self.path, self.world, self.robot)

    def copied(self):
        other = copy.copy(self)
        other.path, other.world = copy.deepcopy(self.path), copy.deepcopy(self.world)
        return other


@pytest.fixture(scope="module")
def planned():
    return Answer(allowed=frozenset({name_pair("bar", "post")}))


@pytest.fixture
def answer(planned):
    return planned.copied()


def test_a_path_from_the_planner_is_proved_again_from_its_message(answer):
    checked = answer.check()
    assert checked.valid, checked.reason
    assert len(answer.path.certificate.centers) == 6 * answer.path.certificate_cells
    assert list(answer.path.certificate.ignored) == ["shelf"]
    assert answer.path.certificate.allowed == [Contact(first="bar", second="post")]


def test_what_a_held_thing_may_touch_crosses_with_the_scene(answer):
    (held,) = scene_from_message(answer.world).attachments("arm")
    assert held.touch_links == {"link5"}


def set_field(name, value):
    def tamper(answer):
        setattr(answer.path.certificate, name, value(getattr(answer.path.certificate, name)))

    return tamper


def straight(answer):
    """Both ends alone, in one cell around the motion through the post."""
    answer.path.waypoints = [*AWAY, *TURNED]
    answer.path.certificate.centers = (0.5 * (AWAY + TURNED)).tolist()
    answer.path.certificate.halves = (0.5 * np.abs(TURNED - AWAY)).tolist()


def another_robot(answer):
    answer.robot = load_robot("panda")


def put(name, place, value):
    def tamper(answer):
        owner = answer.path if name == "waypoints" else answer.path.certificate
        values = list(getattr(owner, name))
        values[place] = value
        setattr(owner, name, values)

    return tamper


def more_in_the_world(obstacle):
    def tamper(answer):
        world = scene_to_message(Scene().changed([addition(obstacle)]), STAMP)
        answer.world.obstacles = [*answer.world.obstacles, *world.obstacles]

    return tamper


KINDS = {
    "cells of a motion through the post": (straight, "cell 0 is not free"),
    "a cell too few": (set_field("centers", lambda v: v[6:]), "certificate.halves"),
    "cells dropped": (lambda a: [set_field(n, lambda v: v[6:])(a) for n in ("centers", "halves")], "not covered"),
    "half a cell": (set_field("centers", lambda v: v[:-1]), "centers (length)"),
    "no joints": (set_field("dof", lambda v: 0), "centers (length)"),
    "other joints": (lambda a: setattr(a.path.certificate, "dof", 3), "joints"),
    "NaN in a centre": (put("centers", 1, np.nan), "not finite"),
    "a negative width": (put("halves", 0, -1.0), "negative width"),
    "an infinite width": (put("halves", 0, np.inf), "not finite"),
    "a waypoint moved": (put("waypoints", 0, AWAY[0] - 0.3), "not covered"),
    "waypoint NaN": (put("waypoints", 2, np.nan), "not finite"),
    "a larger margin": (set_field("margin", lambda v: 0.3), "is not free"),
    "a margin below 0": (set_field("margin", lambda v: -0.1), "margin is -0.1"),
    "margin NaN": (set_field("margin", lambda v: np.nan), "margin is nan"),
    "a larger margin between links": (set_field("self_margin", lambda v: 0.5), "is not free"),
    "nothing ignored": (set_field("ignored", lambda v: []), "is not free"),
    "an unknown finger": (lambda a: [set_field("finger_names", lambda v: ["thumb"])(a),
                                     set_field("finger_positions", lambda v: [0.0])(a)], "thumb"),
    "fingers without places": (set_field("finger_names", lambda v: ["left_finger_joint"]), "finger_positions"),
    "a contact without a name": (set_field("allowed", lambda v: [Contact(first="bar")]), "two names"),
    "another scene": (lambda a: setattr(a.world, "stamp", Time(sec=8)), "another scene"),
    "something more in the scene": (more_in_the_world(sphere("ball", 0.3, TOOL)), "is not free"),
    "another robot": (another_robot, "joints"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_with_the_message_is_refused_with_the_reason(answer, kind):
    tamper, reason = KINDS[kind]
    tamper(answer)
    checked = answer.check()
    assert not checked.valid
    assert reason in checked.reason


def test_an_arm_that_stands_beside_is_named_in_the_certificate():
    import pinocchio as pin

    beside = load_robot("arm", T_world_base=pin.SE3(np.eye(3), np.array([0.0, 1.5, 0.0])))
    service = PlanningService({"left": ROBOT, "right": beside})
    goal = Goal("left", AWAY, joints=HOME)
    answer = service.plan(PlanRequest((goal,), standing={"left": AWAY, "right": HOME}))
    assert answer.found, answer.message
    path, world = path_to_message(answer.paths[0], STAMP), scene_to_message(service.scene, STAMP)
    assert path.certificate.others
    assert all(entry.name.startswith("arm right") for entry in path.certificate.others)
    assert check_path_message(path, world, ROBOT).valid
    path.certificate.others[0].pose[:3] = ROBOT.forward(HOME).translation
    assert not check_path_message(path, world, ROBOT).valid
