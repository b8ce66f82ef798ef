"""Measurements of queue and executor; the delay study."""
