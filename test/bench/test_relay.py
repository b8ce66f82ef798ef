"""The network of the link's tests: real sockets."""

import socket

import pytest

from telerobot_nodes.bench.link import Relay
from telerobot_nodes.link import LinkSettings


@pytest.fixture
def ends():
    robot, operator = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for one in (robot, operator):
        one.bind(("127.0.0.1", 0))
        one.settimeout(10.0)
    with Relay(robot.getsockname()[1], operator.getsockname()[1]) as relay:
        yield robot, operator, relay
    robot.close()
    operator.close()


def test_datagrams_pass_both_ways_from_where_the_other_host_is_expected(ends):
    robot, operator, relay = ends
    operator.sendto(b"up", ("127.0.0.1", relay.robot_seen_at))
    assert robot.recvfrom(100) == (b"up", ("127.0.0.1", relay.operator_seen_at))
    robot.sendto(b"down", ("127.0.0.1", relay.operator_seen_at))
    assert operator.recvfrom(100) == (b"down", ("127.0.0.1", relay.robot_seen_at))
    assert relay.bytes() == (2, 4)


def test_a_direction_that_is_cut_passes_nothing(ends):
    robot, operator, relay = ends
    relay.set(LinkSettings(up=False))
    operator.sendto(b"up", ("127.0.0.1", relay.robot_seen_at))
    robot.sendto(b"down", ("127.0.0.1", relay.operator_seen_at))
    assert operator.recv(100) == b"down"
    relay.set(LinkSettings())
    operator.sendto(b"again", ("127.0.0.1", relay.robot_seen_at))
    assert robot.recv(100) == b"again"


def test_what_passes_can_be_taken_and_sent_again_from_where_the_other_host_is_expected(ends):
    robot, operator, relay = ends
    with relay.tap() as taken:
        operator.sendto(b"up", ("127.0.0.1", relay.robot_seen_at))
        robot.recv(100)
        robot.sendto(b"down", ("127.0.0.1", relay.operator_seen_at))
        operator.recv(100)
    operator.sendto(b"later", ("127.0.0.1", relay.robot_seen_at))
    assert robot.recv(100) == b"later"
    assert taken == [(True, b"up"), (False, b"down")]
    relay.inject(*taken[0])
    relay.inject(*taken[1])
    assert robot.recvfrom(100) == (b"up", ("127.0.0.1", relay.operator_seen_at))
    assert operator.recvfrom(100) == (b"down", ("127.0.0.1", relay.robot_seen_at))


@pytest.mark.lengthy
def test_a_network_of_a_rate_loses_what_it_cannot_hold(ends):
    robot, operator, relay = ends
    relay.set(LinkSettings(), rate=1e5)
    for number in range(100):
        operator.sendto(bytes([number]) * 1000, ("127.0.0.1", relay.robot_seen_at))
    got = [robot.recv(2000)[0] for _ in range(3)]  # a quarter of a second holds three of them
    assert got == [0, 1, 2]
    robot.settimeout(0.5)
    with pytest.raises(TimeoutError):
        robot.recv(2000)


def test_what_is_withheld_does_not_arrive_and_everything_else_does(ends):
    robot, operator, relay = ends
    with relay.withhold(lambda upward, datagram: upward and datagram.startswith(b"motion")) as held:
        operator.sendto(b"motion", ("127.0.0.1", relay.robot_seen_at))
        operator.sendto(b"beat", ("127.0.0.1", relay.robot_seen_at))
        assert robot.recv(100) == b"beat"
    assert held == [b"motion"]
    operator.sendto(b"motion again", ("127.0.0.1", relay.robot_seen_at))
    assert robot.recv(100) == b"motion again"
    assert relay.host(True) == robot.getsockname()
