"""Recordings: what is written can be read back, by others too; a bad disk is survived and said."""

import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import OPERATOR_SIDE, Qos
from telerobot_nodes.graph.table import TOPICS
from telerobot_nodes.operator.recording import BagReader, BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import message_types

pytestmark = pytest.mark.lengthy  # together some seconds

POSE = "geometry_msgs/msg/PoseStamped"
EXECUTED = "telerobot/msg/ExecutedPoints"


@pytest.fixture(scope="module")
def types():
    return message_types()


def make_pose(types, x, kind=POSE):
    stamp = types.types["builtin_interfaces/msg/Time"](sec=1, nanosec=2)
    header = types.types["std_msgs/msg/Header"](stamp=stamp, frame_id="device")
    point = types.types["geometry_msgs/msg/Point"](x=x, y=0.0, z=0.0)
    quaternion = types.types["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0)
    pose = types.types["geometry_msgs/msg/Pose"](position=point, orientation=quaternion)
    return bytes(types.serialize_cdr(types.types[kind](header=header, pose=pose), kind))


def make_executed(types, first, last):
    stamp = types.types["builtin_interfaces/msg/Time"](sec=0, nanosec=0)
    message = types.types[EXECUTED](stamp=stamp, first_seq=first, last_seq=last, epoch=1, plan_time=0.5)
    return bytes(types.serialize_cdr(message, EXECUTED))


@pytest.fixture
def bag(types, tmp_path):
    topics = {"/pose": BagTopic(POSE, Qos.COMMAND), "/executed": BagTopic(EXECUTED, Qos.REPORT)}
    writer = BagWriter(tmp_path / "bag", topics)
    for i in range(100):
        writer.write("/pose", 10**18 + i * 10**7, make_pose(types, float(i)))
        writer.write("/executed", 10**18 + i * 10**7 + 1, make_executed(types, i + 1, i + 1))
    counts = writer.close()
    assert (counts.written, counts.dropped, counts.failure) == (200, 0, "")
    return tmp_path / "bag"


def test_messages_come_back_in_order_with_times_and_values(bag):
    with BagReader(bag) as reader:
        assert reader.topics == {"/pose": POSE, "/executed": EXECUTED}
        assert reader.counts == {"/pose": 100, "/executed": 100}
        assert reader.duration == pytest.approx(0.99, abs=1e-6)
        poses = [(time, message.pose.position.x) for _, time, message in reader.messages(["/pose"])]
        everything = [topic for topic, _, _ in reader.messages()]
    np.testing.assert_allclose(poses, [(0.01 * i, i) for i in range(100)], atol=1e-9)
    assert everything == ["/pose", "/executed"] * 100


def test_a_single_mcap_file_is_read_too(bag):
    with BagReader(next(bag.glob("*.mcap"))) as reader:
        assert reader.counts["/executed"] == 100


def test_the_mcap_library_of_foxglove_decodes_the_bag(bag):
    reader = pytest.importorskip("mcap_ros2.reader")
    decoded = [m for m in reader.read_ros2_messages(str(next(bag.glob("*.mcap")))) if m.channel.topic == "/executed"]
    assert [m.ros_msg.last_seq for m in decoded] == list(range(1, 101))


def test_every_topic_of_the_table_can_be_recorded(tmp_path):
    topics = {f"/{entry.name}": BagTopic(entry.type, entry.qos) for entry in TOPICS}
    topics |= {f"/{OPERATOR_SIDE}{entry.name}": BagTopic(entry.type, entry.qos) for entry in TOPICS if entry.crosses}
    BagWriter(tmp_path / "bag", topics).close()
    with BagReader(tmp_path / "bag") as reader:
        assert reader.topics == {name: entry.type for name, entry in topics.items()}
        assert list(reader.messages()) == []


def test_what_does_not_fit_in_memory_is_dropped_and_counted(types, tmp_path):
    data = make_pose(types, 1.0)
    writer = BagWriter(tmp_path / "bag", {"/pose": BagTopic(POSE, Qos.STATE)}, queue_bytes=len(data) - 1)
    assert not writer.write("/pose", 1, data)
    assert writer.close().dropped == 1


def test_a_nearly_full_disk_closes_the_bag_validly_and_says_so(types, tmp_path):
    writer = BagWriter(tmp_path / "bag", {"/pose": BagTopic(POSE, Qos.STATE)}, reserve_bytes=1 << 62)
    writer.write("/pose", 1, make_pose(types, 1.0))
    counts = writer.close()
    assert "disk nearly full" in counts.failure
    assert counts.dropped == 1
    with BagReader(tmp_path / "bag") as reader:
        assert reader.counts == {"/pose": 0}


def test_a_write_error_is_reported_and_ends_only_the_recording(tmp_path):
    script = (
        "import sys; from pathlib import Path; from telerobot_nodes.graph import Qos\n"
        "from telerobot_nodes.operator.recording.bag_writer import BagTopic, BagWriter\n"
        "w = BagWriter(Path(sys.argv[1]), {'/x': BagTopic('std_msgs/msg/String', Qos.STATE)})\n"
        "[w.write('/x', i, bytes(100_000)) for i in range(100)]\n"
        "print(w.close())\n"
    )

    def limit_file_size():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "bag")],
        preexec_fn=limit_file_size,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "cannot write" in done.stdout


def test_a_folder_that_exists_is_refused(tmp_path):
    with pytest.raises(InvalidValueError, match=r"^bag:.*exists"):
        BagWriter(tmp_path, {})


def test_an_unknown_type_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidValueError, match=r"^type of /x: 'nowhere/msg/Nothing'"):
        BagWriter(tmp_path / "bag", {"/x": BagTopic("nowhere/msg/Nothing", Qos.STATE)})


@pytest.mark.parametrize("content", [None, b"", b"not a bag"])
def test_what_is_not_a_bag_is_refused_by_name(tmp_path, content):
    path = tmp_path / "wrong.mcap"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidValueError, match=r"^bag: .*wrong\.mcap"):
        BagReader(path)
