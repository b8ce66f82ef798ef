"""Links of the plan queue that go round what stands in the way, and plan points in collision coloured ahead."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import Kinematics, Reach, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.cspace.geometry import box, clearance, cylinder, floor, link_poses_of, scene_of, sphere, world_of
from telerobot_nodes.cspace.service import CartesianPathPlanner, InProcessPlanner
from telerobot_nodes.cspace.service.in_process_planner import LOADING
from telerobot_nodes.errors import JoinError, PlanningError
from telerobot_nodes.plan.queue.path_connector import PathConnector, straight
from telerobot_nodes.plan.shaping import TimeBaseConfig
from telerobot_nodes.simulation import ForwardSimulator

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)
POST = cylinder("post", 0.03, 0.6, (0.55, 0.0, 0.3))


def tool(x, y, z):
    """The home orientation elsewhere."""
    pose = pose_from_se3(ROBOT.forward(HOME))
    pose[:3] = x, y, z
    return pose


LEFT, RIGHT = tool(0.55, -0.22, 0.5), tool(0.55, 0.22, 0.5)


@pytest.fixture(scope="module")
def loaded():
    copy = InProcessPlanner({"arm": load_robot("arm")})
    copy.load()
    return copy


@pytest.fixture
def copy(loaded):
    loaded.set_scene(scene_of([POST, floor(height=-0.05)]))
    return loaded


@pytest.fixture
def way(copy):
    planner = CartesianPathPlanner(ROBOT, copy)
    planner.arm_at(Kinematics(ROBOT).solve_path(LEFT.reshape(1, 7), HOME)[0])
    return planner


def least_clearance(geometry, poses, seed):
    """Of every pose, by the joints the arm follows it with."""
    scratch, world = link_poses_of(geometry.arm), world_of([POST])
    return min(clearance(geometry.arm, world, scratch, q) for q in Kinematics(ROBOT).solve_path(poses, seed))


@pytest.mark.lengthy
def test_a_link_goes_round_a_post_that_stands_in_the_straight_way(way, arm):
    assert "post" in way.blocked(straight(LEFT, RIGHT))
    connector = PathConnector(TimeBaseConfig(), 0.02, Reach(ROBOT), way.blocked, way)
    timed = connector.connect(LEFT, RIGHT)
    assert timed.pose[-1] == pytest.approx(RIGHT, abs=1e-9)
    poses = np.vstack([LEFT, timed.pose])
    assert np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1).max() < 0.02
    assert least_clearance(arm, poses, way._joints) > 0.0
    assert least_clearance(arm, straight(LEFT, RIGHT), way._joints) < 0.0


def test_a_free_straight_way_is_not_blocked_and_an_empty_scene_blocks_nothing(way, copy):
    assert way.blocked(straight(LEFT, tool(0.55, -0.25, 0.55))) == ""
    copy.set_scene(scene_of([]))
    assert way.blocked(straight(LEFT, RIGHT)) == ""


def bent(wrist):
    q = HOME.copy()
    q[4] = wrist
    return q


@pytest.mark.parametrize("scene", [[], [floor(height=-0.05)]])
@pytest.mark.parametrize(("wrist", "free"), [(1.0, True), (1.35, True), (1.6, False)])
def test_a_link_may_bend_the_wrist_until_the_arm_touches_itself_with_and_without_obstacles(copy, scene, wrist, free):
    copy.set_scene(scene_of(scene))
    planner = CartesianPathPlanner(ROBOT, copy)
    planner.arm_at(bent(0.8))
    start, goal = (pose_from_se3(ROBOT.forward(bent(w))) for w in (0.8, wrist))
    blocked = planner.blocked(straight(start, goal))
    assert blocked == ("" if free else "link 4 and link 6 of the arm would touch")


def test_a_link_into_an_obstacle_is_refused_with_pair_and_depth(way, copy):
    copy.set_scene(scene_of([box("crate", (0.2, 0.2, 0.2), RIGHT[:3])]))
    connector = PathConnector(TimeBaseConfig(), 0.02, Reach(ROBOT), way.blocked, way)
    with pytest.raises(JoinError, match=r"goal collides.*crate.*mm inside"):
        connector.connect(LEFT, RIGHT)


def test_until_it_is_loaded_the_copy_calls_nothing_free():
    copy = InProcessPlanner({"arm": ROBOT})
    copy.set_scene(scene_of([POST]))
    assert copy.check_path("arm", np.array([HOME, HOME]), 0.01, frozenset()) == LOADING
    with pytest.raises(PlanningError, match=LOADING):
        copy.plan_joints("arm", HOME, HOME)


def test_a_path_is_checked_with_the_clearance_asked_for_and_without_what_is_ignored(copy):
    joints = Kinematics(ROBOT).solve_path(straight(LEFT, RIGHT), HOME)
    assert "post" in copy.check_path("arm", joints, 0.0, frozenset())
    assert copy.check_path("arm", joints, 0.0, frozenset({"post"})) == ""
    contacts = joints[:10]
    assert copy.check_path("arm", contacts, 0.005, frozenset()) == ""
    assert "post" in copy.check_path("arm", contacts, 0.3, frozenset())


def test_joint_via_points_go_round_and_keep_the_clearance(copy):
    start, goal = (Kinematics(ROBOT).solve_path(pose.reshape(1, 7), HOME)[0] for pose in (LEFT, RIGHT))
    path = copy.plan_joints("arm", start, goal, clearance=0.03)
    assert path[0] == pytest.approx(start)
    assert path[-1] == pytest.approx(goal)
    assert copy.check_path("arm", path, 0.029, frozenset()) == ""
    assert len(copy.plan_joints("arm", start, goal, ignore=frozenset({"post"}))) == 2


@pytest.mark.lengthy
def test_plan_points_in_collision_are_coloured_and_the_pair_is_said_and_a_changed_world_is_seen(copy):
    simulator = ForwardSimulator(ROBOT, copy)
    simulator.start(Kinematics(ROBOT).solve_path(LEFT.reshape(1, 7), HOME)[0])
    poses = straight(LEFT, RIGHT)
    simulator.append(1, 0.02 * np.arange(1, len(poses) + 1), poses)
    while simulator.check():
        pass
    hit = simulator.line(len(poses)).kinds == ConflictKind.COLLISION
    assert 3 < hit.sum() < len(poses) - 3
    assert not hit[:3].any()
    assert "post" in simulator.conflicts().text
    copy.set_scene(scene_of([floor(height=-0.05)]))
    simulator.recheck()
    while simulator.check():
        pass
    assert not (simulator.line(len(poses)).kinds == ConflictKind.COLLISION).any()
    assert simulator.conflicts().count == 0


@pytest.mark.parametrize("wrist", [-1.3, 1.3])
def test_a_bent_wrist_touches_nothing_of_the_arm_though_the_balls_that_cover_it_overlap(copy, wrist):
    q = HOME.copy()
    q[4] = wrist
    assert copy.check_path("arm", np.array([q, q]), 0.0, frozenset()) == ""
    assert copy.collision(q) == ("", 0.0)


def test_configurations_that_are_checked_together_collide_as_each_does_alone(copy):
    copy.set_scene(scene_of([floor(height=0.1), sphere("ball", 0.15, [0.45, 0.2, 0.4])]))
    path = np.random.default_rng(1).uniform(ROBOT.limits.lower, ROBOT.limits.upper, (200, ROBOT.dof))
    path[:50] = HOME + 0.01 * np.arange(50)[:, None]  # neighbours, most of them free
    found = copy.collisions(path)
    service = copy._asked()
    assert found == [copy._at(service.planner("arm", margin=0.0), q) for q in path]
    hits = sum(bool(bodies) for bodies, _ in found)
    assert 20 < hits < 180
    assert found[0] == ("", 0.0)


def test_an_arm_that_touches_itself_is_said_to(copy):
    q = HOME.copy()
    q[4] = ROBOT.limits.upper[4]
    assert copy.collision(q) == ("link 4 and link 6 of the arm", 0.0)
