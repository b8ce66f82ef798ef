"""The queue benchmark gives every figure it promises."""

from telerobot_nodes.bench.plan import queue


def test_costs_are_told_for_every_size():
    result = queue.run({"points": "500,4000", "operations": "100"})
    figures = result["figures"]
    assert set(figures["by_points"]) == {"500", "4000"}
    for costs in figures["by_points"].values():
        assert costs["brake"]["median_us"] > 0.0
        assert costs["lookup"]["count"] == 500
        assert costs["delete_all_ns_per_point"] > 0.0
    assert figures["append_points_per_s"] > 0.0
    assert figures["ingest_points_per_s"] > 0.0
    assert figures["bytes_per_point"] == 81
    assert len(result["goals"]) == 6
