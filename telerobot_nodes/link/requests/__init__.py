"""Requests over the link: each is begun once at the robot and answered once, whatever the link loses or repeats."""

from __future__ import annotations

from telerobot_nodes.link.requests.asker import Asker, Begun, Over, Progress
from telerobot_nodes.link.requests.channels import ANSWERS, CHANNELS, CHECKS, REQUESTS, STOPS
from telerobot_nodes.link.requests.messages import Begin, Ended, RequestEnd, unpack_request
from telerobot_nodes.link.requests.runner import Runner, Start, Stop, Ticket

__all__ = [
    "ANSWERS",
    "CHANNELS",
    "CHECKS",
    "REQUESTS",
    "STOPS",
    "Asker",
    "Begin",
    "Begun",
    "Ended",
    "Over",
    "Progress",
    "RequestEnd",
    "Runner",
    "Start",
    "Stop",
    "Ticket",
    "unpack_request",
]
