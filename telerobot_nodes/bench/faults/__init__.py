"""The fault runner: the graph on two hosts through every fault of the table, each judged from outside."""
