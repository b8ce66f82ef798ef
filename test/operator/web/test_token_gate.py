"""The console lets in who shows its user's token: pages, websockets, nothing before it."""

import http.client
import threading
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web import (
    Served,
    StopBar,
    TokenGate,
    start_server,
    stop_server,
    token_gate,
    url,
    user_token,
)
from telerobot_nodes.operator.web.stop_bar import PATH

TOKEN = "correct-horse_battery"


@pytest.fixture(scope="module")
def served():
    gate = TokenGate(TOKEN)
    server = start_server("127.0.0.1", 0, Served(StopBar(print), gate=gate))
    yield gate.address(url("127.0.0.1", server.get_port()))
    stop_server(server)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "telerobot" / "console.token"


def get(address, path="/", **headers):
    """Status, headers and text of one answer; redirections are not followed."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20.0)
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "identity", **headers})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_the_address_with_the_token_gives_a_cookie_and_leaves_no_token_in_the_address(served):
    status, headers, _ = get(served, f"/?token={TOKEN}")
    assert (status, headers["Location"]) == (303, "/")
    cookie = headers["Set-Cookie"]
    for word in (TOKEN, "HttpOnly", "SameSite=Lax", "Path=/"):
        assert word in cookie
    status, _, page = get(served, Cookie=cookie.partition(";")[0])
    assert status == 200
    assert "<title>" in page


@pytest.mark.parametrize(
    ("path", "cookie"),
    [
        ("/", ""),
        ("/", "telerobot_console="),
        ("/", "telerobot_console=another"),
        ("/", f"another={TOKEN}"),
        ("/", "telerobot_console=\xff; ;;=;"),
        ("/?token=", ""),
        ("/?token=another", ""),
        (f"/?tokens={TOKEN}", ""),
        (f"/{TOKEN}", ""),
    ],
)
def test_without_it_nothing_is_served(served, path, cookie):
    status, headers, page = get(served, path, Cookie=cookie)
    assert status == 403
    assert "Set-Cookie" not in headers
    assert "token" in page
    assert TOKEN not in page
    assert "<script" not in page


def test_the_page_that_asks_leads_to_the_console(served):
    _, _, page = get(served)
    assert 'name="token"' in page
    assert str(token_gate.token_file()) in page


@pytest.mark.parametrize(("path", "told"), [("/", False), ("/?token=", False), ("/?token=another", True)])
def test_a_wrong_token_is_told(served, path, told):
    assert ("not the token of this console" in get(served, path)[2]) is told


@pytest.mark.parametrize("path", ["/", PATH, "/pictures", f"/?token=wrong{TOKEN}"])
def test_without_it_no_connection_is_opened(served, path):
    place = urlsplit(served)
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{place.netloc}{path}")
    assert refused.value.response.status_code == 403


def test_a_bar_with_the_cookie_is_connected(served):
    place = urlsplit(served)
    cookie = {"Cookie": f"theme=dark; telerobot_console={TOKEN}"}
    connect(f"ws://{place.netloc}{PATH}", additional_headers=cookie).close()


def test_a_user_has_one_token_that_only_he_reads(home):
    first = user_token()
    assert user_token() == first
    assert len(first) >= 24
    assert home.stat().st_mode & 0o777 == 0o600
    home.unlink()
    assert user_token() != first


def test_consoles_that_start_at_once_agree(home):
    found = []
    threads = [threading.Thread(target=lambda: found.append(user_token())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(found)) == 1
    assert list(home.parent.iterdir()) == [home]


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        ("a" * 32, 0o644, "mode 600"),
        ("a" * 32, 0o660, "mode 600"),
        ("short", 0o600, "16 or more"),
        ("", 0o600, "16 or more"),
        ("sixteen spaces in it", 0o600, "16 or more"),
        ("\xff" * 20, 0o600, "not readable"),
    ],
)
def test_a_token_that_is_no_secret_is_refused_by_file(home, text, mode, problem):
    home.parent.mkdir()
    home.write_text(text, encoding="latin-1")
    home.chmod(mode)
    with pytest.raises(InvalidValueError, match=problem) as refused:
        user_token()
    assert str(home) in str(refused.value)


def test_where_nothing_can_be_kept_it_is_said(home):
    home.parent.write_text("")
    with pytest.raises(InvalidValueError, match=r"console\.token"):
        user_token()


def test_without_a_token_everybody_is_let_in():
    gate = TokenGate("")
    assert gate.address("http://127.0.0.1:8080") == "http://127.0.0.1:8080"
    assert gate.guarded(lambda _connection, request: request)(None, "answer") == "answer"
