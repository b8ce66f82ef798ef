"""The web server of the console: on loopback by default, at the next free port, for its own pages only.

viser has options neither for the origin of a connection nor for more in its page; both are set as it starts.
"""

from __future__ import annotations

import contextlib
import io
import ipaddress
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web.loop_event import make_wakes_safe
from telerobot_nodes.operator.web.picture_view import PictureView
from telerobot_nodes.operator.web.stop_bar import StopBar
from telerobot_nodes.operator.web.token_gate import TokenGate
from telerobot_nodes.operator.web.view_only import Both, ViewOnly

_LOCAL_PAGES = re.compile(r"https?://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?")
_PATCH = threading.Lock()


def start_server(
    host: str,
    port: int,
    bar: StopBar,
    pictures: PictureView | None = None,
    view: ViewOnly | None = None,
    gate: TokenGate | None = None,
) -> Any:
    """A viser server on `host`, at `port` or the next free one (0: any), with stop bar and pictures in its page.

    `view`: where the same pages are served to people who only look. `gate`: who is let in; None: everybody.

    On loopback, websocket requests from pages of other sites are rejected: a browser lets any page connect to local
    ports, and this one can move an arm. Raises InvalidValueError when the address is not of this machine.
    """
    import viser

    in_range(port, "console port", 0, 65535)
    _check_host(host, "console host")
    if view is not None:
        in_range(view.port, "console view port", 0, 65535)
        _check_host(view.host, "console view host")
    with (
        _serving(bar, pictures or PictureView(), _origins(host), view, gate or TokenGate("")),
        contextlib.redirect_stdout(io.StringIO()),
    ):  # without the banner of viser
        server = viser.ViserServer(host=host, port=int(port), verbose=False, label="Telerobot")
    make_wakes_safe(server)
    return server


def url(host: str, port: int) -> str:
    """Address of the pages."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


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


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _origins(host: str) -> list[Any] | None:
    """Pages whose websockets are accepted; None: all."""
    return [None, _LOCAL_PAGES] if _is_loopback(host) else None


@contextlib.contextmanager
def _serving(
    bar: StopBar, pictures: PictureView, origins: list[Any] | None, view: ViewOnly | None, gate: TokenGate
) -> Iterator[None]:
    """While a viser server starts: its pages with the bar, its websocket for `origins` only, and a second server."""
    import websockets.asyncio.server as transport

    plain = transport.serve

    def serve(handler: Any, *where: Any, process_request: Any, **options: Any) -> Any:
        pages = gate.guarded(bar.added(process_request))
        own = plain(bar.routed(pictures.routed(handler)), *where, process_request=pages, origins=origins, **options)
        if view is None:
            return own
        handler = bar.routed(pictures.routed(view.looking(handler)), looking=True)
        options |= {"process_request": bar.added(process_request, looking=True), "origins": _origins(view.host)}
        return Both(own, view, lambda port: plain(handler, view.host, port, **options))

    with _PATCH:
        transport.serve = serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            transport.serve = plain  # type: ignore[misc]
