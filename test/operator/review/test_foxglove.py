"""The file for other tools, read by another library: every message, and the arm where the model says."""

import resource

import numpy as np
import pinocchio as pin
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.review import write_foxglove

pytestmark = pytest.mark.lengthy  # together some seconds

ROBOT = load_robot("arm")


def test_the_file_holds_the_recording_the_description_and_the_links_in_world(make_run, tmp_path):
    file = tmp_path / "new" / "run.mcap"
    count = write_foxglove(make_run(), ROBOT, file)
    with file.open("rb") as stream:
        decoded = make_reader(stream, decoder_factories=[DecoderFactory()]).iter_decoded_messages()
        read = [(channel.topic, message) for _, channel, _, message in decoded]
    with BagReader(make_run()) as bag:
        recorded = sum(bag.counts.values())
    frames = [message for topic, message in read if topic == "/tf"]
    assert len(read) == count == recorded + 1 + len(frames)
    assert [message.data for topic, message in read if topic == "/robot_description"] == [ROBOT.urdf]
    joints = next(message for topic, message in read if topic == "/joint_states")
    q = np.array(joints.position[: ROBOT.dof])
    placed = {entry.child_frame_id: entry.transform.translation for entry in frames[0].transforms}
    data = ROBOT.new_data()
    pin.framesForwardKinematics(ROBOT.model, data, q)
    for name, found in placed.items():
        where = data.oMf[ROBOT.model.getFrameId(name, pin.FrameType.BODY)].translation
        np.testing.assert_allclose([found.x, found.y, found.z], where, atol=1e-9)
    assert len(placed) > ROBOT.dof


def test_a_file_that_is_there_is_not_written_over(make_run, tmp_path):
    (tmp_path / "run.mcap").write_text("mine")
    with pytest.raises(InvalidValueError, match=r"foxglove.*run\.mcap"):
        write_foxglove(make_run(), ROBOT, tmp_path / "run.mcap")
    assert (tmp_path / "run.mcap").read_text() == "mine"


def test_a_recording_of_another_robot_names_bag_and_topic(make_run, tmp_path):
    with pytest.raises(InvalidValueError, match=r"bag: /joint_states: name.*--robot"):
        write_foxglove(make_run(), load_robot("ur5"), tmp_path / "run.mcap")
    assert not (tmp_path / "run.mcap").exists()


def test_a_full_disk_leaves_no_half_file(make_run, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    bag = make_run()
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(InvalidValueError, match=r"foxglove.*run\.mcap"):
            write_foxglove(bag, ROBOT, tmp_path / "run.mcap")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "run.mcap").exists()
