"""The `telerobot` command, one file per group of sub-commands."""
