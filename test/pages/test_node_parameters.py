"""The page of the node parameters describes every parameter and its allowed values."""

import pytest

from telerobot_nodes.pages.node_parameters import DECLARED, markdown, table


@pytest.mark.parametrize("node", DECLARED)
def test_every_parameter_is_described(node):
    rows = table(node)[3:]
    assert rows
    assert all(row.rsplit("|", 2)[1].strip() for row in rows), rows


@pytest.mark.parametrize(
    ("node", "name", "allowed"),
    [
        ("gcmsf_control", "own_process", "True, False"),
        ("operator_console", "host", "any text"),
        ("plan_executor", "supervisors", "any text"),  # a list: its elements
        ("operator_input", "frame", "world, tool"),
        ("operator_input", "dead_zone", "0 .. 0.9"),
    ],
)
def test_the_allowed_values_follow_the_type(node, name, allowed):
    row = next(row for row in table(node) if row.startswith(f"| `{name}` |"))
    assert row.split(" | ")[3] == allowed


def test_one_node_can_be_chosen():
    assert "## operator_input" in markdown("operator_input")
    assert "## gcmsf_control" not in markdown("operator_input")
