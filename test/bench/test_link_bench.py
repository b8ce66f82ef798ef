"""The figures of `telerobot bench link`, from times that are known."""

import math

import pytest

from telerobot_nodes.bench.link.link import BULK, LOAD, _goals, _row
from telerobot_nodes.graph import crossing, is_upward
from telerobot_nodes.link import LinkSettings
from telerobot_nodes.nodes.probes import Traffic


def test_a_row_counts_what_was_lost_and_takes_delays_from_the_first_sending():
    traffic = Traffic(sent={1: 0.0, 2: 1.0, 3: 2.0}, arrived={1: 0.5, 3: 2.1}, twice=1)
    row = _row(traffic)
    assert (row["sent"], row["arrived"], row["lost"], row["twice"]) == (3, 2, 1, 1)
    assert row["max_s"] == pytest.approx(0.5)
    assert math.isnan(_row(Traffic(sent={1: 0.0}))["p50_s"])


def test_the_load_is_of_topics_that_cross_in_their_direction():
    table = {entry.name: entry for entry in crossing()}
    for name, down, rate, size in (*LOAD, BULK):
        assert is_upward(table[name]) is not down
        assert size < table[name].crosses.size
        assert not table[name].crosses.most or rate <= table[name].crosses.most


def test_a_halt_that_never_arrived_misses_its_goals():
    row = {"sent": 10, "arrived": 10, "lost": 0, "twice": 0, "p95_s": 0.1}
    figures = {
        "halts": {"within": 0.98, "latest_s": math.inf},
        "cuts": [{"stale_s": 0.9, "fresh_s": 2.5}],
        "half_open": [1.0, 1.2],
        "bad": {name: dict(row) for name, *_ in LOAD},
        "thin": {name: dict(row) for name, *_ in LOAD},
    }
    met = {entry["name"]: entry["met"] for entry in _goals(figures, LinkSettings(delay=0.5))}
    assert [name for name, good in met.items() if not good] == [
        "halts within d + 0.3 s",
        "latest halt",
        "fresh after a cut of 10 s, both sides",
    ]
