"""The graph in use for a long time: what grows meanwhile."""
