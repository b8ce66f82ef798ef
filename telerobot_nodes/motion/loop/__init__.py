"""The control loop: its step, its process, and the memory it shares with the nodes."""

from __future__ import annotations

from telerobot_nodes.motion.loop.control_records import ControlOutput
from telerobot_nodes.motion.loop.control_state import HaltLatch
from telerobot_nodes.motion.loop.control_step import ControlStep
from telerobot_nodes.motion.loop.forked_loop import ForkedLoop
from telerobot_nodes.motion.loop.loop import PRIORITY, ControlLoop, HostedLoop, schedule
from telerobot_nodes.motion.loop.loop_host import ProcessLoop
from telerobot_nodes.motion.loop.loop_memory import LoopMemory
from telerobot_nodes.motion.loop.loop_process import LoopSetting, make_control
from telerobot_nodes.motion.loop.orders import Begin, Change, ClearTimes, Order, Stop, Tare
from telerobot_nodes.motion.loop.precompile import warm_up
from telerobot_nodes.motion.loop.status_records import PrimitiveState

__all__ = [
    "PRIORITY",
    "Begin",
    "Change",
    "ClearTimes",
    "ControlLoop",
    "ControlOutput",
    "ControlStep",
    "ForkedLoop",
    "HaltLatch",
    "HostedLoop",
    "LoopMemory",
    "LoopSetting",
    "Order",
    "PrimitiveState",
    "ProcessLoop",
    "Stop",
    "Tare",
    "make_control",
    "schedule",
    "warm_up",
]
