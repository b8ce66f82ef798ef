"""The decision unit's node, its parts without a graph: primitives as goals, reasons as outcomes, memory."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
import yaml

from telerobot_nodes.core.protocol import StopCause
from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest
from telerobot_nodes.nodes.decision.contact_limits import ContactLimits, begun_in_contact
from telerobot_nodes.nodes.decision.executive_goals import ExecutiveGoal, goals_of, slowing
from telerobot_nodes.nodes.decision.rtc_subsystems import refuse_shared, robot_of
from telerobot_nodes.rtc.decision import BindPrimitive, ElaborateScript, Job, ParseText
from telerobot_nodes.rtc.elaboration import straight_pieces
from telerobot_nodes.rtc.execution import outcome_of
from telerobot_nodes.rtc.server import Workers
from telerobot_nodes.rtc.skills import Space, Trajectory, load_library
from telerobot_nodes.rtc.world import Item, RobotChecks, SnapshotStore

HERE = pin.SE3.Identity()


@pytest.fixture(scope="module")
def robot():
    return load_robot("arm")


@pytest.fixture(scope="module")
def workers(root, robot):
    library = load_library(root / "config" / "rtc")
    checks = RobotChecks({name: load_robot("arm") for name in library.workcell.arms})
    pose = checks.kinematics.forward("left_arm", robot.home)
    items = [Item("left_arm.joints", tuple(robot.home.tolist())), Item("left_arm.pose", tuple(pose.tolist()))]
    return library, Workers(SnapshotStore(None, [*library.workcell.items, *items]).database, checks)


def first_primitive(workers, text):
    library, room = workers
    request = room.run(Job(1, 1, library, ParseText(text)), 0.0).result.request
    script = room.run(Job(2, 1, library, ElaborateScript(request)), 0.0)
    assert not script.error, script.error
    step = script.result.steps[-1 if text.startswith("touch") else 0]
    job = Job(3, 1, library, BindPrimitive(request, step, 5))
    bound = room.run(job, 0.0)
    assert not bound.error, bound.error
    return bound.result, request


@pytest.mark.lengthy
def test_a_workcell_for_six_joints_does_not_keep_a_robot_of_seven_from_starting(workers):
    library, _ = workers
    arm = library.workcell.arms["left_arm"]
    assert len(arm.home) == 6
    assert robot_of(arm, "panda").dof == 7
    with pytest.raises(InvalidValueError, match=r"arms\.left_arm\.home"):
        robot_of(dataclasses.replace(arm, robot="panda"), "arm")


def test_two_arms_of_one_namespace_are_refused(root):
    """Commands for either would move the same arm."""
    arms = load_library(root / "config" / "rtc").workcell.arms
    refuse_shared(arms, "/")
    twice = {name: dataclasses.replace(arm, namespace="") for name, arm in arms.items()}
    with pytest.raises(InvalidValueError, match=r"arms\.right_arm\.namespace: .*that of left_arm"):
        refuse_shared(twice, "/")
    with pytest.raises(InvalidValueError, match="right"):
        refuse_shared(arms, "/right")  # left_arm has the decision unit's own


TEXTS = {
    "move left_arm to home": ["joint_guarded"],
    "move left_arm to above dock": ["joint_guarded"],
    "move left_arm to above dock via (0.45, 0.0, 0.6)": ["joint_guarded"] * 2,
    "move left_arm by 5 cm up": ["cartesian_guarded"],
    "move left_arm to above dock interpolate task via (0.45, 0.0, 0.6)": ["cartesian_guarded"] * 2,
    "touch table with left_arm": ["move_to_touch"],
    "hold left_arm for 2 s": ["compliant_motion"],
    "teleoperate left_arm": ["teleoperation"],
    "grasp module with left_arm": ["free_grasp"],
    "open gripper with left_arm": ["free_grasp"],
    "close gripper with left_arm": ["free_grasp"],
}


@pytest.mark.parametrize("text", TEXTS)
def test_every_primitive_of_an_arm_is_one_the_executive_takes(workers, robot, text):
    primitive, _ = first_primitive(workers, text)
    goals = goals_of(primitive, robot, HERE)
    assert [goal.name for goal in goals] == TEXTS[text]
    executive = Executive(robot, 0.005)
    for number, goal in enumerate(goals, 1):
        keys, texts = goal.texts
        values = {key: yaml.safe_load(value) for key, value in zip(keys, texts, strict=True)}
        executive.check(PrimitiveRequest(number, goal.name, values))


def test_the_thread_that_hears_halts_looks_for_no_corners(workers, robot, monkeypatch):
    """A worker found them when it bound the primitive; beginning it costs as much as it has corners."""
    text = "move left_arm to above dock interpolate task via (0.45, 0.0, 0.6)"
    primitive, _ = first_primitive(workers, text)
    monkeypatch.setattr(straight_pieces, "_is_straight", lambda poses: pytest.fail("looked for corners"))
    monkeypatch.setattr(straight_pieces, "_is_line", lambda points: pytest.fail("looked for corners"))
    assert len(goals_of(primitive, robot, HERE)) == 2


def test_a_force_is_kept_as_long_as_asked_where_the_arm_already_is(workers, robot):
    """To the executive a motion of no length takes no time."""
    held, _ = first_primitive(workers, "hold left_arm for 4 s")
    here = pose_from_se3(robot.forward(np.array(robot.home)))
    trajectory = Trajectory(Space.TASK, np.array([here, here]), 4.0, (0, 1))
    (goal,) = goals_of(dataclasses.replace(held, trajectory=trajectory), robot, HERE)
    keys, texts = goal.texts
    request = PrimitiveRequest(1, goal.name, dict(zip(keys, map(yaml.safe_load, texts), strict=True)))
    prepared = Executive(robot, 0.005).prepare(request, np.array(robot.home))
    assert prepared.motion.duration == pytest.approx(4.0)


def test_a_pose_is_sent_in_the_world_of_the_arms_own_graph(workers, robot):
    primitive, _ = first_primitive(workers, "move left_arm by 5 cm up")
    T = pin.SE3(np.eye(3), np.array([0.0, -0.8, 0.0]))
    here, moved = (goals_of(primitive, robot, at)[0].values["tr_tn_dest"] for at in (HERE, T))
    np.testing.assert_allclose(np.array(moved[:3]) - here[:3], [0.0, 0.8, 0.0], atol=1e-12)


def fastest_and_hardest(robot, goals):
    """Largest speed [m/s] and acceleration [m/s^2] of the tool, as the executive's nominal motions have it."""
    executive, q, step = Executive(robot, 0.005), np.array(robot.home), 2e-3
    speeds, accelerations = [], []
    for number, goal in enumerate(goals, 1):
        motion = executive.prepare(PrimitiveRequest(number, goal.name, dict(goal.values)), q).motion.motion
        in_joints, tools = hasattr(motion, "q"), []
        for t in np.arange(0.0, motion.duration + step, step):
            motion.sample(t)
            tools.append(robot.forward(motion.q).translation.copy() if in_joints else motion.p.copy())
        velocity = np.diff(tools, axis=0) / step
        speeds.append(np.linalg.norm(velocity, axis=1).max())
        accelerations.append(np.linalg.norm(np.diff(velocity, axis=0) / step, axis=1).max())
        place = motion.q.copy() if in_joints else pin.SE3(motion.R.copy(), motion.p.copy())
        q = place if in_joints else Kinematics(robot).solve(place, q)
    return max(speeds), max(accelerations)


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("move left_arm by 20 cm up maintain speed 0.06", True),
        ("move left_arm by 3 cm up maintain speed 0.1", True),
        ("move left_arm by 1 cm up maintain speed 0.1", False),  # too short to come to it
        ("move left_arm to above dock maintain speed 0.06", True),
        ("move left_arm to above dock via (0.45, 0.0, 0.6) maintain speed 0.06", True),
        ("move left_arm to above dock interpolate task via (0.45, 0.0, 0.6) maintain speed 0.06", True),
        ("move left_arm to above dock maintain upright speed 0.06", True),
        ("move left_arm to (0.55, 0.05, 0.48, 0, 1, 0, 0) via (0.45, 0.0, 0.6) maintain upright speed 0.06", True),
    ],
)
def test_the_tool_never_exceeds_the_speed_asked_for(workers, robot, text, reached):
    """[JPL-RTC section 3.1] Also where the ramps are much of the way, and in the fastest part of a joint motion."""
    primitive, _ = first_primitive(workers, text)
    most = float(text.rpartition(" ")[2])
    speed, _ = fastest_and_hardest(robot, goals_of(primitive, robot, HERE))
    assert speed < 1.005 * most
    assert (speed > 0.97 * most) == reached


@pytest.mark.parametrize(
    ("way", "reached"),
    [
        ("by 1 cm up", 0.9),
        ("by 20 cm up", 0.9),
        ("to above dock", 0.6),  # not straight: a part of the acceleration is across
        ("to (0.45, -0.30, 0.5, 0, 1, 0, 0)", 0.4),
        ("to (0.45, -0.30, 0.5, 0, 1, 0, 0) via (0.45, 0.0, 0.6)", 0.4),
        ("to (0.45, -0.30, 0.5, 0, 1, 0, 0) maintain upright", 0.9),
    ],
)
def test_the_tool_never_exceeds_the_acceleration_asked_for(workers, robot, way, reached):
    """Also across its way, in a joint motion that turns the tool about an axis of the arm."""
    primitive, _ = first_primitive(workers, f"move left_arm {way} speed 0.5 maintain acceleration 0.05")
    _, acceleration = fastest_and_hardest(robot, goals_of(primitive, robot, HERE))
    assert reached * 0.05 < acceleration < 1.01 * 0.05


def test_the_acceleration_across_the_way_counts(workers, robot):
    """The base turns by 2 rad: at full speed the tool goes round in a circle."""
    joints = ", ".join(f"{angle:.6f} rad" for angle in robot.home + np.array([2.0, 0, 0, 0, 0, 0]))
    primitive, _ = first_primitive(workers, f"move left_arm to joints ({joints}) speed 0.5 maintain acceleration 0.05")
    _, acceleration = fastest_and_hardest(robot, goals_of(primitive, robot, HERE))
    assert 0.4 * 0.05 < acceleration < 1.01 * 0.05


def test_what_is_kept_upright_goes_straight_without_a_stop_on_the_way(workers, robot):
    primitive, _ = first_primitive(workers, "move left_arm to (0.45, -0.30, 0.5, 0, 1, 0, 0) maintain upright")
    (goal,) = goals_of(primitive, robot, HERE)
    assert goal.name == "cartesian_guarded"


@pytest.mark.parametrize("text", ["move left_arm to above dock", "move left_arm by 20 cm up"])
def test_the_velocity_that_a_skill_file_gives_is_sent_as_it_is(workers, robot, text):
    primitive, _ = first_primitive(workers, text)
    values = {**primitive.parameters, "time_vel_sel": "velocity", "time_vel_val": 0.01}
    (goal,) = goals_of(dataclasses.replace(primitive, parameters=values), robot, HERE)
    assert (goal.values["time_vel_sel"], goal.values["time_vel_val"]) == ("velocity", 0.01)


def test_each_piece_is_slowed_by_itself(workers, robot):
    """A turn in place does not move the tool: it goes on as it was; the way after it is slowed down."""
    turned = "(0.45, 0.0, 0.6, 0.2, 0.9797959, 0, 0)"
    text = f"move left_arm to (0.55, 0.0, 0.6, 0.2, 0.9797959, 0, 0) interpolate task via {turned} speed 0.1"
    primitive, _ = first_primitive(workers, text)
    here = np.array([0.45, 0.0, 0.6, 0.0, 1.0, 0.0, 0.0])
    points = np.array([here, *primitive.trajectory.points[list(primitive.trajectory.corners)][1:]])
    trajectory = Trajectory(Space.TASK, points, 2.6, (0, 1, 2), (1.2, 1.4), (0.2, 0.2))
    values = {**primitive.parameters, "time_vel_val": trajectory.duration}
    primitive = dataclasses.replace(primitive, trajectory=trajectory, parameters=values)
    goals, slower = goals_of(primitive, robot, HERE), slowing(primitive, robot, 0.02)
    assert slower.change(2) is None
    assert slower.goal(goals[0], 2) == goals[0]
    assert float(slower.change(1)[1][1]) == pytest.approx(0.02)
    assert slower.goal(goals[1], 1).values["time_vel_val"] == pytest.approx(0.1 / 0.02 + 0.2)


@pytest.mark.parametrize(
    "text",
    [
        "move left_arm by 20 cm up speed 0.1",
        "move left_arm to above dock speed 0.1",
        "move left_arm to above dock interpolate task via (0.45, 0.0, 0.6) speed 0.1",
        "touch table with left_arm speed 0.1",
    ],
)
def test_a_motion_that_is_slowed_down_is_never_made_faster(workers, robot, text):
    primitive, _ = first_primitive(workers, text)
    goals = goals_of(primitive, robot, HERE)
    for speed in (0.2, 1.0, 100.0):
        assert slowing(primitive, robot, speed) is None
    slower = slowing(primitive, robot, 0.01)
    again = [slower.goal(goal, len(goals) - i) for i, goal in enumerate(goals)]
    assert fastest_and_hardest(robot, again)[0] == pytest.approx(0.01, rel=0.01)
    going_on = ExecutiveGoal(goals[0].name, {**goals[0].values, **dict(zip(*slower.change(len(goals)), strict=True))})
    going_on.values["time_vel_val"] = float(going_on.values["time_vel_val"])
    assert fastest_and_hardest(robot, [going_on])[0] <= 0.0101
    executive = Executive(robot, 0.005)
    for number, goal in enumerate(again, 1):
        executive.check(PrimitiveRequest(number, goal.name, dict(goal.values)))


def test_a_motion_that_stands_or_only_turns_needs_no_slowing(workers, robot):
    held, _ = first_primitive(workers, "hold left_arm for 4 s")
    assert slowing(held, robot, 0.001) is None


def test_the_thresholds_of_a_motion_begun_in_a_contact_count_from_there():
    goal = ExecutiveGoal("cartesian_guarded", {"max_force_thres": 10.0, "max_torque_thres": 3.0})
    pressed = begun_in_contact(goal, (0.0, 30.0, -40.0, 0.0, 1.0, 0.0))
    assert dict(pressed.values) == {"max_force_thres": 60.0, "max_torque_thres": 3.0}
    holding = ExecutiveGoal(goal.name, {**goal.values, "mass_prop": (0.8, 0.0, 0.0, 0.0)})
    assert begun_in_contact(holding, (0.0, 0.0, 9.0, 0.0, 0.0, 0.0)).values == holding.values  # its weight is none
    touch = ExecutiveGoal("move_to_touch", {"max_force_thres": 4.0})
    assert begun_in_contact(touch, (0.0, 0.0, 9.0, 0.0, 0.0, 0.0)).values == touch.values  # it is there to feel it
    assert begun_in_contact(goal, ()).values == goal.values
    preset = begun_in_contact(
        ExecutiveGoal("joint_path", {}), (0.0, 0.0, 19.0, 0.0, 0.0, 0.0)
    )  # 20 N where none is given
    assert dict(preset.values) == {"max_force_thres": 39.0}


def begun_thresholds(workers, text, kept=False):
    """`max_force_thres` of a first motion that begins with 12 N; `kept`: after a step that kept a force."""
    limits = ContactLimits()
    primitive, request = first_primitive(workers, text)
    if kept:
        press = dataclasses.replace(primitive, parameters={"force_setpoints": (0.0, 0.0, 6.0, 0.0, 0.0, 0.0)})
        limits.of(ExecutiveGoal("compliant_motion", {}), press, request, ())
    goal = ExecutiveGoal("cartesian_guarded", {"max_force_thres": primitive.parameters["max_force_thres"]})
    return limits.of(goal, primitive, request, (0.0, 0.0, 12.0, 0.0, 0.0, 0.0)).values["max_force_thres"]


def test_a_persons_own_limit_stays_but_the_force_that_the_command_kept_is_no_limit_for_the_way_off(workers):
    way = "move left_arm by 5 cm up"
    assert begun_thresholds(workers, way) == 22.0
    assert begun_thresholds(workers, f"{way} maintain force 8 N") == 8.0
    assert begun_thresholds(workers, f"{way} unless force > 8 then stop") == 8.0
    assert begun_thresholds(workers, f"{way} maintain force 8 N", kept=True) == 20.0
    assert begun_thresholds(workers, f"{way} unless signal lamp then stop") == 22.0


@pytest.mark.parametrize("reason", [r for r in Termination if r is not Termination.RUNNING])
@pytest.mark.parametrize("text", ["move left_arm to home", "touch table with left_arm", "hold left_arm for 2 s"])
def test_every_reason_of_the_executive_means_an_outcome_the_tables_know(workers, text, reason):
    library, _ = workers
    primitive, request = first_primitive(workers, text)
    outcome = outcome_of(primitive, request, reason.name.lower())
    known = {stop.outcome for kind in library.kinds.values() for stop in kind.stops}
    assert outcome in known


def test_a_threshold_set_by_a_reflex_means_that_reflex(workers):
    primitive, request = first_primitive(workers, "move left_arm to home unless force > 5 then stop")
    assert outcome_of(primitive, request, "max_force") == "reflex_1"
    assert outcome_of(primitive, request, "max_torque") == "collision"


@pytest.mark.parametrize(
    ("cause", "outcome"),
    [
        (StopCause.STALE_JOINTS, "sensor_loss"),
        (StopCause.HARDWARE, "sensor_loss"),
        (StopCause.HALT, "halted"),
        (StopCause.REQUEST, "halted"),
        (StopCause.NONE, "halted"),
    ],
)
def test_a_stop_that_nobody_asked_for_is_no_halt(workers, cause, outcome):
    primitive, request = first_primitive(workers, "move left_arm to home")
    assert outcome_of(primitive, request, "external_stop", cause) == outcome
