"""Thin nodes: parameters, conversions, one core object, publish. The only room that knows rclpy."""
