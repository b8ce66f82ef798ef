"""The pages drawn from the code's own tables are up to date and complete."""

import pytest

from telerobot_nodes.cli import params
from telerobot_nodes.states import MACHINES, diagram, page


def test_the_page_of_state_machines_is_up_to_date(root):
    assert (root / "docs" / "states.md").read_text() == page(), "run `make docs`"


def test_every_machine_is_drawn_with_every_change_of_state():
    from importlib import import_module

    for place in MACHINES.values():
        module, name = place.split(":")
        table = getattr(import_module(module), name)
        text = diagram(table)
        for (state, _), target in table.items():
            assert state is target or f"{state.name} --> {target.name}:" in text


def test_the_page_of_parameters_is_up_to_date(root, capsys):
    params.command("")
    assert (root / "docs" / "parameters.md").read_text() == capsys.readouterr().out, "run `make docs`"


@pytest.mark.parametrize("node", params.DECLARED)
def test_every_parameter_says_what_it_is(node):
    rows = params.table(node)[4:]
    assert rows
    assert all(row.rsplit("|", 2)[1].strip() for row in rows), rows
