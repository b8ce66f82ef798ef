"""Commands of a host: start its graph, make its keys, examine it."""
