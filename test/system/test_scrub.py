"""The forward simulation shows the arm at any plan time between the robot and the plan's head."""

import pytest

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


def test_the_arm_is_shown_at_a_plan_time_asked_for_and_no_more_when_told_so(demo_graph, terminal):
    from telerobot.srv import SetValue

    shown = []
    terminal.subscribe("forward_simulator/scrubbed", shown.append)
    client = terminal.client("forward_simulator/scrub")
    assert terminal.wait_for(lambda _: client.service_is_ready(), 20.0)

    def call(value):
        future = client.call_async(SetValue.Request(value=value))
        assert terminal.wait_for(lambda _: future.done(), 20.0)
        return future.result()

    answer = call(1e9)
    head = terminal.operator.queue.head_time
    assert answer.success
    assert answer.value == pytest.approx(head, abs=1e-9)  # held to the head of the plan
    assert terminal.wait_for(lambda _: bool(shown), 20.0)
    assert len(shown[-1].position) == len(terminal.operator.robot.joint_position)
    assert call(-1.0).message == "off"
