"""Quintic Hermite segments, compiled for one signature when first imported."""

from __future__ import annotations

from telerobot_nodes.core.interpolation.hermite import quintic, quintic_into

__all__ = ["quintic", "quintic_into"]
