"""Authority over the plan: claims, requests, hand-off and stand-by of agents [US5046022]."""

from __future__ import annotations

from telerobot_nodes.plan.authority.arbiter import AuthorityArbiter, AuthorityMessage
from telerobot_nodes.plan.authority.authority_client import AuthorityClient
from telerobot_nodes.plan.authority.decided_requests import Decision
from telerobot_nodes.plan.authority.standby import FORCED, StandBy

__all__ = [
    "FORCED",
    "AuthorityArbiter",
    "AuthorityClient",
    "AuthorityMessage",
    "Decision",
    "StandBy",
]
