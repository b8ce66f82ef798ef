"""Benchmarks, one file each, run by `telerobot bench NAME`."""
