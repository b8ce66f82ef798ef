"""The graph table agrees with itself, with the messages, and with its page in the docs."""

import pytest

from telerobot_nodes.errors import GraphError
from telerobot_nodes.graph import (
    GRAPHS,
    WITH_HOSTS,
    Host,
    Order,
    Priority,
    as_mermaid,
    as_text,
    node,
    remappings,
    request_name,
)
from telerobot_nodes.graph.table import (
    NODES,
    TOPICS,
    action,
    crossing,
    crossing_actions,
    crossing_services,
    is_upward,
    service,
    topic,
)
from telerobot_nodes.nodes.framework import interface_class

SERVICES = [entry for owner in NODES for entry in owner.services]
ACTIONS = [entry for owner in NODES for entry in owner.actions]


def publishers(entry):
    return [owner for owner in NODES if entry.name in owner.publishes]


def subscribers(entry):
    return [owner for owner in NODES if entry.name in owner.subscribes]


def test_names_are_unique():
    for names in ([entry.name for entry in group] for group in (NODES, TOPICS, SERVICES + ACTIONS)):
        assert len(names) == len(set(names))


def test_nodes_use_only_what_is_in_the_table():
    for owner in NODES:
        for name in owner.publishes + owner.subscribes:
            assert topic(name).name == name
        for name in owner.calls:
            assert service(name).name == name
        for name in owner.runs:
            assert action(name).name == name


def test_services_and_actions_are_named_after_their_node():
    for owner in NODES:
        assert all(entry.name.startswith(f"{owner.name}/") for entry in owner.services + owner.actions)


def test_every_topic_a_node_of_ours_hears_has_a_source_or_comes_from_outside():
    from_outside = {"operator_input/hand", "obstacles", "rtc_decision_unit/signals"}
    from_outside |= {"path_plan_queue/delta_twist_cmds", "path_plan_queue/pose_target_cmds"}
    for entry in TOPICS:
        assert publishers(entry) or entry.name in from_outside, entry.name


def test_nothing_but_crossing_topics_travels_between_the_hosts():
    for entry in TOPICS:
        hosts = {owner.host for owner in publishers(entry) + subscribers(entry)} - {Host.EITHER}
        if len(hosts) == 2 and entry.name != "diagnostics":
            assert entry.crosses, entry.name


def test_crossing_topics_have_a_direction():
    for entry in crossing():
        speakers, hearers = ({owner.host for owner in group(entry)} for group in (publishers, subscribers))
        source, target = (Host.OPERATOR, Host.ROBOT) if is_upward(entry) else (Host.ROBOT, Host.OPERATOR)
        assert source in speakers, entry.name  # the decision unit also claims the plan, from the robot's host
        assert target in hearers or not hearers, entry.name  # what only scripts and people listen to


def test_what_stops_the_arm_goes_first_over_the_link_whole_and_at_any_age():
    for name in ("halt", "estop"):
        crossing_ = topic(name).crosses
        assert (crossing_.priority, crossing_.late, crossing_.moves) == (Priority.HALT, 0.0, False)
        assert all(
            crossing_.priority < other.crosses.priority for other in crossing() if other.type != "telerobot/msg/Halt"
        )


def test_pictures_go_last_over_the_link_and_never_with_a_command():
    pictures = [entry for entry in crossing() if entry.name.startswith("camera/")]
    assert len(pictures) == 5
    others = [entry.crosses.priority for entry in crossing() if entry not in pictures]
    assert min(entry.crosses.priority for entry in pictures) > max(others)
    assert [entry.name for entry in pictures if is_upward(entry)] == ["camera/request"]


def test_only_what_nobody_repeats_is_asked_for_again_over_the_link():
    asked = {entry.name for entry in crossing() if entry.crosses.order is Order.ALL}
    reports = {"reports", "tasks", "script"}
    others = {"gcmsf_control/report", "cspace_planner/world", "camera/request"}
    assert asked == {f"rtc_decision_unit/{name}" for name in reports} | others
    assert all(entry.crosses.late == 0.0 for entry in crossing() if entry.crosses.order is Order.ALL)


def test_types_are_interfaces_that_can_be_imported():
    for entry in [*TOPICS, *SERVICES, *ACTIONS]:
        assert interface_class(entry.type).__name__ == entry.type.rsplit("/", 1)[1]


def test_graphs_hold_nodes_of_the_table_once_and_of_the_right_host():
    for names in GRAPHS.values():
        assert len(set(names)) == len(names)
        assert all(node(name) for name in names)
    assert all(node(name).host is not Host.OPERATOR for name in GRAPHS["robot"])
    assert all(node(name).host is not Host.ROBOT for name in GRAPHS["operator"])
    both = set(GRAPHS["robot"]) | set(GRAPHS["operator"])
    assert both - WITH_HOSTS | {"link_emulator"} == set(GRAPHS["demo"]) == set(GRAPHS["practice"])


@pytest.mark.parametrize("look_up", [node, topic, service, action])
def test_an_unknown_name_is_refused(look_up):
    with pytest.raises(GraphError, match="'nosuch'"):
        look_up("nosuch")


def test_operators_are_renamed_on_every_crossing_or_shared_topic_of_the_emulated_link():
    shared = {entry.name for entry in TOPICS if entry.shared}
    assert set(remappings("path_plan_queue", "demo")) == {entry.name for entry in crossing()} | shared
    assert remappings("plan_executor", "demo") == {}
    assert remappings("link_emulator", "demo") == {}


@pytest.mark.parametrize(
    ("name", "graph", "hosts", "called"),
    [
        ("operator_console", "demo", False, "operator_side/gcmsf_control/execute"),
        ("operator_console", "practice", False, "operator_side/gcmsf_control/execute"),
        ("operator_console", "operator", False, "gcmsf_control/execute"),
        ("operator_console", "operator", True, "operator_side/gcmsf_control/execute"),
        ("rtc_decision_unit", "demo", False, "gcmsf_control/execute"),
        ("rtc_decision_unit", "robot", True, "gcmsf_control/execute"),
        ("link_emulator", "demo", False, "gcmsf_control/execute"),
    ],
)
def test_an_operator_behind_a_link_reaches_a_primitive_over_it(name, graph, hosts, called):
    assert request_name(action("gcmsf_control/execute"), name, graph, hosts) == called


def test_what_crosses_as_a_request_is_the_robots_and_what_stops_is_known():
    requests = {entry.name: entry for entry in (*crossing_services(), *crossing_actions())}
    names = ("execute", "run_sequence", "change", "stop")
    assert set(requests) == {f"gcmsf_control/{name}" for name in names}
    assert [name for name, entry in requests.items() if entry.stops] == ["gcmsf_control/stop"]
    assert all(node(name.split("/")[0]).host is Host.ROBOT for name in requests)


def test_the_diagram_draws_every_node_and_every_connection_once():
    lines = as_mermaid().splitlines()
    assert len(lines) == len(set(lines) - {"  end"}) + 3
    for owner in NODES:
        assert f"    {owner.name}" in lines
    assert "  plan_executor ==>|plan_executor/state| path_plan_queue" in lines
    assert "  plan_executor -->|plan_executor/window| gcmsf_control" in lines


def test_the_text_names_everything():
    text = as_text()
    for entry in [*NODES, *TOPICS, *SERVICES, *ACTIONS]:
        assert entry.name in text
