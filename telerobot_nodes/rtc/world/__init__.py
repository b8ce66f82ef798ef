"""World model of the decision unit: database, snapshots, checks with the robot model."""

from __future__ import annotations

from telerobot_nodes.rtc.world.database import WORLD, Database, DatabaseError, Item, Validity, Value, View, Write
from telerobot_nodes.rtc.world.protocols import Checks
from telerobot_nodes.rtc.world.robot_checks import RobotChecks
from telerobot_nodes.rtc.world.snapshot import SnapshotStore

__all__ = [
    "WORLD",
    "Checks",
    "Database",
    "DatabaseError",
    "Item",
    "RobotChecks",
    "SnapshotStore",
    "Validity",
    "Value",
    "View",
    "Write",
]
