"""Nodes of the robot's host: hardware, control loop, executor."""
