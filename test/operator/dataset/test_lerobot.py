"""A data set in LeRobot's format, read back by pyarrow and held against the recording and the format's rules."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph.table import TOPICS
from telerobot_nodes.operator.dataset import Rate, write_lerobot
from telerobot_nodes.operator.recording import BagTopic, BagWriter, message_types

parquet = pytest.importorskip("pyarrow.parquet", reason="the extra lerobot is not installed")

ROBOT = load_robot("arm")
START = 10**18  # [ns]
NEEDED = ("joint_states", "gcmsf_control/state", "hardware_interface/state", "hardware_interface/wrench")
NAMES = (*NEEDED, "path_plan_queue/plan", "camera/image/compressed")
SILENT = (2.0, 2.7)  # [s] of joint_states


def joints(time):
    """Measured joints (n, dof), not linear in time, so that a wrong time shows."""
    return np.array(ROBOT.home) + 0.1 * np.sin(np.outer(time, 1.0 + 0.1 * np.arange(ROBOT.dof)))


def picture(number, size=(32, 24)):
    """One grey for each number."""
    stream = io.BytesIO()
    Image.new("RGB", size, (4 * number,) * 3).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """Five seconds: joints at 200 Hz with a silence, setpoints at 50 Hz, pictures at 8 Hz."""
    types = message_types()
    entries = {entry.name: entry for entry in TOPICS if entry.name in NAMES}
    folder = tmp_path_factory.mktemp("dataset") / "bag"
    writer = BagWriter(folder, {f"/{name}": BagTopic(entry.type, entry.qos) for name, entry in entries.items()})
    header = types.types["std_msgs/msg/Header"](types.types["builtin_interfaces/msg/Time"](0, 0), "")
    rows = []

    def add(time, name, message):
        rows.append((time, name, bytes(types.serialize_cdr(message, entries[name].type))))

    def zero(kind, **given):
        fields = {}
        for name, (sort, detail) in types.fielddefs[kind][1]:
            if name in given:
                fields[name] = given[name]
            elif sort.name == "NAME":
                fields[name] = zero(detail)
            elif sort.name == "BASE":
                fields[name] = {"string": "", "bool": False}.get(detail[0], 0)
            else:
                base = detail[0][1][0] if detail[0][0].name == "BASE" else ""
                fields[name] = [] if not base or base == "string" else np.zeros(0, base)
        return types.types[kind](**fields)

    vector = types.types["geometry_msgs/msg/Vector3"]
    for k in range(1001):
        time = 0.005 * k
        q, none = joints([time])[0], np.zeros(0)
        if not SILENT[0] < time < SILENT[1]:
            names = [*reversed(ROBOT.joint_names), "finger"]
            row = np.append(q[::-1], 9.0)
            add(time, "joint_states", types.types["sensor_msgs/msg/JointState"](header, names, row, none, none))
        felt = types.types["geometry_msgs/msg/Wrench"](vector(time, 0.0, 0.0), vector(0.0, 0.0, 2.0 * time))
        add(time, "hardware_interface/wrench", types.types["geometry_msgs/msg/WrenchStamped"](header, felt))
        state = zero("telerobot/msg/HardwareState", gripper=0.01 * time, gripper_reference=0.02 * time)
        add(time, "hardware_interface/state", state)
        if k % 4 == 0:
            half = 0.5 * time
            sign = -1.0 if k % 8 else 1.0  # the same rotation
            pose = np.array([time, 0.0, 1.0, 0.0, 0.0, sign * np.sin(half), sign * np.cos(half)])
            told = {"joint_position": q + 1.0, "tool_pose": pose}
            add(time, "gcmsf_control/state", zero("telerobot/msg/ControlState", **told))
        if k % 25 == 0:
            size = (32, 24) if k < 800 else (16, 12)
            data = np.frombuffer(picture(k // 25, size), np.uint8)
            add(time, "camera/image/compressed", types.types["sensor_msgs/msg/CompressedImage"](header, "png", data))
    for time, name, data in sorted(rows, key=lambda row: row[0]):
        writer.write(f"/{name}", START + round(time * 1e9), data)
    assert writer.close().dropped == 0
    return folder


def read(folder):
    """Everything in a data set, with the rules that its reader relies on."""
    info = json.loads((folder / "meta/info.json").read_text())
    assert info["codebase_version"] == "v3.0"
    episodes = parquet.read_table(folder / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    tables = []
    for place in sorted({(row["data/chunk_index"], row["data/file_index"]) for row in episodes}):
        file = folder / info["data_path"].format(chunk_index=place[0], file_index=place[1])
        tables.append(parquet.read_table(file))
    columns = {
        name: [value for table in tables for value in table[name].to_pylist()] for name in tables[0].column_names
    }
    assert set(columns) == set(info["features"])
    assert columns["index"] == list(range(info["total_frames"]))
    assert info["splits"] == {"train": f"0:{info['total_episodes']}"}
    assert len(episodes) == info["total_episodes"]
    assert [row["episode_index"] for row in episodes] == list(range(len(episodes)))
    begin = 0
    for row in episodes:
        end = row["dataset_to_index"]
        assert (row["dataset_from_index"], end - begin) == (begin, row["length"])
        assert columns["frame_index"][begin:end] == list(range(row["length"]))
        assert set(columns["episode_index"][begin:end]) == {row["episode_index"]}
        steps = np.diff(columns["timestamp"][begin:end])
        np.testing.assert_allclose(steps, 1.0 / info["fps"], atol=1e-4)  # the reader's tolerance
        assert columns["timestamp"][begin] == 0.0
        begin = end
    assert begin == info["total_frames"]
    for name, feature in info["features"].items():
        if feature["dtype"] == "float32" and feature["shape"] != [1]:
            assert tables[0].schema.field(name).type.list_size == feature["shape"][0] == len(feature["names"])
    return info, episodes, columns


def times(episodes, begins, fps):
    return np.concatenate([t + np.arange(row["length"]) / fps for t, row in zip(begins, episodes, strict=True)])


def test_frames_are_the_recording_at_their_times_and_no_episode_spans_a_gap(bag, tmp_path):
    frames = write_lerobot(bag, ROBOT, tmp_path / "set", Rate(20), "Draw.", "joints")
    info, episodes, columns = read(tmp_path / "set")
    begins = [episode.begin for episode in frames.episodes]
    assert begins == pytest.approx([0.0, 2.7], abs=0.051)
    time = times(episodes, begins, 20)
    assert not np.any((time > SILENT[0] + 0.001) & (time < SILENT[1] - 0.001))
    assert frames.left_out == [(pytest.approx(2.05), pytest.approx(2.65), "/joint_states silent")]
    state, action = np.array(columns["observation.state"]), np.array(columns["action"])
    np.testing.assert_allclose(state[:, :-1], joints(time), atol=2e-5)
    np.testing.assert_allclose(state[:, -1], 0.01 * time, atol=1e-6)
    np.testing.assert_allclose(action[:, :-1], joints(time) + 1.0, atol=2e-4)
    np.testing.assert_allclose(action[:, -1], 0.02 * time, atol=1e-6)
    np.testing.assert_allclose(np.array(columns["observation.wrench"])[:, [0, 5]], np.outer(time, [1, 2]), atol=1e-5)
    assert info["features"]["action"]["names"] == [*(f"{name}.pos" for name in ROBOT.joint_names), "gripper.pos"]


def test_each_frame_has_the_latest_picture_until_its_time_in_one_size(bag, tmp_path):
    frames = write_lerobot(bag, ROBOT, tmp_path / "set", Rate(20), "Draw.", "joints")
    info, episodes, columns = read(tmp_path / "set")
    assert info["features"]["observation.images.camera"]["shape"] == [24, 32, 3]
    time = times(episodes, [episode.begin for episode in frames.episodes], 20)
    seen = [np.asarray(Image.open(io.BytesIO(row["bytes"]))) for row in columns["observation.images.camera"]]
    assert {entry.shape for entry in seen} == {(24, 32, 3)}
    np.testing.assert_array_equal([entry[0, 0, 0] // 4 for entry in seen], np.floor((time + 1e-9) / 0.125))
    assert frames.repeated == sum(int(np.sum(np.diff(episode.picture) == 0)) for episode in frames.episodes) > 0


def test_the_commanded_pose_is_an_action_with_rotations_of_unit_length(bag, tmp_path):
    frames = write_lerobot(bag, ROBOT, tmp_path / "set", Rate(30), "Draw.", "tool")
    _, episodes, columns = read(tmp_path / "set")
    time = times(episodes, [episode.begin for episode in frames.episodes], 30)
    pose = np.array(columns["action"])[:, :7]
    np.testing.assert_allclose(pose[:, 0], time, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(pose[:, 3:], axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.abs(pose[:, 5]), np.abs(np.sin(0.5 * time)), atol=1e-5)
    assert np.abs(np.diff(pose[: episodes[0]["length"], 3:], axis=0)).max() < 0.1


def test_statistics_and_tasks_are_those_of_the_frames(bag, tmp_path):
    write_lerobot(bag, ROBOT, tmp_path / "set", Rate(20), "Draw a circle.", "joints")
    info, episodes, columns = read(tmp_path / "set")
    stats = json.loads((tmp_path / "set/meta/stats.json").read_text())
    assert set(stats) == set(info["features"])
    state = np.array(columns["observation.state"])
    for name, wanted in (("mean", state.mean(axis=0)), ("std", state.std(axis=0)), ("max", state.max(axis=0))):
        np.testing.assert_allclose(stats["observation.state"][name], wanted, atol=1e-5)
    second = state[episodes[0]["length"] :]
    np.testing.assert_allclose(episodes[1]["stats/observation.state/min"], second.min(axis=0), atol=1e-6)
    assert episodes[1]["stats/episode_index/mean"] == [1.0]
    assert np.shape(stats["observation.images.camera"]["mean"]) == (3, 1, 1)
    assert stats["index"]["max"] == [info["total_frames"] - 1]
    tasks = parquet.read_table(tmp_path / "set/meta/tasks.parquet")
    assert tasks.to_pylist() == [{"task_index": 0, "task": "Draw a circle."}]
    assert json.loads(tasks.schema.metadata[b"pandas"])["index_columns"] == ["task"]
    assert {row["tasks"][0] for row in episodes} == {"Draw a circle."}


def test_a_folder_that_is_there_or_a_recording_without_frames_is_refused(bag, make_run, tmp_path):
    (tmp_path / "set").mkdir()
    with pytest.raises(InvalidValueError, match=r"lerobot.*allowed: a new folder"):
        write_lerobot(bag, ROBOT, tmp_path / "set", Rate(20), "Draw.", "joints")
    with pytest.raises(InvalidValueError, match="joint_states silent"):
        write_lerobot(bag, ROBOT, tmp_path / "none", Rate(3, gap=0.004), "Draw.", "joints")
    with pytest.raises(InvalidValueError, match=r"joint_states: name.*give --robot"):
        write_lerobot(bag, load_robot("ur5"), tmp_path / "other", Rate(20), "Draw.", "joints")
    with pytest.raises(InvalidValueError, match=r"gcmsf_control/state: tool_pose"):
        write_lerobot(make_run(), ROBOT, tmp_path / "short", Rate(20), "Draw.", "tool")
    assert not (tmp_path / "none").exists()
