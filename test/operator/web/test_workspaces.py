"""Which consoles a page offers to switch to."""

import pytest

from telerobot_nodes.operator.web.workspaces import EXECUTION, SILENT, Workspaces, workspace_of

ARM, PRACTICE = "/operator_console", "/practice/operator_console"


@pytest.mark.parametrize(
    ("node", "workspace"),
    [(ARM, EXECUTION), (PRACTICE, "practice"), ("/cell/left/operator_console", "cell/left"), ("", EXECUTION)],
)
def test_a_workspace_is_named_after_its_namespace(node, workspace):
    assert workspace_of(node) == workspace


def test_each_offers_the_other_and_not_itself():
    for own, other, name in ((ARM, PRACTICE, "practice"), (PRACTICE, ARM, EXECUTION)):
        workspaces = Workspaces(own)
        workspaces.receive(own, "http://127.0.0.1:8080", 0.0)
        workspaces.receive(other, "http://127.0.0.1:8081", 0.0)
        assert workspaces.doors(0.0) == {name: "http://127.0.0.1:8081"}


def test_a_console_that_is_silent_is_offered_no_more_and_comes_back():
    workspaces = Workspaces(ARM)
    workspaces.receive(PRACTICE, "http://127.0.0.1:8081", 10.0)
    assert workspaces.doors(10.0 + SILENT)
    assert workspaces.doors(10.1 + SILENT) == {}
    workspaces.receive(PRACTICE, "http://127.0.0.1:8099", 20.0)
    assert workspaces.doors(20.0) == {"practice": "http://127.0.0.1:8099"}


@pytest.mark.parametrize(
    "address", ["", "javascript:alert(1)", "https://[::1]:1 onclick=x", "http://a\nb", "http://a/b?c", "x" * 10**6]
)
def test_what_is_no_address_of_a_console_is_ignored(address):
    workspaces = Workspaces(ARM)
    workspaces.receive(PRACTICE, address, 0.0)
    assert workspaces.doors(0.0) == {}
