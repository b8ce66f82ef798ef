"""MoveIt beside the planner: planning scenes as input, obstacles as output, and what is said where it is missing."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
from geometry_msgs.msg import Point, Pose
from sensor_msgs.msg import JointState
from shape_msgs.msg import Mesh, Plane, SolidPrimitive

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import Scene, box, cylinder, floor
from telerobot_nodes.cspace.scenes import Frames, scene_after
from telerobot_nodes.errors import InvalidValueError, NotInstalledError
from telerobot_nodes.nodes.planning.convert_planning import joints_from_message
from telerobot_nodes.nodes.planning.moveit_plugin import CONFIG_VARIABLE, collision_object, missing, plan_moveit

MOVEIT_IS_HERE = missing() == ""
ADD, REMOVE = 0, 1
NOTHING = Scene()
ROBOT = load_robot("arm")


def pose(x=0.0, y=0.0, z=0.0):
    message = Pose()
    message.position.x, message.position.y, message.position.z = x, y, z
    return message


def thing(name, operation=ADD, poses=None, frame="world", **shapes):
    """A collision object with the fields of MoveIt's message."""
    fields = {"primitives": [], "primitive_poses": [], "meshes": [], "mesh_poses": [], "planes": [], "plane_poses": []}
    header = SimpleNamespace(frame_id=frame)
    return SimpleNamespace(id=name, header=header, operation=operation, pose=poses or pose(), **{**fields, **shapes})


def scene(*things, held=(), touch_links=(), is_diff=True):
    attached = [SimpleNamespace(object=entry, link_name="gripper", touch_links=list(touch_links)) for entry in held]
    octomap = SimpleNamespace(octomap=SimpleNamespace(data=[]))
    return SimpleNamespace(
        world=SimpleNamespace(collision_objects=list(things), octomap=octomap),
        robot_state=SimpleNamespace(attached_collision_objects=attached),
        fixed_frame_transforms=[],
        link_padding=[],
        link_scale=[],
        is_diff=is_diff,
    )


def after(message, before=NOTHING):
    return scene_after(message, before, Frames(ROBOT), "arm")


def primitive(kind, *dimensions):
    return {"primitives": [SolidPrimitive(type=kind, dimensions=dimensions)], "primitive_poses": [pose(z=0.1)]}


def test_primitives_stand_where_object_and_shape_poses_put_them():
    message = scene(
        thing("crate", poses=pose(x=0.5), **primitive(SolidPrimitive.BOX, 0.1, 0.2, 0.3)),
        thing("can", **primitive(SolidPrimitive.CYLINDER, 0.4, 0.05)),
        is_diff=False,
    )
    crate, can = after(message).obstacles
    assert (crate.kind, crate.size) == ("box", (0.1, 0.2, 0.3))
    assert crate.pose[:3] == pytest.approx((0.5, 0.0, 0.1))
    assert (can.kind, can.size) == ("cylinder", (0.05, 0.4))  # radius, length


def test_what_is_held_may_touch_the_links_that_the_message_names():
    part = thing("part", frame="tool", **primitive(SolidPrimitive.BOX, 0.1, 0.1, 0.1))
    held = after(scene(held=[part], touch_links=["link4"])).attachments("arm")
    assert [(a.name, a.touch_links) for a in held] == [("part", {"link4"})]


def test_a_mesh_becomes_solids_that_hold_its_corners_and_a_plane_a_half_space():
    corners = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]], dtype=float)
    mesh = Mesh(vertices=[Point(x=x, y=y, z=z) for x, y, z in corners.tolist()])
    message = scene(
        thing("wedge", meshes=[mesh], mesh_poses=[pose(x=1.0)]),
        thing("wall", planes=[Plane(coef=[2.0, 0.0, 0.0, -1.0])], plane_poses=[pose()]),
    )
    entries = after(message).entries
    for corner in np.add(corners, (1.0, 0.0, 0.0)):
        spheres = entries["wedge"].solids
        assert min(np.linalg.norm(corner - sphere.pose[:3]) - sphere.size[0] for sphere in spheres) <= 1e-9
    half = entries["wall"].solids[0]
    assert half.kind == "half_space"
    assert half.T_world_obstacle.rotation[:, 2] == pytest.approx([1.0, 0.0, 0.0])
    assert half.pose[0] == pytest.approx(0.5)


def test_operations_come_as_bytes_too():
    message = scene(thing("old", **primitive(SolidPrimitive.SPHERE, 0.03)))
    gone = after(scene(thing("old", operation=bytes([REMOVE]))), after(message))
    assert gone.entries == {}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (thing("nothing"), "nothing: shapes"),
        (thing("flat", planes=[Plane(coef=[0.0] * 4)], plane_poses=[pose()]), "flat#plane0: plane"),
        (thing("odd", operation=b"\x09"), "odd: operation: 9"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(entry, words):
    with pytest.raises(InvalidValueError, match=words):
        after(scene(entry))


def test_obstacles_go_to_moveit_in_its_own_terms():
    class CollisionObject(SimpleNamespace):
        ADD = 0

        def __init__(self, **fields):
            header = SimpleNamespace(frame_id="")
            super().__init__(header=header, primitives=[], primitive_poses=[], **fields)

    can = collision_object(cylinder("can", 0.05, 0.4, (0.1, 0.2, 0.3)), CollisionObject)
    assert list(can.primitives[0].dimensions) == [0.4, 0.05]
    assert can.primitive_poses[0].position.y == pytest.approx(0.2)
    ground = collision_object(floor(height=0.1), CollisionObject)
    top = ground.primitive_poses[0].position.z + 0.5 * ground.primitives[0].dimensions[2]
    assert top == pytest.approx(0.1)
    crate = collision_object(box("crate", (0.1, 0.2, 0.3)), CollisionObject)
    assert list(crate.primitives[0].dimensions) == [0.1, 0.2, 0.3]


@pytest.mark.skipif(MOVEIT_IS_HERE, reason="moveit_py is installed here")
def test_without_moveit_the_back_end_names_what_is_missing(monkeypatch):
    with pytest.raises(NotInstalledError, match=r"moveit\.planning.*ros-jazzy-moveit-py"):
        plan_moveit(None, np.zeros(6), np.zeros(6), 1.0)
    for name in (
        "moveit",
        "moveit.planning",
        "moveit.core",
        "moveit.core.robot_state",
        "moveit_msgs",
        "moveit_msgs.msg",
    ):
        module = ModuleType(name)
        module.__spec__ = SimpleNamespace(name=name)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)
    assert CONFIG_VARIABLE in missing()


def test_joints_are_found_in_any_order_with_others_between():
    robot = load_robot("panda")
    names = ["finger", *reversed(robot.joint_names)]
    q = np.array(robot.home)
    message = JointState(name=names, position=[0.02, *q[::-1]])
    assert joints_from_message(message, robot) == pytest.approx(q)
    with pytest.raises(InvalidValueError, match=r"joint_states.name.*panda_joint7"):
        joints_from_message(JointState(name=names[2:], position=q[::-1][1:]), robot)
    with pytest.raises(InvalidValueError, match=r"joint_states.position"):
        joints_from_message(JointState(name=names, position=[np.nan] * 8), robot)
