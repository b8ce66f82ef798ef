"""MoveIt's planning scenes: poses in the frames they name, things that are held and moved, allowed contacts."""

import numpy as np
import pinocchio as pin
import pytest
import yaml

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.covering import name_pair
from telerobot_nodes.cspace.geometry import Change, Scene, addition, box
from telerobot_nodes.cspace.scenes import Frames, allowed_contacts, read_scene, scene_after
from telerobot_nodes.errors import InvalidValueError

ROBOT = load_robot("arm")
Q = np.array(ROBOT.home) + 0.2
KNOWN = Frames(ROBOT, Q)
NOTHING = Scene()
BOX = {"type": "box", "dimensions": [0.1, 0.2, 0.3]}


@pytest.fixture
def scene(tmp_path):
    """The scene after a message with these fields; `before` it, and at joints that are known or not."""

    def read(before=NOTHING, q=Q, **fields):
        return scene_after(message(tmp_path, **fields), before, Frames(ROBOT, q), "arm")

    return read


def message(folder, **fields):
    file = folder / "scene.yaml"
    file.write_text(yaml.safe_dump(fields))
    return read_scene(file)


def thing(name, frame="world", at=(0.0, 0.0, 0.0), **fields):
    shapes = {"primitives": [BOX], "primitive_poses": [{"position": [0.0, 0.0, 0.0]}]}
    return {"id": name, "header": {"frame_id": frame}, "pose": {"position": list(at)}, **shapes, **fields}


def world(*things):
    return {"collision_objects": list(things)}


def held(name, link="gripper", touch=(), **fields):
    return {"attached_collision_objects": [
        {"link_name": link, "touch_links": list(touch), "object": thing(name, **fields)}]}  # fmt: skip


def place(scene, name):
    return np.array(scene.entries[name].solids[0].pose[:3])


def test_a_thing_stands_in_the_frame_that_it_names(scene):
    after = scene(
        fixed_frame_transforms=[
            {"child_frame_id": "bench", "header": {"frame_id": "base_link"}, "transform": {"translation": [1, 0, 0]}},
            {"child_frame_id": "shelf", "header": {"frame_id": "bench"}, "transform": {"translation": [0, 2, 0]}},
        ],
        world=world(thing("a"), thing("b", "link4", (0.0, 0.0, 0.1)), thing("c", "shelf", (0.0, 0.0, 0.5))),
    )
    assert place(after, "a") == pytest.approx([0.0, 0.0, 0.0])
    assert place(after, "b") == pytest.approx(KNOWN.pose("link4", "").act(np.array([0.0, 0.0, 0.1])))
    assert place(after, "c") == pytest.approx(KNOWN.pose("base_link", "").act(np.array([1.0, 2.0, 0.5])))


def test_the_base_of_an_arm_that_stands_elsewhere_carries_its_things(tmp_path):
    moved = load_robot("arm", T_world_base=pin.SE3(np.eye(3), np.array([0.0, 3.0, 0.0])))
    read = message(tmp_path, world=world(thing("a", "base_link")))
    after = scene_after(read, Scene(), Frames(moved), "arm")
    assert place(after, "a")[1] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("q", "frame", "why"),
    [
        (Q, "moon", "frame_id: 'moon'.*base_link"),
        (Q, "left_finger", "frame_id: 'left_finger'"),
        (None, "link4", "joints are not known"),
    ],
)
def test_a_frame_without_a_known_place_is_refused(scene, q, frame, why):
    with pytest.raises(InvalidValueError, match=why):
        scene(q=q, world=world(thing("a", frame)))


def test_what_is_no_difference_replaces_everything_and_a_difference_adds(scene):
    first = scene(world=world(thing("a")))
    assert set(scene(first, is_diff=True, world=world(thing("b"))).entries) == {"a", "b"}
    assert set(scene(first, world=world(thing("b"))).entries) == {"b"}


def test_a_thing_is_moved_with_all_of_its_shapes(scene):
    two = thing("a", at=(1.0, 0.0, 0.0), primitives=[BOX, BOX],
                primitive_poses=[{"position": [0, 0, 0]}, {"position": [0, 0, 1]}])  # fmt: skip
    turned = {"position": [0.0, 0.0, 0.0], "orientation": [0.0, 0.5**0.5, 0.0, 0.5**0.5]}
    move = {"id": "a", "header": {"frame_id": "world"}, "pose": turned, "operation": "move"}
    after = scene(scene(world=world(two)), is_diff=True, world=world(move))
    first, second = (np.array(solid.pose[:3]) for solid in after.entries["a"].solids)
    assert first == pytest.approx([0.0, 0.0, 0.0])
    assert second == pytest.approx([1.0, 0.0, 0.0])
    again = scene(after, is_diff=True, world=world({**move, "pose": {"position": [0.0, 5.0, 0.0]}}))
    assert np.array(again.entries["a"].solids[1].pose[:3]) == pytest.approx([0.0, 5.0, 1.0])


def test_shapes_are_appended_and_things_removed_one_by_one_or_all(scene):
    before = scene(world=world(thing("a"), thing("b")), robot_state=held("c", frame="tool"))
    after = scene(before, is_diff=True, world=world(thing("a", at=(0.0, 0.0, 1.0), operation="append")))
    assert [solid.pose[2] for solid in after.entries["a"].solids] == pytest.approx([0.0, 1.0])
    assert len({solid.name for solid in after.entries["a"].solids}) == 2
    gone = scene(after, is_diff=True, world=world({"id": "a", "operation": "remove"}))
    assert set(gone.entries) == {"b", "c"}
    assert set(scene(after, is_diff=True, world=world({"operation": "remove"})).entries) == {"c"}


def test_what_a_link_holds_is_in_the_tool_frame_whatever_frame_it_was_given_in(scene):
    T_tool_gripper = KNOWN.fixed_to_tool("gripper", "")
    by_link = scene(q=None, robot_state=held("a", frame="gripper", at=(0.0, 0.0, 0.1)))
    assert place(by_link, "a") == pytest.approx(T_tool_gripper.act(np.array([0.0, 0.0, 0.1])))
    point = KNOWN.pose("gripper", "").act(np.array([0.0, 0.0, 0.1]))
    by_world = scene(robot_state=held("a", at=tuple(point.tolist())))
    assert place(by_world, "a") == pytest.approx(place(by_link, "a"))
    (attachment,) = by_world.attachments("arm")
    assert attachment.name == "a"
    assert attachment.touch_links == frozenset()


def test_a_known_thing_is_taken_in_hand_and_put_down_where_the_hand_is(scene):
    point = KNOWN.tool("").act(np.array([0.0, 0.0, 0.05]))
    standing = scene(world=world(thing("a", at=tuple(point.tolist()))))
    bare = {"attached_collision_objects": [
        {"link_name": "gripper", "touch_links": ["link5"], "object": {"id": "a"}}]}  # fmt: skip
    taken = scene(standing, is_diff=True, robot_state=bare)
    assert place(taken, "a") == pytest.approx([0.0, 0.0, 0.05], abs=1e-9)
    assert taken.obstacles == []
    assert taken.entries["a"].touch_links == {"link5"}
    elsewhere = Q + 0.1
    down = {"attached_collision_objects": [{"object": {"id": "a", "operation": "remove"}}]}
    after = scene(taken, q=elsewhere, is_diff=True, robot_state=down)
    assert place(after, "a") == pytest.approx(ROBOT.forward(elsewhere).act(np.array([0.0, 0.0, 0.05])))
    assert after.held("arm") == []


def test_taking_and_putting_down_may_name_the_thing_in_the_world_too(scene):
    """MoveIt's messages take a thing from the world in the same message, or put it there."""
    standing = scene(world=world(thing("a")))
    taken = scene(standing, is_diff=True, robot_state=held("a", frame="tool"), world=world({"id": "a", "operation": 1}))
    assert taken.entries["a"].attached_to == "arm"
    down = {"attached_collision_objects": [{"object": {"id": "a", "operation": "remove"}}]}
    after = scene(taken, is_diff=True, robot_state=down, world=world(thing("a", at=(3.0, 0.0, 0.0))))
    assert place(after, "a") == pytest.approx([3.0, 0.0, 0.0])
    assert after.held("arm") == []


def test_a_cone_becomes_solids_that_hold_it(scene):
    cone = thing("cone", primitives=[{"type": "cone", "dimensions": [0.2, 0.05]}])
    solids = scene(world=world(cone)).obstacles
    for point in ([0.0, 0.0, 0.1], [0.05, 0.0, -0.1], [0.0, -0.05, -0.1]):
        assert any(holds(solid, np.array(point)) for solid in solids)


def holds(solid, point):
    local = solid.T_world_obstacle.actInv(point)
    if solid.kind == "sphere":
        return np.linalg.norm(local) <= solid.size[0] + 1e-9
    return bool((np.abs(local) <= 0.5 * np.array(solid.size) + 1e-9).all())


FINGERS = ["left_finger", "right_finger"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"world": world({"id": "a", "operation": "move"})}, "a: operation: 3"),
        ({"world": world(thing("a", operation="move"))}, "a: operation: 3"),
        ({"world": world(thing("a#b"))}, "obstacle id: 'a#b'"),
        ({"world": world(thing("a", primitives=[]))}, "primitive_poses .length.: 1"),
        ({"world": world(thing("a", primitives=[], primitive_poses=[]))}, "a: shapes"),
        ({"world": world(thing("a", primitives=[{"type": "prism", "dimensions": [1.0]}]))}, "primitive: 5"),
        ({"robot_state": held("a", link="link3", frame="link3")}, "attached a: link_name: 'link3'.*gripper"),
        ({"robot_state": held("a", link="left_finger", frame="left_finger")}, "link_name: 'left_finger'"),
        ({"robot_state": held("a", touch=["link9"], frame="tool")}, "touch_links: 'link9'"),
        ({"robot_state": held("a", frame="tool", primitives=[], primitive_poses=[])}, "attached a: shapes"),
        ({"link_padding": [{"link_name": "link4", "padding": 0.01}]}, "link_padding link4: 0.01"),
        ({"link_scale": [{"link_name": "link4", "scale": 1.1}]}, "link_scale link4: 1.1"),
    ],
)
def test_what_cannot_be_kept_as_it_is_meant_is_refused_by_name(scene, fields, why):
    with pytest.raises(InvalidValueError, match=why):
        scene(**fields)


def test_a_thing_in_the_hand_is_not_replaced_by_one_that_stands(scene):
    taken = scene(robot_state=held("a", frame="tool"))
    with pytest.raises(InvalidValueError, match="obstacle id: 'a'"):
        scene(taken, is_diff=True, world=world(thing("a")))


def test_a_thing_whose_pose_is_not_known_is_not_moved(scene):
    move = {"id": "a", "header": {"frame_id": "world"}, "operation": 3}
    known = Scene().changed([addition(box("a", (0.1, 0.1, 0.1), (1.0, 0.0, 0.0)))])
    assert place(scene(known, is_diff=True, world=world(move)), "a") == pytest.approx([0.0, 0.0, 0.0])
    unknown = Scene().changed([Change("a", (box("a#0", (0.1, 0.1, 0.1)),))])
    with pytest.raises(InvalidValueError, match="its pose is not known"):
        scene(unknown, is_diff=True, world=world(move))


def test_an_octomap_stands_in_its_frame_until_another_one_comes(scene):
    data = {"octomap": {"id": "OcTree", "binary": True, "resolution": 0.02, "data": [0, -128]}}  # child 7 is occupied
    before = scene(world={"octomap": {"header": {"frame_id": "link4"}, **data}})
    assert scene(before, is_diff=True, world=world(thing("a"))).entries.keys() == {"a", "<octomap>"}
    (place,) = before.obstacles[0].places
    assert place == pytest.approx(KNOWN.pose("link4", "").act(np.full(3, 0.02 * 2**14)), abs=1e-6)
    free = {"octomap": {**data["octomap"], "data": [16, 0]}}
    assert scene(before, is_diff=True, world={"octomap": free}).entries == {}
    with pytest.raises(InvalidValueError, match="octomap: frame_id: 'moon'"):
        scene(world={"octomap": {"header": {"frame_id": "moon"}, **data}})


def matrix(names=(), rows=(), defaults=None, folder=None):
    return message(folder, allowed_collision_matrix={
        "entry_names": list(names), "entry_values": [{"enabled": list(row)} for row in rows],
        "default_entry_names": list(defaults or {}), "default_entry_values": list((defaults or {}).values()),
    }).allowed_collision_matrix  # fmt: skip


def test_the_contacts_of_the_matrix_are_allowed_and_no_others(tmp_path):
    rows = [[False, True, False], [True, False, False], [False, False, False]]
    found = allowed_contacts(matrix(["cup", "gripper", "link4"], rows, folder=tmp_path), {"gripper", "link4", "cup"})
    assert found == {name_pair("cup", "gripper")}


def test_a_default_counts_for_pairs_that_the_matrix_has_not(tmp_path):
    rows = [[False, False], [False, False]]
    read = matrix(["cup", "gripper"], rows, {"cup": True, "link5": False}, tmp_path)
    found = allowed_contacts(read, {"gripper", "link4", "link5", "cup"})
    assert found == {name_pair("cup", "link4")}


@pytest.mark.parametrize(
    ("rows", "why"),
    [([[False]], "entry_values .length.: 1"), ([[False, True], [True]], r"entry_values\[1\]"),
     ([[False, True], [False, False]], r"entry_values\[1\]\[0\]: False.*b with a")],
)  # fmt: skip
def test_a_matrix_that_is_not_square_or_contradicts_itself_is_refused(tmp_path, rows, why):
    with pytest.raises(InvalidValueError, match=why):
        allowed_contacts(matrix(["a", "b"], rows, folder=tmp_path), {"a", "b"})
