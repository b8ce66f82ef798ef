"""`telerobot review`: a recorded run checked, reported, played back."""

from __future__ import annotations

from telerobot_nodes.cli.review.command import command, keep_recordings, print_summary

__all__ = ["command", "keep_recordings", "print_summary"]
