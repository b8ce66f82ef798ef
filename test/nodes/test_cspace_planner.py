"""The planner as a node: real services, topics and worker; bad requests get clear answers, the next gets a path."""

import math
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy")
import rclpy
from planner_node import AWAY, HOME, POST, ROBOT, TOOL, TURNED, PlannerNode, box, cloud_message, on_post, to
from rclpy.duration import Duration
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from telerobot.msg import ArmGoal, Contact, Obstacle
from telerobot.srv import PlanPath
from telerobot_nodes.bench.planner.clouds import PointDistances
from telerobot_nodes.core.config import STATE_VARIABLE, NodeOptions
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.cspace.scenes import read_scene
from telerobot_nodes.cspace.search import path_samples
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.planning import check_path_message

NAN = math.nan


@pytest.fixture(scope="module")
def started(module_ros, tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    (folder / "cells_arm.bin").write_bytes(b"not a file of cells" * 20)
    os.environ[STATE_VARIABLE] = str(folder)
    from telerobot_nodes.nodes.planning.cspace_planner import CspacePlannerNode

    params = folder / "planner.yaml"
    settings = "{cloud: cloud, cloud_rate: 30.0, cloud_stale: 20.0, cloud_frames: 'depth world 0 0 1 1 0 0 0'}"
    params.write_text(f"cspace_planner: {{ros__parameters: {settings}}}\n")
    yield PlannerNode(module_ros, module_ros.add(CspacePlannerNode(NodeOptions("cspace_planner", params=params))))
    del os.environ[STATE_VARIABLE]


@pytest.fixture
def planner(started):
    started.world()
    return started


def test_obstacles_that_move_during_planning_are_planned_around(planner):
    # the worker is still starting, so the post is there before the first plan is
    pending = planner.ros.begin(PlanPath, "cspace_planner/plan", timeout=200.0, goals=[to(TURNED)])
    planner.world(POST)
    answer = pending()
    assert answer.success, answer.message
    assert answer.paths[0].certificate_cells > 0
    rows = np.array(answer.paths[0].waypoints).reshape(-1, 6)
    assert len(rows) > 2
    assert planner.path(rows).free
    assert not planner.path([AWAY, TURNED]).free


def test_a_corrupt_file_of_cells_is_said_and_made_anew(planner):
    assert planner.plan(to(TURNED)).success
    assert "made anew: damaged" in planner.node.health().values["cells_arm"]


def test_a_path_carries_timing_inside_the_limits_and_starts_and_ends_at_rest(planner):
    planner.world(POST)
    path = planner.plan(to(TURNED), speed=0.5).paths[0]
    times, positions = np.array(path.times), np.array(path.positions).reshape(-1, 6)
    velocities = np.array(path.velocities).reshape(-1, 6)
    assert list(path.joint_names) == list(ROBOT.joint_names)
    assert (np.diff(times) > 0.0).all()
    assert positions[0] == pytest.approx(AWAY)
    assert positions[-1] == pytest.approx(TURNED)
    assert (np.abs(velocities) <= 0.5 * ROBOT.limits.velocity + 1e-9).all()
    assert np.abs(velocities[[0, -1]]).max() == pytest.approx(0.0, abs=1e-9)
    assert path.clearance > 0.0


def test_a_tool_pose_is_reached_and_a_tolerance_about_z_gives_freedom(planner):
    pose = pose_from_se3(ROBOT.forward(TURNED)).tolist()
    exact = planner.plan(ArmGoal(start=list(HOME), pose_goal=pose))
    assert exact.success, exact.message
    end = np.array(exact.paths[0].positions)[-6:]
    assert pose_from_se3(ROBOT.forward(end))[:3] == pytest.approx(pose[:3], abs=1e-6)
    free = planner.plan(ArmGoal(start=list(HOME), pose_goal=pose, orientation_tolerance=[0.0, 0.0, math.pi]))
    assert free.success, free.message
    assert free.paths[0].length <= exact.paths[0].length + 1e-9


def test_the_start_is_the_measured_one_when_none_is_given(planner):
    before = planner.plan(to(TURNED, start=()))
    assert not before.success
    assert "start: 'empty'" in before.message
    planner.joints.publish(JointState(name=list(ROBOT.joint_names), position=list(HOME)))
    assert planner.ros.until(lambda: planner.node._joints)
    answer = planner.plan(to(TURNED, start=()))
    assert answer.success, answer.message
    assert np.array(answer.paths[0].positions)[:6] == pytest.approx(HOME)
    assert planner.configuration(()).free


def test_a_start_or_goal_in_collision_is_told_with_pair_and_depth(planner):
    planner.world(box("block", *TOOL, size=(0.2, 0.2, 0.2)))
    start = planner.plan(to(TURNED, start=HOME))
    assert (start.success, start.outcome) == (False, "start collides")
    assert "and block" in start.message
    assert "mm inside the margin" in start.message
    goal = planner.plan(to(HOME, start=TURNED))
    assert (goal.success, goal.outcome) == (False, "goal collides")
    state = planner.configuration(HOME)
    assert state.success
    assert not state.free
    assert state.second == "block"
    assert state.clearance < 0.0
    assert state.cell in ("mixed", "full")


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (to(TURNED + 10.0), "joint_goal[0]"),
        (to(TURNED, start=HOME - 10.0), "start[0]"),
        (to([NAN] * 6), "joint_goal[0]: nan"),
        (to(TURNED[:4]), "length"),
        (ArmGoal(start=list(HOME)), "neither"),
        (ArmGoal(start=list(HOME), pose_goal=[3.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]), "unreachable"),
        (ArmGoal(start=list(HOME), pose_goal=[0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 2.0]), "unit quaternions"),
        (to(TURNED, arm="third"), "'third'"),
        (to(TURNED, orientation_tolerance=[0.0, NAN, 0.0]), "orientation_tolerance[1]"),
    ],
)
def test_a_bad_goal_is_refused_by_name(planner, goal, words):
    answer = planner.plan(goal)
    assert (answer.success, answer.outcome) == (False, "refused")
    assert words in answer.message


def test_bad_requests_are_refused_by_name(planner):
    assert "goals (number)" in planner.plan().message
    assert "budget" in planner.plan(to(TURNED), budget=-1.0).message
    assert "speed" in planner.plan(to(TURNED), speed=3.0).message
    assert "back_end" in planner.plan(to(TURNED), back_end="nosuch").message
    assert "waypoints" in planner.path(np.full((2, 6), NAN)).message
    assert "dof" in planner.path([HOME, TURNED], dof=3).message


def test_a_back_end_that_is_not_installed_says_what_is_missing(planner):
    pytest.importorskip("ompl")
    assert planner.plan(to(TURNED), back_end="ompl").success
    answer = planner.plan(to(TURNED), back_end="moveit")
    assert not answer.success
    assert "moveit.planning" in answer.message
    assert "ros-jazzy-moveit-py" in answer.message


def test_a_spent_budget_or_an_enclosed_goal_ends_in_a_clear_result(planner):
    side = HOME + np.array([math.pi / 2, 0, 0, 0, 0, 0])
    planner.world(box("wall", 0.0, 0.35, 0.6, size=(3.0, 0.02, 3.0)))
    answer = planner.plan(to(side, start=HOME), budget=0.05)
    assert not answer.success
    assert answer.outcome in ("budget spent", "no path at this resolution", "goal collides")
    planner.world()
    assert planner.plan(to(side, start=HOME)).success


def test_degenerate_and_wrong_obstacles_are_refused_and_the_world_stays(planner):
    planner.world(POST)
    arm32 = Obstacle(name="flat", kind="box", size=[0.1, 0.0, 0.1], pose=[0.0] * 6 + [1.0])
    unknown = Obstacle(name="cone", kind="cone", size=[0.1], pose=[0.0] * 6 + [1.0])
    broken = Obstacle(name="nan", kind="sphere", size=[0.1], pose=[NAN] + [0.0] * 5 + [1.0])
    empty = Obstacle(name="mesh", kind="hull", points=[], pose=[0.0] * 6 + [1.0])
    held = Obstacle(name="held", kind="sphere", size=[0.1], pose=[0.0] * 6 + [1.0], attached_to="third")
    for wrong in (arm32, unknown, broken, empty, held):
        version = planner.node._version
        planner.world(box("good", 2.0, 2.0, 2.0), wrong, replace=False)
        assert planner.node._version == version
        assert wrong.name in planner.node.last_refusal
    assert [solid.name for solid in planner.node._scene.obstacles] == ["post"]


def test_a_flat_hull_is_an_obstacle_and_an_empty_world_is_none(planner):
    triangle = [0.0, 0.0, -0.1, 0.0, 0.1, 0.1, 0.0, -0.1, 0.1]
    planner.world(Obstacle(name="mesh", kind="hull", points=triangle, pose=[*TOOL, 0.0, 0.0, 0.0, 1.0]))
    assert not planner.configuration(HOME).free
    planner.world()
    assert planner.configuration(HOME).free
    assert planner.plan(to(TURNED)).success


def test_what_the_tool_holds_collides_with_the_world_and_not_with_the_tool(planner):
    wall = box("wall", TOOL[0], TOOL[1], TOOL[2] - 0.32, size=(0.4, 0.4, 0.05))
    planner.world(wall)
    assert planner.configuration(HOME).free
    stick = Obstacle(
        name="stick", kind="cylinder", size=[0.01, 0.3], pose=[0.0, 0.0, 0.16, 0.0, 0.0, 0.0, 1.0], attached_to="arm"
    )
    planner.world(stick, replace=False)
    state = planner.configuration(HOME)
    assert not state.free
    assert {state.first, state.second} == {"stick", "wall"}
    planner.world(Obstacle(name="stick", operation=Obstacle.REMOVE, pose=[0.0] * 7), replace=False)
    assert planner.configuration(HOME).free


def test_a_path_check_names_segment_and_obstacle_and_can_leave_one_out(planner):
    planner.world(POST)
    answer = planner.path([AWAY, AWAY, TURNED])
    assert answer.success
    assert not answer.free
    assert answer.segment == 1
    assert "post" in answer.message
    assert answer.clearance < 0.0
    assert planner.path([AWAY, AWAY, TURNED], ignore=["post"]).free


def test_any_client_proves_a_path_again_from_the_answer_and_the_published_world(planner):
    planner.world(POST)
    path = planner.plan(to(TURNED)).paths[0]
    assert planner.ros.until(lambda: planner.worlds and planner.worlds[-1].stamp == path.certificate.world)
    world = planner.worlds[-1]
    checked = check_path_message(path, world, ROBOT)
    assert checked.valid, checked.reason
    world.obstacles[0].pose[:3] = ROBOT.forward(TURNED).translation
    assert "is not free" in check_path_message(path, world, ROBOT).reason


def test_a_request_names_margin_fingers_and_what_is_ignored_or_may_touch(planner):
    block = box("block", *TOOL, size=(0.03, 0.03, 0.03))
    planner.world(block)
    hand = ("gripper", "left_finger", "right_finger")
    assert planner.plan(to(TURNED, start=HOME)).outcome == "start collides"
    assert planner.plan(to(TURNED, start=HOME), ignore=["block"]).success
    allowed = [Contact(first="block", second=link) for link in hand]
    touching = planner.plan(to(TURNED, start=HOME), allowed=allowed)
    assert touching.success, touching.message
    assert {(c.first, c.second) for c in touching.paths[0].certificate.allowed} == {("block", link) for link in hand}
    assert planner.plan(to(TURNED, start=HOME), allowed=[Contact(first="block", second="link6")]).outcome == (
        "start collides"
    )
    planner.world(box("block", TOOL[0], TOOL[1], TOOL[2] - 0.1, size=(0.03, 0.03, 0.03)))
    assert planner.plan(to(TURNED, start=HOME), margin=[0.01]).success
    assert planner.plan(to(TURNED, start=HOME), margin=[0.15]).outcome == "start collides"
    closed = planner.plan(to(TURNED), finger_names=["left_finger_joint"], finger_positions=[0.0])
    assert list(closed.paths[0].certificate.finger_names) == ["left_finger_joint"]
    for wrong, words in (
        ({"finger_names": ["thumb"], "finger_positions": [0.0]}, "thumb"),
        ({"finger_names": ["left_finger_joint"]}, "finger_positions (length)"),
        ({"allowed": [Contact(first="block")]}, "two names"),
        ({"margin": [NAN]}, "margin"),
    ):
        answer = planner.plan(to(TURNED), **wrong)
        assert answer.outcome == "refused"
        assert words in answer.message


SCENE = """
is_diff: true
world:
  collision_objects:
    - {{id: block, header: {{frame_id: {frame}}}, pose: {{position: [{x}, {y}, {z}]}},
       primitives: [{{type: box, dimensions: [0.03, 0.03, 0.03]}}], primitive_poses: [{{position: [0, 0, 0]}}]}}
allowed_collision_matrix:
  entry_names: [block, gripper, left_finger, right_finger]
  entry_values: [{{enabled: [no, {may}, {may}, {may}]}}, {{enabled: [{may}, no, no, no]}},
                 {{enabled: [{may}, no, no, no]}}, {{enabled: [{may}, no, no, no]}}]
"""


def test_a_moveit_scene_decides_what_stands_where_and_what_may_touch(planner, tmp_path):
    file = tmp_path / "scene.yaml"

    def moveit_scene(frame, may):
        file.write_text(SCENE.format(frame=frame, may=may, **dict(zip("xyz", TOOL.tolist(), strict=True))))
        planner.node._on_scene(read_scene(file))

    moveit_scene("base_link", "no")
    assert planner.plan(to(TURNED, start=HOME)).outcome == "start collides"
    assert not planner.configuration(HOME).free
    moveit_scene("base_link", "yes")
    assert planner.plan(to(TURNED, start=HOME)).success
    assert planner.configuration(HOME).free
    assert planner.path([HOME, HOME]).free
    with pytest.raises(InvalidValueError, match="frame_id: 'moon'"):
        moveit_scene("moon", "yes")
    planner.world(box("block", *TOOL, size=(0.03, 0.03, 0.03)))  # another one of that name
    assert planner.plan(to(TURNED, start=HOME)).outcome == "start collides"


def test_a_cloud_blocks_the_straight_path_and_the_path_round_it_keeps_clear_of_its_points(planner):
    points = on_post()
    assert planner.path([AWAY, TURNED]).free
    planner.cloud(points, AWAY)
    assert not planner.path([AWAY, TURNED]).free
    assert planner.path([AWAY, TURNED], ignore=["<cloud>"]).free
    answer = planner.plan(to(TURNED))
    assert answer.success, answer.message
    path = answer.paths[0]
    assert planner.ros.until(lambda: planner.worlds and planner.worlds[-1].stamp == path.certificate.world)
    checked = check_path_message(path, planner.worlds[-1], ROBOT)
    assert checked.valid, checked.reason
    distances = PointDistances(ROBOT, points)
    rows = np.array(path.waypoints).reshape(-1, 6)
    assert min(distances.least(q) for q in path_samples(rows, 0.05)) >= 0.005 - 1e-6  # the margin
    assert min(distances.least(q) for q in path_samples(np.array([AWAY, TURNED]), 0.05)) < 0.0


def test_a_cloud_stands_in_its_frame_and_without_the_robot_s_own_points(planner):
    flipped = on_post() * (1.0, -1.0, -1.0) + (0.0, 0.0, 1.0)  # as the camera above sees it
    planner.cloud(flipped, AWAY, "depth")
    (voxels,) = planner.node._scene.obstacles
    assert np.abs(voxels.places[:, :2].mean(axis=0) - TOOL[:2]).max() < 0.02
    planner.cloud(on_post(), HOME)  # the arm stands in the post
    values = planner.node.health().values
    assert 0 < values["cloud_points_own"] < values["cloud_points"]
    assert values["cloud_voxels"] < len(voxels)


def test_a_cloud_that_cannot_be_used_is_told_and_the_voxels_before_stay(planner):
    planner.cloud(on_post(), AWAY)
    scene, version = planner.node._scene, planner.node._version
    assert planner.node.health().message == "ok"
    for points, fields, words in (
        (on_post(), {"frame": "moon"}, "cloud: header.frame_id: 'moon'"),
        (on_post(), {"point_step": 10}, "field z: offset"),
        (on_post(), {"row_step": 7}, "row_step"),
        (on_post(), {"fields": []}, "cloud: fields"),
        (np.full((5, 3), NAN), {}, "none is finite"),
        (np.empty((0, 3)), {}, "1 or more points"),
    ):
        planner.cloud(points, AWAY, **fields)
        assert words in planner.node.last_refusal
        assert words in planner.node.health().message
        assert (planner.node._scene, planner.node._version) == (scene, version)
    planner.cloud(on_post(), AWAY)
    assert planner.node.health().message == "ok"
    assert planner.node._version == version  # the same voxels: nothing to prove again
    planner.cloud(np.full((5, 3), 40.0), AWAY)  # all outside the region
    assert not planner.node._scene.obstacles


def test_old_clouds_are_refused_and_an_old_cloud_in_force_stays_and_is_told(planner):
    planner.cloud(on_post(), AWAY)
    clouds, scene = planner.node._clouds, planner.node._scene
    for seconds, words in ((-60.0, "allowed: up to cloud_stale"), (3600.0, "in the future")):
        stamp = planner.node.get_clock().now() + Duration(seconds=seconds)
        clouds.receive(serialize_message(cloud_message(on_post(), "world", stamp.to_msg())))
        assert planner.ros.until(lambda words=words: words in planner.node.last_refusal)
    planner.cloud(on_post(), AWAY)
    usual = clouds._options
    clouds._options = replace(usual, stale=0.1)
    assert planner.ros.until(lambda: "old; its voxels stay" in planner.node.health().message)
    clouds._options = usual
    assert planner.node._scene == scene


def test_a_million_points_are_taken(planner):
    rng = np.random.default_rng(0)
    planner.cloud(on_post()[rng.integers(0, len(on_post()), 1_000_000)], AWAY)
    assert planner.node.health().values["cloud_points"] == 1_000_000
    assert not planner.path([AWAY, TURNED]).free


def test_the_world_in_force_is_said_and_markers_show_path_cells_and_obstacles(planner):
    planner.world(POST)
    assert planner.ros.until(lambda: [o.name for o in planner.worlds[-1].obstacles] == ["post"])
    planner.markers.clear()
    assert planner.plan(to(TURNED)).success
    wanted = {"path arm", "cells arm", "obstacles"}  # those of the new world alone may come first
    assert planner.ros.until(lambda: any(wanted <= {one.ns for one in array.markers} for array in planner.markers))


def test_callbacks_go_on_while_a_plan_is_made_and_a_dead_worker_is_replaced(planner):
    os.kill(planner.node._worker.pid, signal.SIGKILL)
    pending = planner.ros.begin(PlanPath, "cspace_planner/plan", timeout=200.0, goals=[to(TURNED)])
    planner.world(POST)  # answered by the node while its worker starts again
    first = pending()
    again = first if first.success else planner.plan(to(TURNED))
    assert again.success, again.message
    assert planner.node._worker.starts == 2
    assert rclpy.ok()
