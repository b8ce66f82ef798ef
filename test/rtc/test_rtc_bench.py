"""The benchmark of run-time control runs and reports what its goals are about."""

import json

import pytest

from telerobot_nodes.bench import report
from telerobot_nodes.bench.rtc import rtc


@pytest.mark.lengthy
def test_the_benchmark_reports_every_goal(tmp_path):
    result = rtc.run({"repeats": 20, "seed": 2})
    assert len(result["goals"]) == 6
    assert all(entry["value"] > 0 for entry in result["goals"])
    report.write(tmp_path / "rtc.json", result)
    assert json.loads((tmp_path / "rtc.json").read_text())["figures"]["commands_under_way"] == rtc.BUSY
