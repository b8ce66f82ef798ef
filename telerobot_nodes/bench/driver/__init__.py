"""Benchmarks of an arm's driver, against the stand-in."""
