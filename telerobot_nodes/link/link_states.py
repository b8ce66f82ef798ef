"""State of the link to one peer: one table, the same on both sides."""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.core.protocol import LinkState, next_state


class LinkEvent(Enum):
    """What is known of the peer now."""

    SILENT = "nothing was received from it for `stale_after`"
    HEARD = "it sends, and has not yet confirmed that it receives from this host"
    ECHOED = "it sends, and receives from this host"
    DEAF = "it sends, and has received nothing from this host for `stale_after`"
    MISMATCH = "its handshake does not fit"


_S, _E = LinkState, LinkEvent

TABLE: dict[tuple[LinkState, LinkEvent], LinkState] = {
    (_S.WAITING, _E.SILENT): _S.WAITING,
    (_S.STALE, _E.SILENT): _S.STALE,
    (_S.REFUSED, _E.SILENT): _S.STALE,
    **{(state, _E.SILENT): _S.STALE for state in (_S.BACK, _S.FRESH, _S.HALF_OPEN)},
    **{(state, _E.HEARD): _S.BACK for state in LinkState},
    **{(state, _E.ECHOED): _S.FRESH for state in LinkState},
    **{(state, _E.DEAF): _S.HALF_OPEN for state in LinkState},
    **{(state, _E.MISMATCH): _S.REFUSED for state in LinkState},
}


def after(state: LinkState, event: LinkEvent) -> LinkState:
    """State after an event."""
    return next_state("link", TABLE, state, event)
