"""Sub-commands of `telerobot macro`: list, show, check, test, run, runs, learn."""
