"""Measurements of queue and executor."""
