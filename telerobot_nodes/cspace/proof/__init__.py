"""The second opinion on cells: true shapes, frames of Pinocchio, distances and bounds of their own [US5347459]."""

from __future__ import annotations

from telerobot_nodes.cspace.proof.cell_checker import CellChecker

__all__ = ["CellChecker"]
