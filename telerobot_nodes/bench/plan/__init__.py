"""Queue, executor, forward simulation: costs, faults, interleavings, mutants."""

from __future__ import annotations

from telerobot_nodes.bench.plan.checkout import load_test

__all__ = ["load_test"]
