"""The web server of the console: on loopback by default, at the next free port, for its own pages only.

viser has options neither for TLS, nor for the origin of a connection, nor for more in its page; they are set as it
starts.
"""

from __future__ import annotations

import contextlib
import io
import ipaddress
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any
from urllib.parse import urlsplit

from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web.hand_page import HandPage
from telerobot_nodes.operator.web.loop_event import make_wakes_safe
from telerobot_nodes.operator.web.picture_view import PictureView
from telerobot_nodes.operator.web.stop_bar import Answer, StopBar
from telerobot_nodes.operator.web.token_gate import TokenGate
from telerobot_nodes.operator.web.view_only import Both, ViewOnly

_LOCAL_PAGES = re.compile(r"https?://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?")
_PATCH = threading.Lock()


@dataclass(frozen=True)
class Served:
    """What is served beside viser's own page, to whom, and how."""

    bar: StopBar
    pictures: PictureView = field(default_factory=PictureView)
    view: ViewOnly | None = None  # where the same pages are served to people who only look
    gate: TokenGate = field(default_factory=lambda: TokenGate(""))  # who is let in; by default everybody
    hand: HandPage | None = None  # a page for a phone or headset that is moved
    tls: SSLContext | None = None


def start_server(host: str, port: int, served: Served) -> Any:
    """A viser server on `host`, at `port` or the next free one (0: any), with stop bar and pictures in its page.

    Websocket requests from pages of other sites are rejected: a browser lets any page connect to local ports, and this
    one can move an arm. Raises InvalidValueError when the address is not of this machine.
    """
    view = served.view
    import viser

    in_range(port, "console port", 0, 65535)
    _check_host(host, "console host")
    if view is not None:
        in_range(view.port, "console view port", 0, 65535)
        _check_host(view.host, "console view host")
    with (
        _serving(served, _origins(host)),
        contextlib.redirect_stdout(io.StringIO()),
    ):  # without the banner of viser
        server = viser.ViserServer(host=host, port=int(port), verbose=False, label="Telerobot")
    make_wakes_safe(server)
    return server


def url(host: str, port: int, secure: bool = False) -> str:
    """Address of the pages."""
    return f"http{'s' * secure}://{f'[{host}]' if ':' in host else host}:{port}"


def stop_server(server: Any) -> None:
    """End the server and its connections."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _check_host(host: str, field: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((host, 0))
    except (OSError, UnicodeError) as error:
        raise InvalidValueError(field, host, f"allowed: an address of this machine ({error})") from None


def is_loopback(host: str) -> bool:
    """True for an address that only this host reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _origins(host: str) -> list[Any] | None:
    """Pages whose websockets are accepted; None: see `_own_pages`."""
    return [None, _LOCAL_PAGES] if is_loopback(host) else None


def _own_pages(answer: Answer, origins: list[Any] | None) -> Answer:
    """`answer`, which rejects websockets from pages of other sites itself where no `origins` tell them apart."""
    if origins is not None:
        return answer

    def process(connection: Any, request: Any) -> Any:
        origin = request.headers.get("Origin")
        asked = origin is not None and "Upgrade" in request.headers
        if asked and urlsplit(origin).netloc.lower() != request.headers.get("Host", "").lower():
            return connection.respond(403, "allowed: the pages of this console\n")
        return answer(connection, request)

    return process


@contextlib.contextmanager
def _serving(served: Served, origins: list[Any] | None) -> Iterator[None]:
    """While a viser server starts: its pages with the bar, its websocket for `origins` only, and a second server."""
    import websockets.asyncio.server as transport

    plain, bar, pictures, view = transport.serve, served.bar, served.pictures, served.view

    def serve(handler: Any, *where: Any, process_request: Any, **options: Any) -> Any:
        options["ssl"] = served.tls
        pages, routed = process_request, bar.routed(pictures.routed(handler))
        if served.hand is not None:
            pages, routed = served.hand.added(pages), served.hand.routed(routed)
        pages = _own_pages(served.gate.guarded(bar.added(pages)), origins)
        own = plain(routed, *where, process_request=pages, origins=origins, **options)
        if view is None:
            return own
        handler = bar.routed(pictures.routed(view.looking(handler)), looking=True)
        seen_from = _origins(view.host)
        pages = _own_pages(bar.added(process_request, looking=True), seen_from)
        options |= {"process_request": pages, "origins": seen_from}
        return Both(own, view, lambda port: plain(handler, view.host, port, **options))

    with _PATCH:
        transport.serve = serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            transport.serve = plain  # type: ignore[misc]
