"""The client at any time of a recording is as it was then, whichever way it was reached; nothing is sent."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.playback import RecordedGraph
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.review import Event, EventKind, read_events
from telerobot_nodes.operator.view import plan_lines

JOINTS = load_robot("arm").joint_names
EVENTS = [Event(time, "anna", EventKind.NOTICE, f"at {time:g}") for time in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]


@pytest.fixture
def bag(make_run):
    with BagReader(make_run()) as reader:
        yield reader


@pytest.fixture
def graph(bag):
    return RecordedGraph(bag, "/", JOINTS, EVENTS)


def drawn(graph, time):
    graph.show(time)
    lines = plan_lines(graph.client)
    return np.concatenate([lines.executed, lines.committed, lines.ahead]), graph.client.queue.length


@pytest.mark.lengthy
def test_the_state_is_the_latest_before_its_time(bag, graph):
    first = bag.seconds(bag.index.places("/path_plan_queue/state"))
    graph.show(float(first[40]) + 1e-4)
    assert graph.client.queue.length == 40
    assert graph.client.received.queue == pytest.approx(float(first[40]))


@pytest.mark.lengthy
def test_the_plan_is_the_same_whichever_way_its_time_was_reached(bag, graph):
    fresh = {time: drawn(RecordedGraph(bag, "/", JOINTS, EVENTS), time) for time in (0.5, 1.7, 3.0, 8.0)}
    for time in (3.0, 8.0, 0.5, 1.7, 1.7, 8.0, 3.0, 0.5):
        points, length = drawn(graph, time)
        np.testing.assert_array_equal(points, fresh[time][0])
        assert length == fresh[time][1]
    assert len(fresh[8.0][0]) > len(fresh[0.5][0]) > 0


@pytest.mark.lengthy
def test_before_the_first_message_nothing_is_known_again(graph):
    graph.show(5.0)
    assert graph.client.received.robot is not None
    graph.show(0.0)
    assert graph.client.received.robot is None


@pytest.mark.lengthy
def test_the_notices_are_the_latest_events(graph):
    graph.show(5.5)
    assert [notice.text for notice in graph.client.notices] == [f"anna: at {k}" for k in (2, 3, 4, 5)]


@pytest.mark.lengthy
def test_a_command_is_refused_and_a_halt_watches_for_nothing(graph):
    graph.show(5.0)
    for command in (commands.Halt(), commands.TimeClutch(True)):
        graph.client.ask(command, 90000.0)
        graph.show(5.0)
        assert "recording: nothing is sent" in graph.client.notices[-1].text
        assert graph.client.notices[-1].time == 5.0
    graph.client.stop(commands.Halt(), 90000.0)
    graph.client.note_stop(commands.Halt(), 90000.0)
    assert "recording: nothing is sent" in graph.client.notices[-1].text
    assert graph.client.halt_watch.stage.name == "NONE"


@pytest.mark.lengthy
def test_events_of_a_recording_are_in_order_and_with_who(bag):
    events = read_events(bag, "/")
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert any(event.source == "operator" and event.kind is EventKind.TIME_CLUTCH for event in events)


@pytest.mark.lengthy
def test_a_recording_of_another_robot_is_refused_with_bag_and_topic(bag):
    with pytest.raises(InvalidValueError, match=r"bag: /joint_states: name.*--robot"):
        RecordedGraph(bag, "/", load_robot("ur5").joint_names, [])
