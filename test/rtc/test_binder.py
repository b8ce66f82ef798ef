"""Numbers of primitives: limits tightened by the command, constraints kept along the whole path, refusals with why."""

import numpy as np
import pytest

from telerobot_nodes.core.values.frames import pose_distance
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.skills import Primitive, Report, Space, Stop, Trajectory


def first(cell, text):
    report = cell.run(text)
    assert report.outcome == "succeeded", report
    return cell.executor.sent[-1]


def tool(cell, primitive):
    points = primitive.trajectory.points
    if primitive.trajectory.space is Space.TASK:
        return points
    return np.array([cell.checks.kinematics.forward(primitive.subsystem, q) for q in points])


TURN = "move left_arm to (0.4, 0.0, 0.6, 0.7071068, 0.7071068, 0, 0)"


def test_a_kept_pose_is_kept_along_the_whole_path(cell):
    poses = tool(cell, first(cell, "move left_arm to dock maintain pose-during-motion"))
    assert max(pose_distance(poses[0], pose)[1] for pose in poses) < 0.05
    report = cell.run(TURN + " maintain pose-during-motion")
    assert "pose-during-motion cannot be kept" in report.reason
    assert first(cell, TURN + " maintain upright")


def test_what_is_upright_does_not_tilt(cell):
    report = cell.run("move left_arm to (0.4, 0.0, 0.6, 0, 0.9689124, 0, 0.2474040) maintain upright")
    assert "upright cannot be kept" in report.reason


def test_a_slower_speed_and_a_gentler_acceleration_take_longer(cell):
    plain = first(cell, "move left_arm to dock").trajectory.duration
    first(cell, "move left_arm to home")
    gentle = first(cell, "move left_arm to dock maintain acceleration 0.05")
    assert gentle.trajectory.duration > plain
    assert 1.0 < gentle.parameters["acc_time"] <= 0.5 * gentle.parameters["time_vel_val"]


def test_limits_are_tightened_and_never_widened(cell):
    assert first(cell, "move left_arm to dock maintain force 3").parameters["max_force_thres"] == 3.0
    assert first(cell, "move left_arm to home maintain force 500").parameters["max_force_thres"] == 40.0
    assert first(cell, "move left_arm to dock unless force > 7 N then stop").parameters["max_force_thres"] == 7.0
    assert first(cell, "move left_arm to home unless torque >= 2 then stop").parameters["max_torque_thres"] == 2.0
    assert first(cell, "hold left_arm for 1 s guarded").parameters["max_force_thres"] == 10.0


def test_the_commands_time_bounds_the_primitives(cell):
    assert first(cell, "move left_arm to dock timeout 20 s").parameters["end_time"] == 20.0


def test_the_tool_asked_for_must_be_the_one_on_the_arm(cell):
    assert first(cell, "move left_arm to dock tool fingers")
    assert "not driver" in cell.run("move left_arm to home tool driver").reason


def test_the_law_is_that_of_the_step(cell):
    assert first(cell, "move left_arm to dock mode position").law == "position"
    assert first(cell, "comply left_arm along x mode compliant").law == "compliant"


def test_directions_are_meant_in_the_frame_given(cell):
    start = cell.database.view.pose("left_arm")[:3]
    first(cell, "move left_arm by 5 cm along z frame tool")
    assert cell.database.view.pose("left_arm")[2] == pytest.approx(start[2] - 0.05)
    first(cell, "move left_arm by 5 cm up")
    assert cell.database.view.pose("left_arm")[2] == pytest.approx(start[2])


def test_the_camera_looks_from_where_it_is_asked_to(cell):
    report = cell.run("inspect module from (0.2, 0, 0.9, 0, 0, 0, 1)")
    assert report.outcome == "succeeded"
    assert cell.executor.sent[0].parameters["camera_position"] == pytest.approx((0.2, 0, 0.9))


def test_joints_of_the_wrong_number_are_refused(cell):
    assert "6 joints, not 2" in cell.run("move left_arm to joints (1 m, 2 m)").reason


def test_leaving_a_limit_is_always_allowed(cell):
    over = (0.3, -0.2, 0.7, 0.0, 7.0, 0.0)  # beyond the wrist's limit of 6.5
    cell.executor.joints["left_arm"] = np.array(over)
    pose = cell.checks.kinematics.forward("left_arm", over)
    from telerobot_nodes.rtc.decision import AnalysisUnit

    AnalysisUnit(cell.library, cell.database, cell.checks).observe("left_arm", over, pose, 0.0)
    assert cell.run("move left_arm to joints (0.3 m, -0.2 m, 0.7 m, 0, 7.2 rad, 0)").outcome == "failed"
    assert cell.run("move left_arm to joints (0.3 m, -0.2 m, 0.7 m, 0, 6.8 rad, 0)").outcome == "succeeded"
    assert cell.run("move left_arm to home").outcome == "succeeded"


STOPS = (Stop("reached", "end"), Stop("timeout", "end_time"))


def make(**changes):
    values = {
        "number": 1,
        "command": 1,
        "step": "s",
        "kind": "move_free",
        "subsystem": "left_arm",
        "executive": "joint_guarded",
        "law": "position",
        "trajectory": Trajectory(Space.JOINT, np.zeros((2, 6))),
        "stops": STOPS,
    }
    return Primitive(**(values | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stops": (Stop("reached", "end"),)}, "timeout"),
        ({"stops": (*STOPS, Stop("reached", "again"))}, "each outcome once"),
        ({"parameters": {"tr_tn_dest": (1.0, 2.0)}}, "tr_tn_dest"),
        ({"parameters": {"max_force_thres": float("nan")}}, "max_force_thres"),
        ({"parameters": {"end_time": "soon"}}, "end_time"),
    ],
)
def test_a_primitive_that_cannot_be_is_refused(changes, says):
    with pytest.raises(InvalidValueError, match=says):
        make(**changes)


def test_primitives_cannot_be_changed():
    primitive = make(parameters={"end_time": 3.0})
    with pytest.raises(TypeError):
        primitive.parameters["end_time"] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        primitive.trajectory.points[0, 0] = 1.0


@pytest.mark.parametrize(
    "values", [{"outcome": ""}, {"outcome": "x", "pose": (1.0,)}, {"outcome": "x", "joints": (float("inf"),)}]
)
def test_a_report_that_cannot_be_is_refused(values):
    with pytest.raises(InvalidValueError):
        Report(1, **values)


def test_a_reflex_that_does_not_stop_goes_with_the_report_function(cell):
    text = "move left_arm to dock unless force > 5 then report unless force > 8 then slow to 0.02 m/s"
    primitive = first(cell, text + " unless force > 12 then hold")
    events = (("force > 5", "report"), ("force > 8", "slow to 0.02 m/s"), ("force > 12", "hold"))
    assert primitive.report.events == events
    assert not [stop for stop in primitive.stops if stop.outcome.startswith("reflex")]


@pytest.mark.parametrize(
    ("joints", "says"),
    [
        ("30 deg, -0.2 m, 0.7 m, 0, 1 rad, 0", "joint 1 of left_arm: deg is no unit here; a number of length is meant"),
        ("0.3 m, -0.2 m, 0.7 m, 0, 5 cm, 0", "joint 5 of left_arm: cm is no unit here; a number of angle is meant"),
    ],
)
def test_a_joint_that_turns_is_given_as_an_angle_and_one_that_slides_as_a_length(cell, joints, says):
    report = cell.run(f"move left_arm to joints ({joints})")
    assert report.outcome == "failed"
    assert says in report.reason
    assert cell.executor.sent == []
