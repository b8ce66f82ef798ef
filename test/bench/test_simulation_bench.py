"""The benchmark of the simulation reports every figure it promises."""

import pytest

from telerobot_nodes.bench.plan import simulation


@pytest.mark.lengthy
def test_points_that_collide_are_counted_only_while_something_is_in_the_way():
    figures = simulation.run({"points": "400"})["figures"]
    assert figures["conflicts_before"] == 0
    assert 0 < figures["conflicts"] < 400
    assert min(figures["intake_s"], figures["check_s"], figures["check_with_collisions_s"]) > 0.0
