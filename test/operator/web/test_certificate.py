"""The console over TLS: its certificate made, brought, refused."""

import asyncio
import hashlib
import json
import ssl
import urllib.request

import pytest
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web import (
    BarState,
    Served,
    StopBar,
    TokenGate,
    ViewOnly,
    create_certificate,
    server_context,
    start_server,
    stop_server,
    url,
)
from telerobot_nodes.operator.web import server as web_server
from telerobot_nodes.operator.web.stop_bar import PATH

LIMIT = 20.0  # [s]
TOKEN = "a-token-of-sixteen"
STATE = BarState("RUNNING", "#000000", "7.4 s", "ana", resumable=False, latched=False)


@pytest.fixture
def file(tmp_path):
    create_certificate(tmp_path / "console.pem", ["127.0.0.1", "robot.local"])
    return tmp_path / "console.pem"


@pytest.fixture
def served(file):
    bar = StopBar(print)
    bar.show(STATE)
    served = Served(bar, gate=TokenGate(TOKEN, secure=True), tls=server_context(file))
    server = start_server("127.0.0.1", 0, served)
    yield url("127.0.0.1", server.get_port(), secure=True), ssl.create_default_context(cafile=file)
    stop_server(server)


def test_a_browser_that_trusts_it_gets_pages_and_stops_over_tls(served):
    address, trusting = served
    cookie = {"Cookie": f"telerobot_console={TOKEN}"}
    request = urllib.request.Request(address, headers=cookie)
    with urllib.request.urlopen(request, timeout=LIMIT, context=trusting) as response:
        assert b'id="stops"' in response.read()

    async def first_state():  # one thread: the synchronous client reads and writes one TLS socket from two
        async with connect_async(
            address.replace("https", "wss") + PATH, ssl=trusting, additional_headers=cookie
        ) as page:
            return json.loads(await asyncio.wait_for(page.recv(), LIMIT))

    assert asyncio.run(first_state())["lead"] == "7.4 s"


def test_the_cookie_is_kept_for_encrypted_connections_only(served):
    address, trusting = served

    class Kept(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trusting), Kept)
    with pytest.raises(urllib.error.HTTPError) as moved:
        opener.open(f"{address}/hand?token={TOKEN}", timeout=LIMIT)
    assert moved.value.code == 303
    assert moved.value.headers["Location"] == "/hand"
    assert "Secure" in moved.value.headers["Set-Cookie"]


def test_one_that_does_not_trust_it_is_warned_and_one_without_tls_is_not_served(served):
    address, _ = served
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(address, timeout=LIMIT)
    with pytest.raises(OSError):
        urllib.request.urlopen(address.replace("https", "http"), timeout=LIMIT)


def test_the_fingerprint_is_that_of_the_certificate(tmp_path):
    file = tmp_path / "console.pem"
    told = create_certificate(file, ["192.168.1.20"])
    begin = file.read_text().index("-----BEGIN CERTIFICATE")
    raw = ssl.PEM_cert_to_DER_cert(file.read_text()[begin:])
    assert told.replace(":", "").lower() == hashlib.sha256(raw).hexdigest()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_is_not_replaced(file):
    before = file.read_bytes()
    with pytest.raises(InvalidValueError, match="not there yet"):
        create_certificate(file, ["127.0.0.1"])
    assert file.read_bytes() == before


@pytest.mark.parametrize(("addresses", "named"), [([], "address"), (["ü.example"], "address")])
def test_an_address_that_cannot_be_is_rejected(tmp_path, addresses, named):
    with pytest.raises(InvalidValueError, match=named):
        create_certificate(tmp_path / "console.pem", addresses)
    assert not (tmp_path / "console.pem").exists()


def test_a_certificate_that_cannot_be_used_is_refused_by_its_file(tmp_path, file):
    key, certificate = file.read_text().split("-----BEGIN CERTIFICATE")
    create_certificate(tmp_path / "other.pem", ["127.0.0.1"])
    cases = {
        "none.pem": None,
        "text.pem": "hello",
        "key.pem": key,
        "certificate.pem": "-----BEGIN CERTIFICATE" + certificate,
        "mixed.pem": (tmp_path / "other.pem").read_text().split("-----BEGIN CERTIFICATE")[0]
        + "-----BEGIN CERTIFICATE"
        + certificate,
    }
    for name, text in cases.items():
        if text is not None:
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o600)
        with pytest.raises(InvalidValueError, match=name):
            server_context(tmp_path / name)
    file.chmod(0o644)
    with pytest.raises(InvalidValueError, match="mode 644"):
        server_context(file)


@pytest.mark.parametrize("looking", [False, True], ids=["console", "view"])
@pytest.mark.parametrize(("origin", "served"), [("https://evil.example", False), (None, True), ("own", True)])
def test_beyond_loopback_a_page_of_another_site_gets_no_connection(monkeypatch, origin, served, looking):
    monkeypatch.setattr(web_server, "is_loopback", lambda host: False)  # without listening there
    view = ViewOnly("127.0.0.1", 18090)
    server = start_server("127.0.0.1", 0, Served(StopBar(print), view=view))
    address = f"127.0.0.1:{view.port if looking else server.get_port()}"
    try:
        origin = f"http://{address}" if origin == "own" else origin
        if served:
            connect(f"ws://{address}{PATH}", origin=origin).close()
        else:
            with pytest.raises(InvalidStatus, match="403"):
                connect(f"ws://{address}{PATH}", origin=origin)
    finally:
        stop_server(server)
