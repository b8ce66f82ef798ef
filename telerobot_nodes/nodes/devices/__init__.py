"""Nodes of input devices on the operator's host."""
