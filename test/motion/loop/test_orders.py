import pickle
import socket
from types import MappingProxyType

import pytest

from telerobot_nodes.motion.loop.orders import ClearTimes, LocalOrders, OrderReceiver, OrderSender, Stop, Tare


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    yield ours, OrderSender(ours), OrderReceiver(theirs)
    ours.close()
    theirs.close()


def received(receiver, count):
    return [order for _ in range(count) if (order := receiver.receive()) is not None]


def test_local_orders_arrive_in_sequence():
    orders = LocalOrders()
    assert orders.receive() is None
    orders.send(Tare())
    orders.send(Stop(3, "x"))
    assert [orders.receive(), orders.receive(), orders.receive()] == [Tare(), Stop(3, "x"), None]


def test_orders_over_a_stream_arrive_complete_and_in_sequence(ends):
    _, sender, receiver = ends
    assert receiver.receive() is None
    sent = [Stop(k, "reason " * k) for k in range(20)]
    for order in sent:
        sender.send(order)
    assert received(receiver, 25) == sent


def test_an_order_in_pieces_arrives_when_its_last_byte_does(ends):
    stream, _, receiver = ends
    data = pickle.dumps(Stop(7, "pieces"))
    message = len(data).to_bytes(8, "little") + data
    for k in range(len(message) - 1):
        stream.sendall(message[k : k + 1])
        assert receiver.receive() is None
    stream.sendall(message[-1:])
    assert receiver.receive() == Stop(7, "pieces")


def test_an_order_larger_than_one_piece_arrives_over_several_calls(ends):
    stream, sender, receiver = ends
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    order = Stop(1, "x" * 150_000)
    sender.send(order)
    assert received(receiver, 10) == [order]


def test_the_receiver_knows_when_the_host_has_ended(ends):
    stream, sender, receiver = ends
    sender.send(ClearTimes())
    stream.close()
    assert receiver.receive() == ClearTimes()
    receiver.receive()
    assert receiver.closed


def test_read_only_mappings_survive_the_stream():
    values = MappingProxyType({"a": 1})
    assert pickle.loads(pickle.dumps(values)) == values
    assert isinstance(pickle.loads(pickle.dumps(values)), MappingProxyType)
