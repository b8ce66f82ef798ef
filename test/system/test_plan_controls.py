"""Controls of the plan that show on the robot or in the simulation."""

import pytest

from telerobot_nodes.operator.client import commands

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(240),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]


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


@pytest.mark.parametrize("opening", [0.0, 0.05])
def test_the_fingers_of_the_arm_in_physics_open_and_close_from_the_head_of_a_resting_plan(
    demo_graph, terminal, opening
):
    widths, stops = [], []
    terminal.subscribe("hardware_interface/state", lambda message: widths.append(message.gripper))
    terminal.subscribe("gcmsf_control/state", lambda message: stops.append(message.reason))
    assert terminal.ask(commands.Gripper(opening)).done
    assert terminal.wait_for(lambda c: c.queue.gripper == opening, 10.0)
    assert terminal.wait_for(lambda c: c.robot.executed_seq == c.queue.head_seq, 30.0), set(stops)
    assert terminal.wait_for(lambda _: bool(widths) and abs(widths[-1] - opening) < 0.004, 30.0), (
        f"at {widths[-1]:.3f} m although every point counts as executed; the loop reported {set(stops) - {''}}"
    )
