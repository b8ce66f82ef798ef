"""Services with a deferred response: the order of response and address, errors, and the service on a real graph."""

import threading

import pytest

pytest.importorskip("rclpy")

from telerobot.srv import ChangePrimitive
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.errors import GraphError, InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.framework.deferred import DeferredResponse

NAME = "gcmsf_control/change"


@pytest.mark.parametrize("first", ["response", "address"])
def test_a_response_is_sent_once_when_it_is_filled_and_its_address_known(first):
    sent, deferred = [], DeferredResponse()
    steps = [lambda: deferred.fill("done"), lambda: deferred.route(sent.append)]
    for step in steps if first == "response" else steps[::-1]:
        assert sent == []
        step()
    deferred.fill("again")
    assert sent == ["done"]


class Server(GraphNode):
    """Keeps `send` of the last request."""

    def __init__(self, handler):
        super().__init__(NodeOptions("gcmsf_control"))
        self.serve_deferred(NAME, handler)


def test_a_response_from_another_thread_reaches_its_client(ros):
    def handler(request, response, send):
        response.success, response.message = True, request.keys[0]
        threading.Timer(0.05, send, [response]).start()

    ros.add(Server(handler))
    first, second = (ros.begin(ChangePrimitive, NAME, keys=[key], values=["1"]) for key in "ab")
    assert (second().message, first().message) == ("b", "a")


@pytest.mark.parametrize(
    ("error", "message"),
    [(InvalidValueError("key", "x", "allowed: y"), "allowed: y"), (KeyError("lost"), "internal error: 'lost'")],
)
def test_an_error_of_the_handler_is_the_response(ros, error, message):
    def handler(request, response, send):
        raise error

    node = ros.add(Server(handler))
    answer = ros.call(ChangePrimitive, NAME)
    assert not answer.success
    assert message in answer.message
    assert (node.refusals, node.errors) == ((1, 0) if "allowed" in message else (0, 1))


def test_a_service_that_the_table_does_not_list_is_rejected(ros):
    node = ros.add(Server(lambda *_: None))
    with pytest.raises(GraphError, match="does not let node gcmsf_control serve"):
        node.serve_deferred("gcmsf_control/nosuch", lambda *_: None)
