"""Thin nodes: parameters, conversions, one core object, publish. The only package that imports ROS."""
