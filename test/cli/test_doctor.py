"""`telerobot doctor`: every finding in a line, what to do below it, exit code 1 when something is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from telerobot_nodes.cli import main

COMMAND = Path(sys.executable).with_name("telerobot")


@pytest.mark.lengthy
def test_a_wrong_domain_is_found_and_ends_with_1(monkeypatch, tmp_path):
    out = tmp_path / "out.json"
    monkeypatch.setenv("ROS_DOMAIN_ID", "777")
    command = [COMMAND, "doctor", "--folder", tmp_path, "--json", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    rows = {row["check"]: row for row in json.loads(out.read_text())}
    assert rows["domain"]["verdict"] == "wrong"
    lines = done.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if " domain " in line)
    assert lines[at].split() == ["wrong", "domain", "777"]
    assert "allowed: 0 .. 101" in lines[at + 1]
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_role_that_is_none_is_refused(capsys):
    assert main(["doctor", "--role", "king"]) == 2
    assert "role: 'king' is not allowed; allowed: robot, operator" in capsys.readouterr().err
