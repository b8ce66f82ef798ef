"""Rows about this host: nodes that are silent, the link to the other host, the recorder."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.operator.client import OperatorClient, PeerStatus, Tone
from telerobot_nodes.operator.view.rows import (
    STALE_AFTER,
    STALE_LINK_AFTER,
    STALE_SLOW_AFTER,
    Row,
    fresh,
    seconds,
    size,
)

LITTLE_ROOM = 1e9  # [B] above the free space at which a recording is closed


class Light(Enum):
    """The recording light; the values are its form, so that it needs no colour."""

    ON = "\u25cf"  # a full circle
    OFF = "\u25cb"  # an empty one
    FAILED = "\u2716"  # a cross
    UNKNOWN = "?"


def node_rows(client: OperatorClient, now: float) -> tuple[Row, ...]:
    """The nodes of this side that are silent."""
    sources = (("plan queue", client.received.queue), ("simulation", client.received.simulation))
    return tuple(
        Row(name, "no data yet" if heard is None else f"silent for {seconds(now - heard)}", Tone.BAD)
        for name, heard in sources
        if not fresh(heard, now, STALE_AFTER)
    )


_LINKS = {
    LinkState.WAITING: ("nothing received yet", Tone.WARN),
    LinkState.BACK: ("received, no answer yet", Tone.WARN),
    LinkState.FRESH: ("fresh", Tone.PLAIN),
    LinkState.HALF_OPEN: ("HALF-OPEN: it receives nothing from this host", Tone.BAD),
    LinkState.STALE: ("SILENT", Tone.BAD),
    LinkState.REFUSED: ("REFUSED", Tone.BAD),
}


def link_rows(client: OperatorClient, now: float) -> Iterator[Row]:
    """The link to each other host; none on a graph without hosts file."""
    known = fresh(client.received.peers, now, STALE_LINK_AFTER)
    for peer in client.peers.values():
        text, tone = _link(peer) if known else ("NOT KNOWN: this host's link is silent", Tone.BAD)
        yield Row(f"link to {peer.peer}", text, tone)


def _link(peer: PeerStatus) -> tuple[str, Tone]:
    text, tone = _LINKS[peer.state]
    if peer.state is LinkState.FRESH and peer.round_trip >= 0.0:
        text += f", round trip {peer.round_trip:.2f} s"
    elif peer.state is LinkState.STALE:
        text += f" FOR {seconds(peer.age)}"
    elif peer.reason:
        text += f": {peer.reason}"
    if peer.peer_refused:
        text += f"; ALARM: it has refused {peer.peer_refused} datagrams"
        tone = Tone.WARN if tone is Tone.PLAIN else tone
    return text, tone


def recording_row(client: OperatorClient, now: float) -> tuple[Light, Row]:
    """The recording light, and its words."""
    heard, recorder = client.received.recorder, client.recorder
    if heard is None:
        return Light.UNKNOWN, Row("recording", "NO RECORDER REPORTS", Tone.QUIET)
    if not fresh(heard, now, STALE_SLOW_AFTER):
        return Light.UNKNOWN, Row("recording", f"RECORDER SILENT FOR {seconds(now - heard)}: NOT KNOWN", Tone.BAD)
    if recorder.failure:
        return Light.FAILED, Row("recording", f"FAILED: {recorder.failure}", Tone.BAD)
    if not recorder.recording:
        return Light.OFF, Row("recording", "NOT RECORDING")
    text, room = f"RECORDING {seconds(recorder.duration)}, {size(recorder.size)}", recorder.free - recorder.reserve
    trouble = f", {recorder.dropped} messages dropped" if recorder.dropped else ""
    trouble += f", room for {size(max(room, 0))} more" if room < LITTLE_ROOM else ""
    return Light.ON, Row("recording", text + trouble, Tone.WARN if trouble else Tone.GOOD)
