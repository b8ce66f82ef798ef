"""Reception of texts and publication of reports: text server, queries, rate limit, workers, trial runs."""

from __future__ import annotations

from telerobot_nodes.rtc.server.host import Host, facts
from telerobot_nodes.rtc.server.rate_limit import Admission, RateLimiter
from telerobot_nodes.rtc.server.reactions import Reactions
from telerobot_nodes.rtc.server.text_server import InterfaceServer
from telerobot_nodes.rtc.server.trial_run import predicted_report
from telerobot_nodes.rtc.server.workers import Workers

__all__ = [
    "Admission",
    "Host",
    "InterfaceServer",
    "RateLimiter",
    "Reactions",
    "Workers",
    "facts",
    "predicted_report",
]
