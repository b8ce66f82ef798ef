"""Shared values and mathematics; knows no ROS and no other room."""
