"""Records in memory that two processes share: the latest value of each, and the slot of received halts."""

from __future__ import annotations

from telerobot_nodes.core.memory.halt_slot import AGENT_LENGTH, SENDERS, HaltSender, HaltSlot, ReceivedHalt
from telerobot_nodes.core.memory.mailbox import Mailbox, Record

__all__ = ["AGENT_LENGTH", "SENDERS", "HaltSender", "HaltSlot", "Mailbox", "ReceivedHalt", "Record"]
