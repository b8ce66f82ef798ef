"""MoveIt's requests: start, fingers, goals of joints or of a link, and what cannot be planned, refused by name."""

import math

import numpy as np
import pinocchio as pin
import pytest
import yaml

from telerobot_nodes.core.robot import load_robot, with_srdf
from telerobot_nodes.cspace.covering import name_pair
from telerobot_nodes.cspace.scenes import Frames, fingers_of, load_problem, load_scene
from telerobot_nodes.cspace.service import PlanningService
from telerobot_nodes.errors import ModelError, ParameterFileError

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)
GOAL = HOME + np.array([0.3, -0.1, 0.1, 0.2, 0.1, 0.0])
OPEN = {"left_finger_joint": 0.03, "right_finger_joint": 0.03}


@pytest.fixture
def problem(tmp_path):
    """The problem of a request, and of a scene if one is given."""

    def load(scene=None, robot=ROBOT, **fields):
        request, around = tmp_path / "request.yaml", tmp_path / "scene.yaml"
        request.write_text(yaml.safe_dump(fields))
        if scene is not None:
            around.write_text(yaml.safe_dump(scene))
        return load_problem(robot, request, around if scene is not None else None)

    return load


def state(q=HOME, **others):
    values = dict(zip(ROBOT.joint_names, q.tolist(), strict=True)) | others
    return {"joint_state": {"name": list(values), "position": list(values.values())}}


def joint_goal(q=GOAL, names=ROBOT.joint_names):
    rows = zip(names, q.tolist(), strict=True)
    return {"joint_constraints": [{"joint_name": name, "position": value} for name, value in rows]}


def pose_goal(T, link="tool", frame="world", offset=(0.0, 0.0, 0.0), tolerance=(0.0, 0.0, 0.0)):
    middle = {"position": T.act(np.array(offset)).tolist()}
    region = {"primitives": [{"type": "sphere", "dimensions": [0.001]}], "primitive_poses": [middle]}
    header = {"header": {"frame_id": frame}, "link_name": link}
    about = {f"absolute_{axis}_axis_tolerance": value for axis, value in zip("xyz", tolerance, strict=True)}
    turn = pin.Quaternion(T.rotation).coeffs().tolist()
    return {
        "position_constraints": [{**header, "target_point_offset": list(offset), "constraint_region": region}],
        "orientation_constraints": [{**header, "orientation": turn, **about}],
    }


def test_a_joint_goal_in_any_order_with_other_joints_in_the_state(problem):
    mixed = state(elbow_of_another=1.0)
    for key in ("name", "position"):
        mixed["joint_state"][key].reverse()
    found = problem(start_state=mixed, goal_constraints=[joint_goal(GOAL[::-1], ROBOT.joint_names[::-1])],
                    allowed_planning_time=5.0, max_velocity_scaling_factor=0.5)  # fmt: skip
    (request,) = found.requests
    assert request.goals[0].start == pytest.approx(HOME)
    assert request.goals[0].joints == pytest.approx(GOAL)
    assert (request.budget, request.speed) == (5.0, 0.5)
    assert request.fingers == {}


def test_the_state_of_the_request_counts_before_that_of_the_scene(problem):
    scene = {"robot_state": state(HOME + 0.1, **OPEN)}
    (request,) = problem(scene, goal_constraints=[joint_goal()]).requests
    assert request.goals[0].start == pytest.approx(HOME + 0.1)
    assert request.fingers == pytest.approx(OPEN)
    (request,) = problem(scene, start_state=state(), goal_constraints=[joint_goal()]).requests
    assert request.goals[0].start == pytest.approx(HOME)
    assert request.fingers == pytest.approx(OPEN)


def test_a_goal_of_the_tool_is_where_frame_link_and_offset_put_it(problem):
    T = ROBOT.forward(GOAL)
    (request,) = problem(start_state=state(), goal_constraints=[pose_goal(T)]).requests
    assert pin.XYZQUATToSE3(request.goals[0].pose).homogeneous == pytest.approx(T.homogeneous)
    frames = Frames(ROBOT, HOME)
    T_tool_gripper = frames.fixed_to_tool("gripper", "")
    T_base = frames.pose("base_link", "")
    goal = pose_goal(T_base.inverse() * T * T_tool_gripper, "gripper", "base_link", (0.01, 0.02, 0.03))
    (request,) = problem(start_state=state(), goal_constraints=[goal]).requests
    assert pin.XYZQUATToSE3(request.goals[0].pose).homogeneous == pytest.approx(T.homogeneous)


def test_the_tolerance_of_an_orientation_is_kept(problem):
    goal = pose_goal(ROBOT.forward(GOAL), tolerance=(0.1, 0.2, 6.3))
    (request,) = problem(start_state=state(), goal_constraints=[goal]).requests
    assert request.goals[0].tolerance == pytest.approx([0.1, 0.2, math.pi])


@pytest.mark.lengthy
def test_several_goals_share_the_time_and_any_of_them_is_enough(problem):
    block = {"collision_objects": [{
        "id": "block", "header": {"frame_id": "world"},
        "primitives": [{"type": "box", "dimensions": [0.1, 0.1, 0.1]}],
        "primitive_poses": [{"position": ROBOT.forward(GOAL).translation.tolist()}]}]}  # fmt: skip
    free = HOME - np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    found = problem({"world": block}, start_state=state(), allowed_planning_time=4.0,
                    goal_constraints=[joint_goal(GOAL), joint_goal(free)])  # fmt: skip
    assert [request.budget for request in found.requests] == [2.0, 2.0]
    answer = found.solve(PlanningService({"arm": ROBOT}))
    assert answer.found, answer.message
    assert answer.paths[0].waypoints[-1] == pytest.approx(free)
    alone = problem({"world": block}, start_state=state(), goal_constraints=[joint_goal(GOAL)])
    assert alone.solve(PlanningService({"arm": ROBOT})).result.value == "goal collides"


@pytest.mark.lengthy
def test_a_contact_that_the_matrix_allows_lets_the_gripper_around_its_target(problem):
    tool = ROBOT.forward(HOME)
    target = {"collision_objects": [{
        "id": "target", "header": {"frame_id": "world"},
        "primitives": [{"type": "box", "dimensions": [0.02, 0.02, 0.02]}],
        "primitive_poses": [{"position": tool.translation.tolist()}]}]}  # fmt: skip
    names = ["target", "gripper", "left_finger", "right_finger"]
    rows = [{"enabled": [False, True, True, True]}] + [{"enabled": [True, False, False, False]}] * 3
    matrix = {"entry_names": names, "entry_values": rows}
    fields = {"start_state": state(), "goal_constraints": [joint_goal()]}
    refused = problem({"world": target}, **fields)
    assert refused.solve(PlanningService({"arm": ROBOT})).result.value == "start collides"
    allowed = problem({"world": target, "allowed_collision_matrix": matrix}, **fields)
    assert allowed.requests[0].allowed == {name_pair("target", name) for name in names[1:]}
    answer = allowed.solve(PlanningService({"arm": ROBOT}))
    assert answer.found, answer.message
    assert answer.paths[0].proof.allowed == allowed.requests[0].allowed


def test_what_is_attached_in_the_start_state_is_held(problem):
    part = {"id": "part", "header": {"frame_id": "tool"}, "primitives": [{"type": "sphere", "dimensions": [0.02]}]}
    holding = state() | {"attached_collision_objects": [{"link_name": "gripper", "object": part}]}
    found = problem(start_state=holding, goal_constraints=[joint_goal()])
    assert [a.name for a in found.scene.attachments("arm")] == ["part"]


WITHOUT_ELBOW = {"joint_state": {"name": list(ROBOT.joint_names[1:]), "position": HOME[1:].tolist()}}
MOVED_BASE = {"multi_dof_joint_state": {"joint_names": ["b"], "transforms": [{"translation": [1.0, 0.0, 0.0]}]}}
GOALS = {"goal_constraints": [joint_goal()]}
HERE = {"start_state": state()}


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        (GOALS, "start_state.joint_state.name"),
        (GOALS | {"start_state": WITHOUT_ELBOW}, f"start_state.joint_state.name.*with {ROBOT.joint_names[0]}"),
        (GOALS | {"start_state": state(HOME + 9.0)}, r"start_state.joint_state.position\[0\]"),
        (GOALS | {"start_state": {"joint_state": {"name": ["a"]}}}, "joint_state.position .length."),
        (GOALS | {"start_state": state() | MOVED_BASE}, "multi_dof_joint_state.transforms"),
        (HERE, "goal_constraints .number."),
        (HERE | {"goal_constraints": [{}]}, r"goal_constraints\[0\]: .*joint_constraints alone"),
        (HERE | {"goal_constraints": [joint_goal(GOAL[1:], ROBOT.joint_names[1:])]},
         rf"goal_constraints\[0\].joint_constraints.*also {ROBOT.joint_names[0]}"),
        (HERE | {"goal_constraints": [joint_goal() | pose_goal(ROBOT.forward(GOAL))]}, r"goal_constraints\[0\]"),
        (HERE | {"goal_constraints": [pose_goal(ROBOT.forward(GOAL), "link3")]}, "link_name: 'link3'"),
        (HERE | {"goal_constraints": [pose_goal(ROBOT.forward(GOAL), frame="moon")]}, "frame_id: 'moon'"),
        (HERE | GOALS | {"path_constraints": pose_goal(ROBOT.forward(GOAL))}, "path_constraints.position_constraints"),
        (HERE | GOALS | {"trajectory_constraints": {"constraints": [joint_goal()]}}, "trajectory_constraints"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_as_it_is_meant_is_refused_by_name(problem, fields, where):
    with pytest.raises(ParameterFileError, match=where):
        problem(**fields)


def test_a_wrong_scene_is_reported_with_the_name_of_its_file(problem):
    wrong = {"world": {"collision_objects": [{"id": "a", "header": {"frame_id": "moon"}}]}}
    with pytest.raises(ParameterFileError, match=r"scene.yaml.*a: frame_id: 'moon'"):
        problem(wrong, **HERE, **GOALS)


def test_joints_that_a_file_rounded_beyond_a_limit_are_put_on_it(problem):
    q = np.array(ROBOT.limits.upper)
    q[1:] = HOME[1:]
    q[0] += 5e-7
    (request,) = problem(start_state=state(q), goal_constraints=[joint_goal()]).requests
    assert request.goals[0].start[0] == ROBOT.limits.upper[0]


GROUPS = """<robot name="{name}"><group name="manipulator">{joints}</group>
<group name="half"><joint name="{first}"/></group></robot>"""


def test_the_group_of_an_srdf_must_be_the_joints_of_the_arm(problem, tmp_path):
    joints = "".join(f'<joint name="{name}"/>' for name in ROBOT.joint_names)
    text = GROUPS.format(name="telerobot_arm", joints=joints, first=ROBOT.joint_names[0])
    (tmp_path / "arm.srdf").write_text(text)
    robot = with_srdf(ROBOT, tmp_path / "arm.srdf")
    assert problem(robot=robot, group_name="manipulator", **HERE, **GOALS).requests
    with pytest.raises(ParameterFileError, match="group_name: 'half'"):
        problem(robot=robot, group_name="half", **HERE, **GOALS)
    (tmp_path / "other.srdf").write_text(text.replace("telerobot_arm", "crane"))
    with pytest.raises(ModelError, match="SRDF of robot 'crane'"):
        with_srdf(ROBOT, tmp_path / "other.srdf")


def test_a_scene_alone_has_the_state_of_its_robot(tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(yaml.safe_dump({"robot_state": state(GOAL, **OPEN)}))
    found = load_scene(ROBOT, file)
    assert found.start == pytest.approx(GOAL)
    assert found.fingers == pytest.approx(OPEN)
    file.write_text("name: empty")
    assert load_scene(ROBOT, file).start is None


def test_joints_of_other_robots_are_no_fingers():
    assert fingers_of(ROBOT, OPEN | {"other": 1.0, ROBOT.joint_names[0]: 0.2}) == OPEN
