"""Measurements of two arms and the force field."""
