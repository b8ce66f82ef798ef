"""Measurements of the review of a recording."""

from __future__ import annotations

from telerobot_nodes.bench.review.review import run

__all__ = ["run"]
