"""Options of the benchmarks: the table is what each benchmark reads, and a wrong option ends before anything starts."""

import ast
from pathlib import Path

import pytest

import telerobot_nodes.bench
from telerobot_nodes.bench import BENCHMARKS, checked_options
from telerobot_nodes.cli import main
from telerobot_nodes.errors import InvalidValueError

FOLDER = Path(telerobot_nodes.bench.__file__).parent


def read_by(module):
    """Keys that a module reads from its options."""
    tree = ast.parse((FOLDER / (module.replace(".", "/") + ".py")).read_text())
    keys = set()
    for node in ast.walk(tree):
        text = ast.unparse(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("options.get", "(options or {}).get"):
            keys.add(ast.unparse(node.args[0]))
        elif isinstance(node, ast.Subscript) and text.startswith("options["):
            keys.add(ast.unparse(node.slice))
        elif isinstance(node, ast.Call) and text.startswith(("is_on(options, ", "chosen(options, ")):
            keys.add(ast.unparse(node.args[1]))
        elif isinstance(node, ast.Compare) and text.endswith(" in options"):
            keys.add(ast.unparse(node.left))
    return keys


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_table_holds_what_a_benchmark_reads(name):
    found = read_by(BENCHMARKS[name].module)
    by_variable = {"field", "scheduled", "mismatch"} if "name" in found else set()
    assert {ast.literal_eval(key) for key in found - {"name"}} | by_variable == set(BENCHMARKS[name].options)


@pytest.mark.parametrize(
    ("name", "pairs", "text"),
    [
        ("halt", ["halt=5"], "allowed for halt: halts, parallel"),
        ("halt", ["halts"], "allowed: key=value"),
        ("halt", ["halts=0"], "allowed: a whole number from 1"),
        ("halt", ["halts=-3"], "whole number"),
        ("halt", ["halts=1.5"], "whole number"),
        ("halt", ["halts=²"], "whole number"),
        ("halt", ["halts=" + "9" * 5000], "whole number"),
        ("halt", ["halts=5", "halts=6"], "halts once"),
        ("halt", ["speeds=0.1,fast"], "finite numbers above 0"),
        ("halt", ["speeds="], "finite numbers above 0"),
        ("halt", ["flood=nan"], "a finite number from 0"),
        ("link", ["delay=inf"], "a finite number from 0"),
        ("planner", ["check=maybe"], "true, false"),
        ("idle", ["robot="], "a text"),
        ("nothing", [], "allowed: control-loop, idle"),
    ],
)
def test_a_wrong_option_is_refused_by_name(name, pairs, text):
    with pytest.raises(InvalidValueError) as refused:
        checked_options(name, pairs)
    assert text in str(refused.value)


@pytest.mark.parametrize("pairs", [["ways=default"], ["halts=1", "ways=estop,e-stop"]])
def test_the_command_line_says_what_is_allowed_and_ends_with_2(pairs, capsys):
    words = [word for pair in pairs for word in ("--option", pair)]
    assert main(["bench", "stops", *words]) == 2
    assert "allowed: topic_with_default_fields" in capsys.readouterr().err


def test_right_options_come_through():
    pairs = ["halts=5", "speeds=0.02,0.2", "seed=0"]
    assert checked_options("halt", pairs) == {"halts": "5", "speeds": "0.02,0.2", "seed": "0"}
