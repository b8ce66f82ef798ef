"""Primitives as requests: their queue, preparation and reports, one by one or as one sequence."""

from __future__ import annotations

from telerobot_nodes.motion.scheduling.primitive_scheduler import PrimitiveScheduler, SchedulerReport
from telerobot_nodes.motion.scheduling.primitive_sequence import PrimitiveSequence, SequenceStep, check_steps

__all__ = ["PrimitiveScheduler", "PrimitiveSequence", "SchedulerReport", "SequenceStep", "check_steps"]
