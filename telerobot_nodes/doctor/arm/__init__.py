"""An integrator's check of his arm file against his arm."""

from __future__ import annotations

from telerobot_nodes.doctor.arm.check import CheckSetting, check_arm
from telerobot_nodes.doctor.arm.lines import Line, Result, exit_code
from telerobot_nodes.doctor.arm.session import Session

__all__ = ["CheckSetting", "Line", "Result", "Session", "check_arm", "exit_code"]
