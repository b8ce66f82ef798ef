"""Measurements of the planner, compared with OMPL."""
