"""Recorded hands: read exactly, refused clearly, scaled to reach; jumps stay in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.graph import Qos
from telerobot_nodes.operator.devices import HandRecording, box_reach, device_motion, fit, load_hand
from telerobot_nodes.operator.devices.hand_fit import MARGIN, jump_free, jumps
from telerobot_nodes.operator.devices.synthetic_hand import JUMP, JUMP_TIME, synthetic_hand, write
from telerobot_nodes.operator.recording import BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import message_types

REPOSITORY = Path(__file__).resolve().parents[3]
DEMO = REPOSITORY / "config" / "hands" / "demo_hand.csv"
RECORDED = sorted((REPOSITORY.parent / "shared" / "data" / "hand").glob("*.csv"))
HEADER = "t[s],x[m],y[m],z[m]\n"


def csv_file(tmp_path, text):
    path = tmp_path / "hand.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def everywhere(_offsets):
    return True


def test_a_csv_file_is_read_as_it_is(tmp_path):
    hand = load_hand(csv_file(tmp_path, HEADER + "5.0,1,2,3\n5.01,1.1,2,3\n5.02,1.2,2,3\n"))
    np.testing.assert_allclose(hand.time, [0.0, 0.01, 0.02], atol=1e-12)
    np.testing.assert_array_equal(hand.position, [[1, 2, 3], [1.1, 2, 3], [1.2, 2, 3]])
    assert hand.duration == pytest.approx(0.02)
    with pytest.raises(ValueError, match="read-only"):
        hand.position[0, 0] = 9.0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "hand.csv:1: columns"),
        (HEADER, "samples"),
        (HEADER + "0,1,2,3\n", "samples"),
        ("t,x,y,z\n0,1,2,3\n", "hand.csv:1: columns"),
        ("t[s],x[m],y[m]\n0,1,2\n", "hand.csv:1: columns"),
        (HEADER + "0,1,2,3\n0.1,1,2\n", "hand.csv:3: columns"),
        (HEADER + "0,1,2,3\n0.1,1,2,3,4\n", "hand.csv:3: columns"),
        (HEADER + "0,1,2,3\n0.1,nan,2,3\n", r"hand.csv:3: x\[m\]"),
        (HEADER + "0,1,2,inf\n", r"hand.csv:2: z\[m\]"),
        (HEADER + "0,1,two,3\n", r"hand.csv:2: y\[m\]: 'two'"),
        (HEADER + "0,1,2,3\n0,1,2,3\n", r"hand.csv:3: t\[s\]"),
        (HEADER + "1,1,2,3\n0.5,1,2,3\n", r"hand.csv:3: t\[s\]"),
        (HEADER + "0,1,2,3\n4000,1,2,3\n", "duration"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_a_malformed_file_is_refused_naming_line_and_column(tmp_path, text, names):
    with pytest.raises(InvalidValueError, match=names):
        load_hand(csv_file(tmp_path, text))


def test_a_file_that_does_not_exist_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidValueError, match=r"^file: .*nothing\.csv"):
        load_hand(tmp_path / "nothing.csv")


def test_a_bag_with_poses_is_read_like_a_file(tmp_path):
    types = message_types()
    kind = "geometry_msgs/msg/PoseStamped"
    names = ("builtin_interfaces/msg/Time", "std_msgs/msg/Header", "geometry_msgs/msg/Point")
    Time, Header, Point = (types.types[name] for name in names)
    Pose, Quaternion = types.types["geometry_msgs/msg/Pose"], types.types["geometry_msgs/msg/Quaternion"]
    writer = BagWriter(tmp_path / "bag", {"/device": BagTopic(kind, Qos.COMMAND)})
    for i in range(5):
        pose = Pose(position=Point(x=0.1 * i, y=0.0, z=1.0), orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=1.0))
        message = types.types[kind](header=Header(stamp=Time(sec=0, nanosec=0), frame_id="device"), pose=pose)
        writer.write("/device", 10**18 + i * 10**7, bytes(types.serialize_cdr(message, kind)))
    writer.close()
    hand = load_hand(tmp_path / "bag")
    np.testing.assert_allclose(hand.time, 0.01 * np.arange(5), atol=1e-9)
    np.testing.assert_allclose(hand.position, [[0.1 * i, 0.0, 1.0] for i in range(5)])


def test_device_poses_keep_jumps_and_follow_scale_and_speed():
    hand = HandRecording("h", np.array([0.0, 1.0, 2.0]), np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]]))
    motion = device_motion(hand, scale=0.5, speed=2.0)
    np.testing.assert_allclose(motion.time, [0.0, 0.5, 1.0])
    np.testing.assert_allclose(motion.pose[:, 0], [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(motion.pose[:, 3:], [[0, 0, 0, 1]] * 3)


@pytest.mark.parametrize("speed", [0.0, 0.05, 11.0, np.nan])
def test_a_playback_speed_out_of_range_is_refused(speed):
    with pytest.raises(InvalidValueError, match=r"^speed:"):
        device_motion(HandRecording("h", np.array([0.0, 1.0]), np.zeros((2, 3))), speed=speed)


def test_the_demo_recording_is_what_the_generator_makes(tmp_path):
    write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == DEMO.read_bytes()


def test_the_synthetic_hand_holds_exactly_its_one_jump():
    table = synthetic_hand()
    hand = HandRecording("synthetic", table[:, 0], table[:, 1:])
    found = np.flatnonzero(jumps(hand))
    np.testing.assert_allclose(hand.time[found], [JUMP_TIME])
    without = jump_free(hand)
    after = hand.time >= JUMP_TIME
    np.testing.assert_allclose((hand.position - hand.position[0] - without)[after], [JUMP] * after.sum(), atol=0.01)


@pytest.mark.skipif(not RECORDED, reason="the recorded hands are not beside the project")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_hands_load_and_their_jumps_are_found(path):
    hand = load_hand(path)
    speed = np.linalg.norm(np.diff(jump_free(hand), axis=0), axis=1) / np.diff(hand.time)
    assert 1 <= np.count_nonzero(jumps(hand)) <= 2
    assert speed.max() < 0.7
    assert fit(hand, everywhere).scale == 1.0


@given(st.floats(0.05, 0.6), st.floats(0.2, 2.0))
def test_the_chosen_scale_is_the_largest_that_fits(half, width):
    positions = np.array([[0.0, 0, 0], [0, width / 2, 0], [0, width, 0]])
    hand = HandRecording("h", np.array([0.0, 1.0, 2.0]), positions)
    low = np.full(3, -half)
    room = (half - MARGIN / np.sqrt(3)) / width
    if room < 0.1:
        with pytest.raises(OutOfReachError):
            fit(hand, box_reach(low, -low))
        return
    result = fit(hand, box_reach(low, -low))
    assert result.scale <= min(1.0, room) + 1e-9
    assert result.scale >= min(1.0, room) - 0.03
    np.testing.assert_allclose(result.upper, [0.0, result.scale * width, 0.0])


def test_a_given_scale_is_used_and_said_not_to_fit():
    hand = HandRecording("h", np.array([0.0, 1.0]), np.array([[0.0, 0, 0], [0.3, 0, 0]]))
    reach = box_reach(np.full(3, -0.2), np.full(3, 0.2))
    assert fit(hand, reach, 0.5).fits
    assert not fit(hand, reach, 1.0).fits
    assert fit(hand, reach, 1.0).scale == 1.0


@pytest.mark.parametrize("scale", [-1.0, 0.001, 20.0, np.nan, np.inf])
def test_a_scale_out_of_range_is_refused(scale):
    hand = HandRecording("h", np.array([0.0, 1.0]), np.zeros((2, 3)))
    with pytest.raises(InvalidValueError, match=r"^scale:"):
        fit(hand, everywhere, scale)
