"""Measurements of the console in a real browser."""
