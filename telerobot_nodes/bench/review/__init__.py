"""Measurements of the review of a recording."""
