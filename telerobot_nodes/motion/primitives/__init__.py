"""Primitives: trajectory, preparation, endings, guard, and the executive that runs them [US5231693]."""

from __future__ import annotations

from telerobot_nodes.motion.primitives.executive import Executive, Prepared
from telerobot_nodes.motion.primitives.executive_queue import PrimitiveQueue
from telerobot_nodes.motion.primitives.preparation import PreparedChange
from telerobot_nodes.motion.primitives.primitive import Phase, Primitive
from telerobot_nodes.motion.primitives.request import PrimitiveRequest, check_request, values_from
from telerobot_nodes.motion.primitives.stream_motion import StreamMotion
from telerobot_nodes.motion.primitives.stream_tool import StreamTool

__all__ = [
    "Executive",
    "Phase",
    "Prepared",
    "PreparedChange",
    "Primitive",
    "PrimitiveQueue",
    "PrimitiveRequest",
    "StreamMotion",
    "StreamTool",
    "check_request",
    "values_from",
]
