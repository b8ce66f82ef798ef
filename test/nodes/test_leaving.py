"""A node leaves while others come and go: Fast DDS must have no callback to wait for when it deletes a participant."""

import ctypes
import os
import subprocess
import sys

import pytest

pytest.importorskip("rclpy")

from rclpy.utilities import get_rmw_implementation_identifier

from telerobot_nodes.nodes.framework import Foreground, leave
from telerobot_nodes.nodes.framework.leaving import LIBRARY

GET_LISTENER = "_ZNK8eprosima7fastdds3dds17DomainParticipant12get_listenerEv"
COME_AND_GO = """
import faulthandler, sys
from telerobot_nodes.nodes.framework import Foreground
for number in range(int(sys.argv[1])):
    faulthandler.dump_traceback_later(30.0, exit=True)
    with Foreground(f"passing_{sys.argv[2]}_{number}") as foreground:
        foreground.spin(0.01)
"""


@pytest.fixture
def listener():
    """The listener of one of this process's participants, 0 without."""
    if get_rmw_implementation_identifier() != "rmw_fastrtps_cpp":
        pytest.skip("only Fast DDS has what is undone here")
    function = ctypes.CDLL(LIBRARY, mode=os.RTLD_NOLOAD | os.RTLD_NOW)[GET_LISTENER]
    function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_void_p
    return lambda participant: function(participant) or 0


@pytest.fixture
def participants(listener):
    """Addresses of this process's participants."""
    from telerobot_nodes.nodes.framework.leaving import _fast_dds

    return lambda: list(_fast_dds().participants(int(os.environ["ROS_DOMAIN_ID"])).values())


def test_a_participant_has_no_listener_when_it_is_deleted_and_others_keep_theirs(monkeypatch, participants, listener):
    others = set(participants())  # left to the collector by tests before
    with Foreground("stays"):
        (stays,) = set(participants()) - others
        leaves = Foreground("leaves")
        (goes,) = set(participants()) - others - {stays}
        seen = []
        destroy = leaves.node.destroy_node
        monkeypatch.setattr(leaves.node, "destroy_node", lambda: (seen.append(listener(goes)), destroy()))
        assert listener(goes) != 0
        leaves.close()
        assert seen == [0]
        assert goes not in participants()
        assert listener(stays) != 0
        monkeypatch.undo()
        leaves.close()  # again


def test_a_node_without_rosout_is_found_by_what_it_subscribes_to(participants, listener):
    import rclpy
    from std_msgs.msg import String

    others = set(participants())
    context = rclpy.Context()
    context.init(args=[])
    node = rclpy.create_node("quiet", context=context, enable_rosout=False, start_parameter_services=False)
    node.create_subscription(String, "anything", print, 1)
    (goes,) = set(participants()) - others
    seen = []
    destroy = node.destroy_node
    node.destroy_node = lambda: (seen.append(listener(goes)), destroy())
    leave(node)
    context.try_shutdown()
    assert seen == [0]


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_three_processes_come_and_go_two_thousand_times_each():
    passing = [subprocess.Popen([sys.executable, "-c", COME_AND_GO, "2000", str(number)]) for number in range(3)]
    try:
        assert [process.wait(800.0) for process in passing] == [0, 0, 0]
    finally:
        for process in passing:
            process.kill()
