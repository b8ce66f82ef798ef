"""The link to the other host as the operator sees it."""

import pytest

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import OperatorClient, PeerStatus, RobotStatus, Tone
from telerobot_nodes.operator.client.client import PEERS
from telerobot_nodes.operator.view import view


class NoPort:
    """Nothing is sent here."""

    halt = estop = None


@pytest.fixture
def client():
    return OperatorClient(NoPort())


def links(client, now):
    return [(row.label, row.text, row.tone) for row in view(client, now).rows if row.label.startswith("link")]


def test_a_graph_without_hosts_file_shows_no_link(client):
    assert links(client, 1.0) == []


@pytest.mark.parametrize(
    ("status", "text", "tone"),
    [
        (PeerStatus("cell"), "nothing received yet", Tone.WARN),
        (PeerStatus("cell", LinkState.BACK), "received, no answer yet", Tone.WARN),
        (PeerStatus("cell", LinkState.FRESH, 0.1, 0.1, 0.52), "fresh, round trip 0.52 s", Tone.PLAIN),
        (PeerStatus("cell", LinkState.FRESH), "fresh", Tone.PLAIN),
        (PeerStatus("cell", LinkState.HALF_OPEN), "HALF-OPEN: it receives nothing from this host", Tone.BAD),
        (PeerStatus("cell", LinkState.STALE, age=3.2), "SILENT FOR 3.2 s", Tone.BAD),
        (PeerStatus("cell", LinkState.REFUSED, reason="robot: panda"), "REFUSED: robot: panda", Tone.BAD),
        (
            PeerStatus("cell", LinkState.FRESH, peer_refused=7),
            "fresh; ALARM: it has refused 7 datagrams",
            Tone.WARN,
        ),
        (
            PeerStatus("cell", LinkState.HALF_OPEN, peer_refused=1),
            "HALF-OPEN: it receives nothing from this host; ALARM: it has refused 1 datagrams",
            Tone.BAD,
        ),
    ],
)
def test_each_state_of_the_link_is_shown_with_its_reason(client, status, text, tone):
    client.receive_peer(status, 10.0)
    assert links(client, 10.0) == [("link to cell", text, tone)]


def test_a_link_node_that_is_silent_is_not_taken_for_a_fresh_link(client):
    client.receive_peer(PeerStatus("cell", LinkState.FRESH), 10.0)
    assert links(client, 12.1) == [("link to cell", "NOT KNOWN: this host's link is silent", Tone.BAD)]


def test_the_banner_names_the_link_that_may_be_why_the_robot_is_silent(client):
    client.receive_peer(PeerStatus("cell", LinkState.REFUSED, reason="messages"), 10.0)
    assert view(client, 10.0).banner.text == "NO ROBOT DATA YET: link to cell refused"
    client.receive_robot(RobotStatus(), 10.0)
    client.receive_peer(PeerStatus("cell", LinkState.STALE, age=2.0), 12.0)
    assert view(client, 12.0).banner.text == "ROBOT SILENT FOR 2.0 s: link to cell stale"
    client.receive_peer(PeerStatus("cell", LinkState.FRESH), 12.0)
    assert view(client, 12.0).banner.text == "ROBOT SILENT FOR 2.0 s"


def test_a_change_of_the_link_is_a_notice_and_a_repeated_state_is_none(client):
    for state in (LinkState.FRESH, LinkState.FRESH, LinkState.HALF_OPEN, LinkState.FRESH):
        client.receive_peer(PeerStatus("cell", state), 10.0)
    assert [(one.text, one.tone) for one in client.notices] == [
        ("link to cell: half-open", Tone.WARN),
        ("link to cell: fresh", Tone.GOOD),
    ]


def test_names_without_end_do_not_fill_the_client(client):
    for at in range(2 * PEERS):
        client.receive_peer(PeerStatus(f"host{at}"), 10.0)
    client.receive_peer(PeerStatus("host0", LinkState.FRESH), 10.0)
    assert len(client.peers) == PEERS
    assert client.peers["host0"].state is LinkState.FRESH


@pytest.mark.parametrize("wrong", [{"state": 9}, {"age": float("nan")}, {"round_trip": float("inf")}])
def test_a_malformed_state_is_rejected_by_its_field(wrong):
    with pytest.raises(InvalidValueError, match=next(iter(wrong))):
        PeerStatus("cell", **wrong)
