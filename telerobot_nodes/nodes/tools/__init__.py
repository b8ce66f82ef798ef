"""Nodes for practice and recording."""
