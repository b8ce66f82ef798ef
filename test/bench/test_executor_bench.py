"""The executor benchmark gives every figure it promises."""

from telerobot_nodes.bench.plan import executor


def test_costs_are_told_for_every_size_and_the_plan_is_finished():
    result = executor.run({"points": "500,2000", "ticks": "40"})
    figures = result["figures"]
    assert set(figures["by_points"]) == {"500", "2000"}
    for costs in figures["by_points"].values():
        assert costs["tick"]["median_us"] > 0.0
        assert 100.0 < costs["bytes_per_point"] < 2000.0
    finish = figures["finish"]
    assert finish["plan_seconds"] <= finish["seconds"] < 1.2 * finish["plan_seconds"]
