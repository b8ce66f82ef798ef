"""The `telerobot` command: one file per sub-command."""

from __future__ import annotations

from telerobot_nodes.cli.app import main

__all__ = ["main"]
