"""Measurements of the decision unit, halts and the idle graph."""
