"""MoveIt's messages as YAML files: points as lists or mappings, words or numbers, and wrong keys by their line."""

import pytest

from telerobot_nodes.cspace.scenes import read_request, read_scene
from telerobot_nodes.errors import ParameterFileError


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "file.yaml"
        path.write_text(text)
        return path

    return write


def test_points_and_orientations_are_lists_or_mappings(file):
    scene = read_scene(file("""
world:
  collision_objects:
    - id: a
      primitives: [{type: 1, dimensions: [1, 2, 3]}]
      primitive_poses: [{position: [1, 2, 3], orientation: [0, 0, 0, 1]}]
    - id: b
      primitives: [{type: SPHERE, dimensions: [0.5]}]
      primitive_poses: [{position: {x: 1.0, z: 3}, orientation: {w: 1.0}}]
      operation: 2
"""))  # fmt: skip
    a, b = scene.world.collision_objects
    assert (a.primitive_poses[0].position.y, b.primitive_poses[0].position.z) == (2.0, 3.0)
    assert (b.primitive_poses[0].position.y, b.primitive_poses[0].orientation.w) == (0.0, 1.0)
    assert [a.primitives[0].type, b.primitives[0].type] == [1, 2]
    assert [a.operation, b.operation] == [0, 2]


def test_everything_that_ros_prints_of_the_messages_is_read(file):
    scene = read_scene(file("""
name: ''
robot_state:
  joint_state: {header: {stamp: {sec: 0}, frame_id: ''}, name: [j], position: [0.5], velocity: [], effort: []}
  multi_dof_joint_state: {header: {}, joint_names: [], transforms: [], twist: [], wrench: []}
  attached_collision_objects: []
  is_diff: false
robot_model_name: arm
fixed_frame_transforms: []
allowed_collision_matrix:
  {entry_names: [a], entry_values: [{enabled: [true]}], default_entry_names: [], default_entry_values: []}
link_padding: []
link_scale: []
object_colors: []
world:
  collision_objects:
    - {id: a, type: {key: '', db: ''}, meshes: [], mesh_poses: [], planes: [], plane_poses: [], subframe_names: [],
       subframe_poses: [], operation: "\\0"}
  octomap: {header: {}, origin: {position: {x: 0}}, octomap: {binary: false, id: '', resolution: 0.0, data: []}}
is_diff: no
"""))  # fmt: skip
    assert scene.robot_state.joint_state.position == (0.5,)
    assert scene.world.collision_objects[0].operation == 0
    assert scene.is_diff is False


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("world:\n  collision_object: []", r"2:3: world.collision_object: unknown key; did you mean collision_objects"),
        ("world: {collision_objects: [{operation: fly}]}", r"operation: .*'fly'.*0 add, 1 remove"),
        ("world: {collision_objects: [{operation: 7}]}", r"operation: .*7"),
        ("world: {collision_objects: [{pose: {position: [1, 2]}}]}", r"position: .*numbers x, y, z"),
        ("world: {collision_objects: [{pose: {position: [1, 2, .nan]}}]}", r"position: .*finite numbers"),
        ("world: {collision_objects: [{pose: {position: {x: 1, w: 2}}}]}", r"position: .*numbers x, y, z"),
        ("world: {collision_objects: [{pose: {orientation: [0, 0, 1]}}]}", r"orientation: .*x, y, z, w"),
        ("world: {collision_objects: [{header: {frame_id: 7}}]}", r"frame_id: .*a text"),
        ("robot_state: {attached_collision_objects: [{link_name: hand}]}", r"object: the key is missing"),
        ("link_padding: [{link_name: a}]", r"padding: the key is missing"),
        ("[1, 2]", r"mapping"),
    ],
)
def test_a_wrong_scene_is_refused_with_line_and_key(file, text, where):
    with pytest.raises(ParameterFileError, match=where):
        read_scene(file(text))


def test_a_request_may_leave_out_what_it_does_not_need(file):
    text = "group_name: arm\nallowed_planning_time: 5\nworkspace_parameters: {min_corner: {x: -1}}"
    request = read_request(file(text))
    assert (request.group_name, request.allowed_planning_time) == ("arm", 5.0)
    assert request.goal_constraints == ()
    with pytest.raises(ParameterFileError, match=r"1:1: goal_constraint: unknown key; did you mean goal_constraints"):
        read_request(file("goal_constraint: []"))
