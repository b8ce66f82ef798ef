"""Responses to clients that are discovered late, over real rclpy and DDS."""

import pytest

pytest.importorskip("rclpy")

from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.framework import GraphNode, services
from telerobot_nodes.nodes.framework.services import RETRIES, PatientService

NAME = "hardware_interface/reset"
DEAF = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # asks for more than a service gives


class Server(GraphNode):
    """Numbers its answers."""

    answers = 0

    def __init__(self):
        super().__init__(NodeOptions("hardware_interface"))
        self.serve(NAME, self._on_reset)

    def _on_reset(self, request, response):
        self.answers += 1
        response.success, response.message = True, str(self.answers)


@pytest.fixture
def tries(monkeypatch):
    """What became of each try to send the first response; the first `drops` are lost."""
    found = []
    send = PatientService._arrives

    def arrives(self, response, header):
        if response.message != "1":
            return send(self, response, header)
        found.append(len(found) >= tries.drops and send(self, response, header))
        return found[-1]

    def tries():
        return found

    tries.drops = 0
    monkeypatch.setattr(services, "RETRIES", (0.01,) * len(RETRIES))
    monkeypatch.setattr(PatientService, "_arrives", arrives)
    return tries


def test_the_middleware_tells_that_it_drops_a_response_and_a_deaf_client_costs_a_few_tries_only(ros, tries):
    ros.add(Server())
    client = ros.probe.create_client(Trigger, NAME, qos_profile=DEAF)
    assert ros.until(lambda: client.call_async(Trigger.Request()) and tries())
    assert ros.until(lambda: len(tries()) > len(RETRIES))
    assert int(ros.call(Trigger, NAME).message) > 1  # another client is served as before
    assert tries() == [False] * (1 + len(RETRIES))


@pytest.mark.parametrize("drops", [0, 1, len(RETRIES)])
def test_a_response_that_was_dropped_is_sent_again(ros, tries, drops):
    ros.add(Server())
    tries.drops = drops
    assert ros.call(Trigger, NAME).message == "1"
    assert tries() == [False] * drops + [True]
