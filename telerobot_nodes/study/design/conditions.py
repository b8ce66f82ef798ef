"""Conditions of the delay study, the same for the scripted operator and for people."""

from __future__ import annotations

from collections.abc import Mapping

CONDITIONS: Mapping[str, str] = {
    "a": "direct teleoperation, move and wait",
    "b": "+ forward simulation",
    "c": "+ time clutch",
    "d": "+ position clutch and brake",
}
DIRECT = "a"  # without a forward simulation
TOUCH_COST = 10.0  # [s] and one round trip: to see that the arm was stopped at the plate, and to free it
